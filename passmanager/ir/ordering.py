"""The order in which the ops of a block are computed, where they may stand in any."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult

from .access import read_step
from .dominance import is_graph_region
from .walking import walk

__all__ = ["dependence_order", "find_cycle", "in_order"]


def in_order(block: Block) -> Iterator[Operation]:
    """The ops of a block as written; in a graph region, each after those whose results it uses.

    The op that was given last may be erased, and ops may be inserted before it.
    """
    if block.parent is not None and is_graph_region(block.parent):
        yield from dependence_order(block)
        return
    op = block.first_op
    while op is not None:
        following = op.next_op
        yield op
        op = following


def dependence_order(block: Block) -> list[Operation]:
    """The ops of a block, each after those whose results are used by it or in it, except in a
    cycle; otherwise as written.
    """
    seen: set[Operation] = set()
    order: list[Operation] = []
    for root in block.ops:
        # Depth first, with the iterators of what is left to visit in place of recursion.
        path = [(root, _dependences(root))] if root not in seen else []
        seen.add(root)
        while path:
            _, rest = path[-1]
            if (needed := next((op for op in rest if op not in seen), None)) is None:
                order.append(path.pop()[0])
            else:
                seen.add(needed)
                path.append((needed, _dependences(needed)))
    return order


def find_cycle(block: Block) -> Operation | None:
    """An op of a block whose operands, or those of ops in it, depend on its own results."""
    done: set[Operation] = set()
    for op in dependence_order(block):
        if not done.issuperset(_dependences(op)):
            return op
        done.add(op)
    return None


def _dependences(op: Operation) -> Iterator[Operation]:
    """The ops in the block of `op` whose results are used by `op`, or in it."""
    for inner in walk(op):
        for operand in read_step(inner)[0]:
            if isinstance(operand, OpResult) and operand.op.parent is op.parent:
                yield operand.op
