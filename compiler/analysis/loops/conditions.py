"""The conditions in a loop by which `tir-loop-partition` may split it."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Operation, OpResult
from xdsl.utils.hints import isa

from ....dialects.tir.ops import ForOp, LikelyOp
from ....passmanager.ir.walk import walk

__all__ = ["HINT", "IGNORED", "has_hint", "partition_conditions"]

HINT = "pragma_loop_partition_hint"
"""The attribute of a loop that may be split by any comparison in it."""

IGNORED = "ignore_loop_partition"
"""The attribute of operations whose conditions must not split a loop."""


def has_hint(op: Operation) -> bool:
    """Return whether `op` is a loop with the hint; a hint of 0 does not count."""
    if HINT not in op.attributes or not isinstance(op, ForOp):
        return False
    hint = op.attributes[HINT]
    return not (isa(hint, IntegerAttr[IntegerType | IndexType]) and hint.value.data == 0)


def partition_conditions(loop: ForOp) -> list[arith.CmpiOp]:
    """Return the comparisons in `loop` by which it may be split, in order.

    By default these are the comparisons under a `tir.likely`; in a loop with a hint, all
    comparisons. Those that are marked as ignored are left out.
    """
    ops = list(walk(loop))
    ignored = _with_members((op for op in ops if IGNORED in op.attributes), loop)
    wanted: Iterable[Operation] = ops
    if not has_hint(loop):
        wanted = _with_members((op for op in ops if isinstance(op, LikelyOp)), loop)
    return [op for op in wanted if isinstance(op, arith.CmpiOp) and op not in ignored]


def _with_members(conditions: Iterable[Operation], loop: ForOp) -> dict[Operation, None]:
    """Return `conditions` and, for each `tir.likely`, and, or and xor among them, its operands that
    are computed in `loop`."""
    found: dict[Operation, None] = {}
    pending = list(conditions)[::-1]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        # Not through selects and comparisons of conditions: of these, a split could not say which
        # operand decides.
        if isinstance(op, LikelyOp | arith.AndIOp | arith.OrIOp | arith.XOrIOp):
            for operand in reversed(op.operands):
                # A condition from before the loop is the same in all iterations, and splits
                # nothing.
                if isinstance(operand, OpResult) and loop.is_ancestor(operand.op):
                    pending.append(operand.op)
    return found
