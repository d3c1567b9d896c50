"""Orders of the operations of a block: the topological one of a graph, and that of passes."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult

from .dominance import is_graph_region


def dependence_order(block: Block) -> list[Operation]:
    """Return the operations of a block in topological order.

    Each operation comes after the operations whose results it or an operation nested in it uses;
    operations that do not depend on each other keep their order. In a cycle, one dependence is not
    respected.
    """
    seen: set[Operation] = set()
    order: list[Operation] = []
    for root in block.ops:
        # Depth-first search. The path holds iterators over the dependences left to visit, in the
        # place of recursion: a chain of operations may be deeper than Python's stack.
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
    """Return an operation of a block that depends on its own result, or None without a cycle."""
    done: set[Operation] = set()
    for op in dependence_order(block):
        if not done.issuperset(_dependences(op)):
            return op
        done.add(op)
    return None


def _dependences(op: Operation) -> Iterator[Operation]:
    """Yield the operations in the block of `op` whose results are used by `op` or nested in it."""
    pending = [op]
    while pending:
        inner = pending.pop()
        for operand in inner.operands:
            if isinstance(operand, OpResult) and operand.op.parent is op.parent:
                yield operand.op
        if inner.regions:
            blocks = [block for region in inner.regions for block in region.blocks]
            pending += [nested for block in reversed(blocks) for nested in reversed([*block.ops])]


def in_order(block: Block) -> Iterator[Operation]:
    """Yield the ops of `block` in text order; in a graph region, in dependence order.

    The caller may erase the op yielded last, and insert ops before it.
    """
    if block.parent is not None and is_graph_region(block.parent):
        yield from dependence_order(block)
        return
    op = block.first_op
    while op is not None:
        # Read before the caller may erase `op`; what it inserts before `op` is not visited.
        following = op.next_op
        yield op
        op = following
