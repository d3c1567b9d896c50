"""The order in which dataflow passes visit the ops of a block."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation

from ...dialects.relax.data.ordering import dependence_order
from ...passmanager.ir.checks.dominance import is_graph_region

__all__ = ["in_order"]


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
