"""The order in which passes that follow values visit the ops of a block."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation

from ..dialects.relax.ordering import dependence_order
from ..passmanager.ir.dominance import is_graph_region

__all__ = ["in_order"]


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
