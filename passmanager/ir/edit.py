"""Edits of the IR that need the block of an operation."""

from __future__ import annotations

from xdsl.ir import Operation

__all__ = ["erase", "insert_before"]


def erase(op: Operation) -> None:
    """Detach `op`, whose results have no uses left, and drop its operands.

    Cheaper than `Operation.erase`, which looks at the uses of all results once more.
    """
    op.detach()
    op.drop_all_references()


def insert_before(op: Operation, *new: Operation) -> None:
    """Insert operations before `op`, which is in a block."""
    assert op.parent is not None
    op.parent.insert_ops_before(new, op)
