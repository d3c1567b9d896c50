"""The tile program of scans: cumulative sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects.relax.reduction.scan import CumprodOp, CumsumOp, CumulativeOp
from ....dialects.relax.types import tensor_type
from ....dialects.tir.functions import Extent, volume
from ..scalars import step_type
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_writer import TileReduction, TileWriter, power_of_two

__all__ = ["SCANS", "scan_program"]

LONGEST = 1024
"""The elements of a tile along the scan."""
COLUMNS = 32
"""The adjacent elements of a tile that belong to scans of their own."""
BLOCK = 2048
"""The elements of a tile."""

SCANS: dict[type[Operation], TileReduction] = {
    CumprodOp: TileReduction("multiply", 1),
    CumsumOp: TileReduction("add", 0),
}
"""The function of each scan."""


@dataclass(frozen=True)
class ScanPlan:
    """A scan along the middle of three dimensions."""

    op: CumulativeOp
    group: TileGroup
    shape: Sequence[Extent]
    tile: Sequence[int]

    @property
    def element(self) -> Attribute:
        return tensor_type(self.op.input).element_type

    def launch(self) -> TileLaunch:
        """Return the launch of the entry: a block traverses the tiles along the scan."""
        w = TileWriter(self.group.func.sym_name.data, elements_of(self.group.tensors))
        counts = [-(-n // t) for n, t in zip(self.shape, self.tile, strict=True)]
        grid = [counts[0], 1, counts[2]]
        base = w.decomposed(w.block_indices()[0], grid)
        view = w.view(w.pointers[-1], tuple(self.shape), self.tile)
        wide, zero, trips = step_type(self.element), w.number(0, i32), w.size(counts[1])
        last = w.subtract(trips, w.number(1, i32))
        function = SCANS[type(self.op)]

        def step(number: SSAValue, totals: Sequence[SSAValue]) -> Sequence[SSAValue]:
            at = [base[0], w.subtract(last, number) if self.op.reverse else number, base[2]]
            tile = w.convert(self.load(w, at), self.element, wide)
            scanned = w.scan(tile, 1, function, reverse=self.op.reverse)
            result = w.combine(function, totals[0], scanned)
            w.store(w.convert(result, wide, self.element), view, at)
            return [w.combine(function, totals[0], w.reduce(tile, 1, function))]

        start = w.number(function.identity, wide, (self.tile[0], 1, self.tile[2]))
        w.loop(zero, trips, [start], step)
        return TileLaunch(w.finish(), (volume(grid),), (0, 1), [*w.sizes])

    def load(self, w: TileWriter, at: Sequence[SSAValue]) -> SSAValue:
        """Load a tile; an exclusive scan is that of the elements one place before. Elements outside
        of the tensor are the neutral element."""
        index = [
            w.add(w.scaled(i, t), w.iota(self.tile, a))
            for a, (i, t) in enumerate(zip(at, self.tile))
        ]
        if self.op.exclusive:
            index[1] = w.add(index[1], w.number(1 if self.op.reverse else -1, i32))
        offset, mask = w.number(0, i64), w.less(w.number(-1, i32), index[1])
        for i, n in zip(index, self.shape, strict=True):
            size = w.size(n)
            mask = w.both(mask, w.less(i, size))
            offset = w.add(w.multiply(offset, w.convert(size, i32, i64)), w.convert(i, i32, i64))
        identity = SCANS[type(self.op)].identity
        mask, offset = w.broadcast(mask, self.tile), w.broadcast(offset, self.tile)
        return w.gather(w.pointers[0], offset, mask, identity, self.element)


def scan_program(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of a scan by itself; None if the group has other operations."""
    op, *others = group.ops
    if not isinstance(op, CumulativeOp) or others or not isinstance(op.input, BlockArgument):
        return None
    shape = group.sizes[op.input]
    axis = None if op.axis is None else op.axis % len(shape)
    first, last = (0, len(shape)) if axis is None else (axis, axis + 1)
    parts = [volume(shape[:first]), volume(shape[first:last]), volume(shape[last:])]
    if 0 in parts:
        return None
    return TileLaunches([ScanPlan(op, group, parts, tile_of_scan(parts)).launch()])


def tile_of_scan(shape: Sequence[Extent]) -> list[int]:
    """Return the sizes of a tile: columns first, then along the scan, then further scans."""
    outer, along, inner = (power_of_two(n) if isinstance(n, int) else BLOCK for n in shape)
    columns = min(inner, COLUMNS)
    length = min(along, LONGEST, BLOCK // columns)
    return [min(outer, BLOCK // (columns * length)), length, columns]
