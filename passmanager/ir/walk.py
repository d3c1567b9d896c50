"""An iterative walk over IR: xDSL's own `walk` recurses, at the price of a frame per level for each
op.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast

from xdsl.ir import Operation

__all__ = ["ancestors", "first_ops", "ops_of", "top_level_op", "walk"]

OpT = TypeVar("OpT", bound=Operation)


def walk(root: Operation) -> Iterator[Operation]:
    """Yield `root` and all ops nested in it in preorder; the IR must not change meanwhile."""
    yield root
    pending = first_ops(root)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            yield op
            if op.regions:  # first the ops nested in it, then those after it
                if (rest := op.next_op) is not None:
                    pending.append(rest)
                pending += first_ops(op)
                break
            op = op.next_op


def ancestors(op: Operation | None) -> Iterator[Operation]:
    """Yield `op` and the ops around it, innermost first."""
    while op is not None:
        yield op
        op = op.parent_op()


def top_level_op(op: Operation) -> Operation:
    """Return the op directly in the module that is or holds `op`; for the module, the module."""
    while (parent := op.parent_op()) is not None and parent.parent is not None:
        op = parent
    return op


def ops_of(root: Operation, *classes: type[OpT]) -> list[OpT]:
    """Return `root` and the ops nested in it that are instances of one of `classes`, in preorder;
    the IR may change while the list is used.
    """
    # One `issubclass` for each class of ops: `isinstance` of an abstract class takes 0.3 us.
    known: dict[type[Operation], bool] = {}
    found: list[Operation] = []
    for op in walk(root):
        if (is_one := known.get(type(op))) is None:
            is_one = known[type(op)] = issubclass(type(op), classes)
        if is_one:
            found.append(op)
    return cast("list[OpT]", found)


def first_ops(op: Operation) -> list[Operation]:
    """Return the first op of each block directly in `op`, last block first."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [first for block in reversed(blocks) if (first := block.first_op) is not None]
