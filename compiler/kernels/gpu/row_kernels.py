"""Tile programs for fused groups along rows, and the sizes of their tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from xdsl.ir import Attribute, BlockArgument, SSAValue

from ....dialects.relax.types import tensor_type
from ....dialects.target import Target
from ....dialects.tir.functions import Extent, Shape, volume
from .group_tiles import GroupTiles
from .row_frame import RowFrame, RowOp, frame_of
from .row_operations import is_split, part_of, total_type
from .row_program import Operand, RowProgram
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_writer import TileWriter, power_of_two

__all__ = ["row_program"]

ROW_LIMIT = 8192
"""The elements of the longest rows that a block keeps: 64 registers of 128 threads."""
BLOCK = 2048
"""The elements of a tile of short rows: 16 registers of 128 threads."""
PARTS_LIMIT = 64
"""The blocks that share a row."""
COLUMNS = 64
"""The adjacent elements that a block reads where rows run across them."""


# The sizes of tiles.


def tile_for(frame: RowFrame, target: Target) -> tuple[list[int], bool]:
    """Return the sizes of tiles in the dimensions of `frame`, and whether whole rows fit in one."""
    shape, reduced = frame.shape, frame.reduced
    tile = [1] * len(shape)
    if not reduced[-1]:
        tile[-1] = _least(shape[-1], COLUMNS if any(reduced) else BLOCK)
    row = [power_of_two(n) if isinstance(n, int) else None for n in frame.inside(shape)]
    fits = None not in row and prod(filter(None, row)) * tile[-1] <= ROW_LIMIT
    _grow(tile, shape, [axis for axis, r in enumerate(reduced) if r], ROW_LIMIT if fits else BLOCK)
    _grow(tile, shape, [axis for axis, r in enumerate(reduced) if not r], BLOCK)
    # Many small tiles are better than multiprocessors without one.
    for axis, inside in enumerate(reduced):
        least = COLUMNS if axis == len(shape) - 1 else 1
        while not inside and tile[axis] > least and _blocks(frame, tile) < 2 * target.cores:
            tile[axis] //= 2
    return tile, fits


def _least(extent: Extent, limit: int) -> int:
    return min(power_of_two(extent), limit) if isinstance(extent, int) else limit


def _grow(tile: list[int], shape: Shape, axes: Sequence[int], limit: int) -> None:
    """Enlarge a tile along `axes`, the last first, up to `limit` elements."""
    for axis in reversed(axes):
        room = max(1, limit // (prod(tile) // tile[axis]))
        tile[axis] = max(tile[axis], _least(shape[axis], room))


def _blocks(frame: RowFrame, tile: Sequence[int]) -> float:
    """Return the number of tiles of rows; infinity if it is not known."""
    count = volume(tiles_in(frame, tile, reduced=False))
    return count if isinstance(count, int) else inf


def tiles_in(frame: RowFrame, tile: Sequence[int], *, reduced: bool) -> list[Extent]:
    """Return the number of tiles in each dimension that is, or is not, reduced; 1 in the others."""
    rows = zip(frame.shape, tile, frame.reduced, strict=True)
    return [-(-n // t) if inside is reduced else 1 for n, t, inside in rows]


def row_program(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of a group along rows; None if it is no such group, or if its sizes
    are not known well enough.

    Errors: NoKernel for element types without arithmetic.
    """
    frame = frame_of(group.ops, group.sizes)
    if frame is None or not frame.shape or any(isinstance(v, BlockArgument) for v in group.results):
        return None
    count = volume(frame.inside(frame.shape))
    if isinstance(count, int) and count >= 1 << 31:
        return None
    tile, fits = tile_for(frame, group.target)
    plan = RowPlan(group, frame, tile, count)
    if fits:
        return TileLaunches([plan.whole(None)])
    parts = plan.parts(group.target)
    if parts > 1:
        return plan.split(parts)
    return TileLaunches([plan.whole((0, volume(plan.trips)))])


