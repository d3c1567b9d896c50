"""The tile program of scans: cumulative sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects.relax.reduction.scan import CumprodOp, CumsumOp, CumulativeOp
from ....dialects.relax.types import tensor_type
from ....dialects.target import Target
from ....dialects.tir.functions import Extent, volume
from ..scalars import step_type
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_costs import parts_of
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

    @property
    def wide(self) -> Attribute:
        """The type in which elements are combined."""
        return step_type(self.element)

    @property
    def function(self) -> TileReduction:
        return SCANS[type(self.op)]

    @property
    def counts(self) -> list[Extent]:
        """The tiles in each dimension."""
        return [-(-n // t) for n, t in zip(self.shape, self.tile, strict=True)]

    @property
    def grid(self) -> list[Extent]:
        return [self.counts[0], 1, self.counts[2]]

    def whole(self) -> TileLaunches:
        """Return one entry, whose blocks traverse all tiles along the scan."""
        w = TileWriter(self.name, elements_of(self.group.tensors))
        span = w.number(0, i32), w.size(self.counts[1])
        self.scan(w, w.pointers[1], self.base(w), span, self.identity(w))
        return TileLaunches([TileLaunch(w.finish(), (volume(self.grid),), (0, 1), [*w.sizes])])

    @property
    def name(self) -> str:
        return self.group.func.sym_name.data

    def base(self, w: TileWriter) -> list[SSAValue]:
        """Return the number of the tile of a block in each dimension, 0 along the scan."""
        return w.decomposed(w.block_indices()[0], self.grid)

    def identity(self, w: TileWriter) -> SSAValue:
        return w.number(self.function.identity, self.wide, (self.tile[0], 1, self.tile[2]))

    def scan(
        self,
        w: TileWriter,
        pointer: SSAValue | None,
        base: Sequence[SSAValue],
        span: tuple[SSAValue, SSAValue],
        total: SSAValue,
    ) -> SSAValue:
        """Write the loop over the tiles in `span`, in the order of the scan, and store the results
        unless there is no pointer; return the total of all elements and of those before."""
        last = w.subtract(w.size(self.counts[1]), w.number(1, i32))
        view = None if pointer is None else w.view(pointer, tuple(self.shape), self.tile)

        def step(number: SSAValue, totals: Sequence[SSAValue]) -> Sequence[SSAValue]:
            at = [base[0], w.subtract(last, number) if self.op.reverse else number, base[2]]
            tile = w.convert(self.load(w, at), self.element, self.wide)
            if view is not None:
                scanned = w.scan(tile, 1, self.function, reverse=self.op.reverse)
                result = w.combine(self.function, totals[0], scanned)
                w.store(w.convert(result, self.wide, self.element), view, at)
            return [w.combine(self.function, totals[0], w.reduce(tile, 1, self.function))]

        return w.loop(*span, [total], step)[0]

    # Scans that several blocks share

    def parts(self, target: Target) -> int:
        """Return the number of blocks that share a scan."""
        limit = BLOCK // (self.tile[0] * self.tile[2])
        return parts_of(self.counts[1], volume(self.grid), limit, target)

    def split(self, parts: int) -> TileLaunches:
        """Return two entries: one that computes the totals of parts, and one that combines those
        before its part, and scans this."""
        outer, _, inner = self.shape
        shape = (outer, parts, inner)
        sides = self.tile[0], self.tile[2]
        element = tensor_type(self.op.input).element_type
        w = TileWriter(f"{self.name}_parts", [element, self.wide])
        base, part = self.base(w), w.block_indices()[1]
        total = self.scan(w, None, base, w.share(part, parts, self.counts[1]), self.identity(w))
        view = w.view(w.pointers[1], shape, [sides[0], 1, sides[1]])
        w.store(total, view, [base[0], part, base[2]])
        grid = (volume(self.grid), parts)
        first = TileLaunch(w.finish(), grid, (0, 2), [*w.sizes])

        w = TileWriter(self.name, [element, element, self.wide])
        base, part = self.base(w), w.block_indices()[1]
        tile = [sides[0], parts, sides[1]]
        totals = w.load(w.view(w.pointers[2], shape, tile), base, self.wide)
        is_before = w.broadcast(w.less(w.iota(tile, 1), part), tile)
        totals = w.select(is_before, totals, w.number(self.function.identity, self.wide, tile))
        before = w.reduce(totals, 1, self.function)
        self.scan(w, w.pointers[1], base, w.share(part, parts, self.counts[1]), before)
        second = TileLaunch(w.finish(), grid, (0, 1, 2), [*w.sizes])
        return TileLaunches([first, second], [(shape, self.wide)])

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
    sizes = [volume(shape[:first]), volume(shape[first:last]), volume(shape[last:])]
    if 0 in sizes:
        return None
    plan = ScanPlan(op, group, sizes, tile_of_scan(sizes))
    parts = plan.parts(group.target)
    return plan.whole() if parts == 1 else plan.split(parts)


def tile_of_scan(shape: Sequence[Extent]) -> list[int]:
    """Return the sizes of a tile: columns first, then along the scan, then further scans."""
    outer, along, inner = (power_of_two(n) if isinstance(n, int) else BLOCK for n in shape)
    columns = min(inner, COLUMNS)
    length = min(along, LONGEST, BLOCK // columns)
    return [min(outer, BLOCK // (columns * length)), length, columns]
