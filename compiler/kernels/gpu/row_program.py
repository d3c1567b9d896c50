"""Tile programs for reductions, softmax and normalizations.

A block has one tile of rows. Rows that fit into a tile are loaded once; longer ones are traversed
in tiles for each of their statistics, and once more for the results. A statistic is accumulated in
a tile, element by element, and this is reduced to one element for each row at the end: the order is
fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from ....dialects.tir.functions import Extent, Shape
from .row_frame import RowFrame
from .tile_writer import TileReduction, TileWriter

__all__ = ["Operand", "PartOfRows", "RowProgram", "Tile", "TilePlace", "cached"]


@dataclass(eq=False)
class TilePlace:
    """The position of the tiles at hand."""

    index: Sequence[SSAValue]
    """The number of the tile in each dimension of the frame."""
    memo: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])
    """What is computed here already."""


Tile = Callable[[TilePlace], SSAValue]
"""A function that computes the tile of a value at a place."""


@dataclass(eq=False)
class Operand:
    """A tensor in memory, in the dimensions of the frame."""

    view: SSAValue
    shape: Shape
    element: Attribute


class PartOfRows(Exception):
    """The exception that ends the program of a fold over a part of the rows, with its result."""

    def __init__(self, total: SSAValue) -> None:
        super().__init__()
        self.total = total


@dataclass
class RowProgram:
    """The program of one block, for a tile of rows."""

    writer: TileWriter
    frame: RowFrame
    tile: Sequence[int]
    """The sizes of tiles in the dimensions of the frame."""
    base: Sequence[SSAValue]
    """The number of the tile of this block in the dimensions that are kept, 0 in the others."""
    trips: Sequence[Extent]
    """The number of tiles of a row in each dimension, 1 in those that are kept."""
    count: Extent
    """The elements of a row."""
    span: tuple[SSAValue, SSAValue] | None = None
    """The tiles of the rows that this block traverses, from and to; None if there is one."""
    parts: Sequence[Operand] | None = None
    """Where several blocks share rows, the folds of their parts that are in memory already."""
    kinds: list[Attribute] = field(default_factory=list[Attribute])
    """The element types of the folds so far."""

    def __post_init__(self) -> None:
        self.whole = TilePlace(self.base)
        """The place of the only tile of rows, or of values that have one element for each row."""

    # Places

    def place(self, number: SSAValue) -> TilePlace:
        """Return the place of tile `number` of the rows."""
        inside = self.writer.decomposed(number, self.trips)
        rows = zip(self.frame.reduced, inside, self.base, strict=True)
        return TilePlace([along if reduced else own for reduced, along, own in rows])

    def tile_shape(self, shape: Shape) -> list[int]:
        """Return the sizes of the tiles of a value of `shape`."""
        rows = zip(shape, self.frame.shape, self.tile, strict=True)
        return [1 if n == 1 != whole else t for n, whole, t in rows]

    def position(self, place: TilePlace, axis: int) -> SSAValue:
        """Return the positions in a dimension of the frame of the elements of a tile."""
        w = self.writer
        first = w.scaled(place.index[axis], self.tile[axis])
        return w.add(first, w.iota(self.tile, axis))

    def number_in_row(self, place: TilePlace) -> SSAValue:
        """Return the positions of the elements of a tile in their rows, in row-major order."""
        w, number = self.writer, self.writer.number(0, i32)
        stride: Extent = 1
        for axis in reversed(range(len(self.tile))):
            if self.frame.reduced[axis]:
                step = w.multiply(self.position(place, axis), w.size(stride))
                number = w.add(number, step)
                stride *= self.frame.shape[axis]
        return w.broadcast(number, self.tile)

    def inside(self, place: TilePlace) -> SSAValue | None:
        """Return which elements of a tile are in the rows; None if all are."""
        if "inside" in place.memo:
            return place.memo["inside"]
        mask = None
        for axis, (n, t) in enumerate(zip(self.frame.shape, self.tile, strict=True)):
            if self.frame.reduced[axis] and not (isinstance(n, int) and n % t == 0):
                end = self.writer.size(n)
                here = self.writer.less(self.position(place, axis), end)
                mask = place.memo["inside"] = self.writer.both(mask, here)
        return mask

    # Traversal of rows

    def fold(self, element: Tile, reduction: TileReduction, kind: Attribute) -> SSAValue:
        """Reduce the rows of `element`, tiles of type `kind`, to one element for each row. A part
        of the rows is reduced in an entry of its own: PartOfRows ends its program."""
        number = len(self.kinds)
        self.kinds.append(kind)
        if self.parts is not None and number < len(self.parts):
            return self.reduced(self.at(self.whole, self.parts[number]), reduction)
        total = self.reduced(self.accumulated(element, reduction, kind), reduction)
        if self.parts is not None:
            raise PartOfRows(total)
        return total

    def reduced(self, tile: SSAValue, reduction: TileReduction) -> SSAValue:
        """Reduce a tile along the dimensions of the rows."""
        for axis, reduced in enumerate(self.frame.reduced):
            tile = self.writer.reduce(tile, axis, reduction) if reduced else tile
        return tile

    def accumulated(self, element: Tile, reduction: TileReduction, kind: Attribute) -> SSAValue:
        """Combine the tiles of the rows, element by element."""
        w = self.writer
        identity = w.number(reduction.identity, kind, self.tile)

        def masked(place: TilePlace) -> SSAValue:
            tile = w.broadcast(element(place), self.tile)
            mask = self.inside(place)
            return tile if mask is None else w.select(mask, tile, identity)

        if self.span is None:
            return masked(self.whole)

        def step(number: SSAValue, totals: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return [w.combine(reduction, totals[0], masked(self.place(number)))]

        return w.loop(*self.span, [identity], step)[0]

    def for_each(self, body: Callable[[TilePlace], None]) -> None:
        """Write `body` for all tiles of the rows."""
        if self.span is None:
            body(self.whole)
            return

        def step(number: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            body(self.place(number))
            return ()

        self.writer.loop(*self.span, (), step)

    def at(self, place: TilePlace, operand: Operand) -> SSAValue:
        """Load the tile of an operand."""
        index = self.index_in(place, operand.shape)
        return self.writer.load(operand.view, index, operand.element)

    def index_in(self, place: TilePlace, shape: Shape) -> list[SSAValue]:
        """Return the number of the tile of a value of `shape` at a place."""
        zero = self.writer.number(0, i32)
        return [zero if n == 1 else i for n, i in zip(shape, place.index, strict=True)]


def cached(compute: Tile) -> Tile:
    """Return a function that computes the tile once at each place."""

    def at(place: TilePlace) -> SSAValue:
        if at not in place.memo:
            place.memo[at] = compute(place)
        return place.memo[at]

    return at
