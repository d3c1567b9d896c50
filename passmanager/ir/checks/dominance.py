"""Dominance of operations, blocks and values, as an analysis; graph regions."""

from __future__ import annotations

from typing import Protocol, TypeAlias, cast, runtime_checkable

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ..walk import walk
from .dominator_tree import DominatorTree

__all__ = ["DominanceInfo", "RegionKindInterface", "is_graph_region"]


@runtime_checkable
class RegionKindInterface(Protocol):
    """An op that tells which of its regions are graph regions, whose ops stand in any order."""

    def has_ssa_dominance(self, region_index: int) -> bool:
        """Return whether definitions have to dominate their uses in this region."""
        ...


Point: TypeAlias = Operation | Block | SSAValue
"""A point of definition or use; a block stands for its start."""


class DominanceInfo:
    """The dominance between all ops, blocks and values below an op; an analysis."""

    def __init__(self, op: Operation) -> None:
        self._order: dict[Operation, int] = {op: 0}
        self._trees: dict[Region, DominatorTree] = {}
        for holder in walk(op):
            for region in holder.regions:
                if len(blocks := [*region.blocks]) > 1:
                    self._trees[region] = DominatorTree(blocks[0])
                for block in blocks:
                    self._order |= {inner: number for number, inner in enumerate(block.ops)}

    def properly_dominates(self, a: Point, b: Point) -> bool:
        """Return whether `a` properly dominates `b`.

        As in MLIR, an op dominates the contents of its regions, but its results do not; in a graph
        region an op dominates every op of its block; and every point dominates unreachable blocks.
        """
        block, place = self._place(a)
        b_block, b_place = self._place(b)
        # Lift `b` to the op around it that is in the region of `a`.
        while b_block is not None and (block is None or b_block.parent is not block.parent):
            if (holder := b_block.parent_op()) is a:
                return True
            b_block, b_place = (None, 0) if holder is None else self._place(holder)
        if block is None or b_block is None or (region := block.parent) is None:
            return False
        if block is b_block:
            return place < b_place or is_graph_region(region)
        return self._trees[region].properly_dominates(block, b_block)

    def _place(self, point: Point) -> tuple[Block | None, int]:
        """Return the block of `point` and its index among the ops; -1 is the start of the block."""
        owner = point.owner if isinstance(point, SSAValue) else point
        if isinstance(owner, Block):
            return owner, -1
        return owner.parent, self._order[owner]


def is_graph_region(region: Region) -> bool:
    """Return whether the ops of a block stand in any order; assumed for unregistered ops."""
    op = region.parent
    if isinstance(op, ModuleOp | UnregisteredOp):
        return True
    if not hasattr(op, "has_ssa_dominance"):  # `isinstance` of a protocol alone is ten times slower
        return False
    assert isinstance(op, RegionKindInterface)
    return not op.has_ssa_dominance(cast(Operation, op).get_region_index(region))