@dataclass(frozen=True)
class RowPlan:
    """A group and the sizes of its tiles."""

    group: TileGroup
    frame: RowFrame
    tile: Sequence[int]
    count: Extent
    """The elements of a row."""

    @property
    def trips(self) -> list[Extent]:
        """The tiles of a row in each dimension, 1 in those that are kept."""
        return tiles_in(self.frame, self.tile, reduced=True)

    @property
    def kept(self) -> list[Extent]:
        return tiles_in(self.frame, self.tile, reduced=False)

    def whole(self, span: tuple[Extent, Extent] | None) -> TileLaunch:
        """Return the launch of one entry that computes all, its rows in tiles if there is a
        `span`."""
        values = self.group.tensors
        w = TileWriter(self.name(), elements_of(values), bulk=False)
        bounds = None if span is None else (w.size(span[0]), w.size(span[1]))
        tiles = self.tiles(self.program(w, bounds))
        tiles.compute()
        tiles.store(w.pointers[self.inputs :])
        return TileLaunch(w.finish(), (volume(self.kept),), range(len(values)), [*w.sizes])

    @property
    def inputs(self) -> int:
        """The number of parameters."""
        return len(self.group.func.args)

    def name(self, suffix: str = "") -> str:
        return f"{self.group.func.sym_name.data}{suffix}"

    def program(self, w: TileWriter, span: tuple[SSAValue, SSAValue] | None) -> RowProgram:
        base = w.decomposed(w.block_indices()[0], self.kept)
        return RowProgram(w, self.frame, self.tile, base, self.trips, self.count, span)

    def tiles(self, program: RowProgram) -> GroupTiles:
        return GroupTiles(self.group, program)

    # Parts of rows

    def parts(self, target: Target) -> int:
        """Return the number of blocks that share a row; 1 if its operation needs whole rows, or if
        there are rows enough."""
        rows, trips = volume(self.kept), volume(self.trips)
        if self.reduction is None or not isinstance(rows, int) or not isinstance(trips, int):
            return 1
        return max(1, min(trips, PARTS_LIMIT, 2 * target.cores // rows))

    @property
    def reduction(self) -> RowOp | None:
        """The only operation along rows, if it is a reduction that may be split."""
        found = [op for op in self.group.ops if isinstance(op, RowOp)]
        return found[0] if len(found) == 1 and is_split(found[0]) else None

    def split(self, parts: int) -> TileLaunches:
        """Return two entries: one that reduces parts of rows, and one that combines these."""
        assert (op := self.reduction) is not None
        each = -(-volume(self.trips) // parts)
        element = total_type(op, tensor_type(op.operands[0]).element_type)
        first = self.frame.reduced.index(True)
        shape = tuple(
            1 if inside and axis != first else parts if inside else n
            for axis, (n, inside) in enumerate(
                zip(self.frame.shape, self.frame.reduced, strict=True)
            )
        )
        number = len(self.group.tensors)
        elements = [*elements_of(self.group.func.args), element]
        w = TileWriter(self.name("_parts"), elements, bulk=False)
        part = w.block_indices()[1]
        start = w.multiply(part, w.size(each))
        end = w.apply("minimum", w.add(start, w.size(each)), w.size(volume(self.trips)))
        tiles = self.tiles(self.program(w, (start, end)))
        tiles.compute(until=op)
        total = part_of(op, tiles.row(op))
        tile = [1 if inside else t for t, inside in zip(self.tile, self.frame.reduced, strict=True)]
        index = [*tiles.program.base]
        index[first] = part
        w.store(total, w.view(w.pointers[-1], shape, tile), index)
        tensors = [*range(self.inputs), number]
        launch = TileLaunch(w.finish(), (volume(self.kept), parts), tensors, [*w.sizes])
        combined = self.combined(shape, element, number)
        return TileLaunches([launch, combined], [(shape, element)])

    def combined(self, shape: Shape, element: Attribute, number: int) -> TileLaunch:
        """Return the launch of the entry that combines the parts, which have `shape`."""
        w = TileWriter(self.name(), [*elements_of(self.group.tensors), element], bulk=False)
        rows = zip(shape, self.tile, self.frame.reduced, strict=True)
        tile = [power_of_two(n) if inside and isinstance(n, int) else t for n, t, inside in rows]
        plan = replace(self, frame=replace(self.frame, shape=shape), tile=tile)
        program = plan.program(w, None)
        parts = Operand(w.view(w.pointers[-1], shape, tile), shape, element)
        program.totals = lambda place: program.at(place, parts)
        tiles = plan.tiles(program)
        tiles.compute()
        tiles.store(w.pointers[self.inputs : -1])
        return TileLaunch(w.finish(), (volume(plan.kept),), [*range(number + 1)], [*w.sizes])
