"""Tile programs for fused groups along rows, and the sizes of their tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import TypeVar

from xdsl.ir import Attribute, BlockArgument, SSAValue

from ....dialects.target import Target
from ....dialects.tir.functions import Extent, Shape, volume
from .group_tiles import GroupTiles
from .row_frame import RowFrame, frame_of
from .row_program import Operand, PartOfRows, RowProgram
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_costs import parts_of
from .tile_writer import TileWriter, power_of_two

__all__ = ["row_program"]

Size = TypeVar("Size", int, Extent)

ROW_LIMIT = 8192
"""The elements of the longest rows that a block keeps: 64 registers of 128 threads."""
BLOCK = 2048
"""The elements of a tile of short rows: 16 registers of 128 threads."""
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
    return TileLaunches([plan.whole((0, volume(plan.trips)))]) if parts == 1 else plan.split(parts)


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

    # Rows that several blocks share

    def parts(self, target: Target) -> int:
        """Return the number of blocks that share a row. Those without a tile store neutral
        elements."""
        together = prod(t for t, r in zip(self.tile, self.frame.reduced, strict=True) if not r)
        limit = ROW_LIMIT // together
        return parts_of(volume(self.trips), volume(self.kept), limit, target)

    def split(self, parts: int) -> TileLaunches:
        """Return the entries of blocks that share rows: one for each fold, whose parts the entries
        after it combine, then those of the results."""
        w = TileWriter(self.name(), elements_of(self.group.tensors), bulk=False)
        tiles = self.tiles(self.program(w, (w.size(0), w.size(volume(self.trips)))))
        tiles.compute()
        kinds, per_row = tiles.program.kinds, sorted({*tiles.per_row}, reverse=True)
        shared = SharedRows(self, parts, kinds)
        launches = [shared.fold(number) for number in range(len(kinds))]
        names = ("_rows", "") if len(per_row) == 2 else ("",)
        launches += [shared.results(*pair) for pair in zip(names, per_row, strict=True)]
        return TileLaunches(launches, [(shared.shape, kind) for kind in kinds])


@dataclass(frozen=True)
class SharedRows:
    """The entries of blocks that share rows."""

    plan: RowPlan
    parts: int
    kinds: Sequence[Attribute]
    """The element types of the folds."""

    def fold(self, number: int) -> TileLaunch:
        """Return the launch of the entry that stores the parts of a fold."""
        plan, kinds = self.plan, self.kinds[: number + 1]
        elements = [*elements_of(plan.group.func.args), *kinds]
        w = TileWriter(plan.name(f"_parts{number or ''}"), elements, bulk=False)
        part = w.block_indices()[1]
        tiles = self.tiles(w, w.pointers[plan.inputs : -1], part)
        total = part_of_rows(tiles)
        index = [*tiles.program.base]
        index[self.axis] = part
        w.store(total, w.view(w.pointers[-1], self.shape, self.placed(plan.tile, 1)), index)
        return self.launch(w, plan.inputs, len(kinds), self.parts)

    def results(self, name: str, per_row: bool) -> TileLaunch:
        """Return the launch of the entry that stores the results with one element for each row, or
        the others."""
        plan, count = self.plan, len(self.plan.group.tensors)
        w = TileWriter(plan.name(name), [*elements_of(plan.group.tensors), *self.kinds], bulk=False)
        tiles = self.tiles(w, w.pointers[count:], w.block_indices()[1])
        tiles.compute()
        tiles.store(w.pointers[plan.inputs : count], (per_row,))
        return self.launch(w, count, len(self.kinds), 1 if per_row else self.parts)

    def tiles(self, w: TileWriter, folds: Sequence[SSAValue], part: SSAValue) -> GroupTiles:
        """Return the values of a block; the parts of the first folds are at the pointers
        `folds`."""
        span = w.share(part, self.parts, volume(self.plan.trips))
        program = self.plan.program(w, span)
        tile = self.placed(self.plan.tile, self.parts)
        program.parts = [
            Operand(w.view(pointer, self.shape, tile), self.shape, kind)
            for pointer, kind in zip(folds, self.kinds, strict=False)
        ]
        return self.plan.tiles(program)

    @property
    def axis(self) -> int:
        """The dimension along which the parts of a row are in memory."""
        return self.plan.frame.reduced.index(True)

    @property
    def shape(self) -> Shape:
        """The shape of the parts of a fold."""
        return tuple(self.placed(self.plan.frame.shape, self.parts))

    def placed(self, sizes: Sequence[Size], parts: int) -> list[Size | int]:
        """Return the sizes along rows, with a number of parts in the place of their elements."""
        reduced = self.plan.frame.reduced
        kept = [1 if inside else n for n, inside in zip(sizes, reduced, strict=True)]
        return [*kept[: self.axis], parts, *kept[self.axis + 1 :]]

    def launch(self, w: TileWriter, tensors: int, folds: int, parts: int) -> TileLaunch:
        """Return the launch of an entry on the first tensors and the parts of the first folds."""
        first = len(self.plan.group.tensors)
        numbers = [*range(tensors), *range(first, first + folds)]
        return TileLaunch(w.finish(), (volume(self.plan.kept), parts), numbers, [*w.sizes])


def part_of_rows(tiles: GroupTiles) -> SSAValue:
    """Write a program up to the first fold whose parts are not in memory; return its result."""
    try:
        tiles.compute()
    except PartOfRows as part:
        return part.total
    raise AssertionError("the program has as many folds as that of whole rows")
