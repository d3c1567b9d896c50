"""The order in which the operations of a graph are computed, which stand in any."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult

__all__ = ["dependence_order", "find_cycle"]


def dependence_order(block: Block) -> list[Operation]:
    """The operations of a block, each after those whose results are used by it or in it, except in
    a cycle; otherwise as written.
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
    """An operation of a block that, or an operation in it, uses what depends on its results."""
    done: set[Operation] = set()
    for op in dependence_order(block):
        if not done.issuperset(_dependences(op)):
            return op
        done.add(op)
    return None


def _dependences(op: Operation) -> Iterator[Operation]:
    """The operations in the block of `op` whose results are used by `op`, or in it."""
    pending = [op]
    while pending:
        inner = pending.pop()
        for operand in inner.operands:
            if isinstance(operand, OpResult) and operand.op.parent is op.parent:
                yield operand.op
        if inner.regions:
            blocks = [block for region in inner.regions for block in region.blocks]
            pending += [nested for block in reversed(blocks) for nested in reversed([*block.ops])]
