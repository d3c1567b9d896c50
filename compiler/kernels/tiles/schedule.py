"""The schedule of a contraction: the extents of its tiles and blocks, and the order of its loops.

A contraction is computed in tiles of `m` rows of lhs times some vectors of columns, whose sums stay
in registers while a loop runs over the terms. Around it (Goto and van de Geijn, Anatomy of
High-Performance Matrix Multiplication, 2008):

    for block of columns:                  as many as fit into the second cache, packed
      for block of terms:
        for tile of columns:               the inner one of these two loops reads its operand
          for tile of lhs:                 again and again, from the cache that holds it
            for term: sums += lhs * rhs

Windows of an image, and a packed lhs, need no copy of the columns: vectors of rows of lhs are
multiplied with one element of the image, which is read where it is. The tiles of sums are
transposed at the end, unless the rows of lhs are next to each other in the result.

    for block of rows of the image:
      for tile of lhs:
        for block of terms:                  all, or as many as the first cache holds of the tile
          for row, for tile of columns:      or with all terms, the tiles of lhs innermost
            for term: sums += lhs * rhs
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from xdsl.ir import SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent
from ..builder import KernelBuilder
from ..tensors import known


class ContractionOperand(Enum):
    """An operand of a contraction."""

    LHS = "lhs"
    RHS = "rhs"


NOMINAL = 128
"""The extent that is assumed where the extent is known at run time only. A schedule for it suits
larger extents too, and smaller ones waste less than a tile."""
NOMINAL_IMAGE = 64
"""The same for the rows and the columns of an image."""

WIDTHS = 56, 28, 14, 7
"""The extents of images that schedules for unknown ones are chosen for: those of the stages of a
network for images of 224. Each stage takes about as long."""


@dataclass(frozen=True)
class Extents:
    """The extents of a contraction, for the cost model."""

    m: int
    """The rows of lhs."""
    rows: int
    columns: int
    """The image of rhs: its elements are next to each other in memory along the columns only."""
    inputs: int
    taps: int
    """The terms: blocks of terms consist of whole taps."""
    bits: int
    """The bits of a sum."""
    merged: bool
    """True if a block may consist of several rows of the image."""
    constant: ContractionOperand | None = None
    """The operand that callers pass packed."""
    taps_across: int = 1
    """The taps of a window along the columns."""
    columns_known: bool = True
    """False if `columns` is nominal."""
    m_known: bool = True
    """False if `m` is nominal."""
    batch: int = 1
    """The contractions that cores can share."""
    block: int = 1
    """The taps that are the channels of a block of the image: these are next to each other in
    memory, and the columns are not."""
    rows_together: int = 1
    """The rows of lhs whose elements of a column are next to each other in the result."""
    margin: int = 0
    """The columns after the last one at which tiles can read."""
    of_integers: bool = False
    """True if the sums are integers, and also what is computed from them."""
    exact_pairs: bool | None = None
    """Whether the sums of pairs of products of bytes fit in an i16; None if the terms are no words
    of bytes."""
    edge: int | None = None
    """The most columns at an edge of the image where tiles leave out taps that are beyond it; None
    if there is padding in memory."""

    @property
    def taps_down(self) -> int:
        """The taps of a window along all dimensions but the columns."""
        return self.taps // self.taps_across // self.block


@dataclass(frozen=True)
class Schedule:
    """The extents of tiles and blocks of a contraction, and the order of its loops."""

    m: int
    """The rows of lhs of a tile; with `by_rows`, its columns."""
    vectors: int
    """The vectors of a tile: of columns, or with `by_rows`, of rows of lhs."""
    lanes: int
    """The lanes of a vector."""
    rows: int
    columns: int
    """The block of the image whose columns are packed together."""
    inputs: int
    """The inputs, with all their taps, of a block of terms."""
    packs: bool
    """True if columns are packed; otherwise they are read where they are."""
    lhs_inside: bool
    """True if the loop over tiles of lhs is inside of the loop over tiles of columns."""
    by_rows: bool = False
    """True if the lanes of vectors are rows of lhs, which is packed, and not columns: an image of
    few columns would fill vectors badly."""

    @property
    def rows_of_tile(self) -> int:
        """The rows of lhs of a tile."""
        return self.vectors * self.lanes if self.by_rows else self.m

    @property
    def tile(self) -> int:
        """The columns of a tile."""
        return self.m if self.by_rows else self.vectors * self.lanes

    @property
    def in_place(self) -> bool:
        """True if columns are not packed: an element is read where it is, for a vector of rows."""
        return self.by_rows and not self.packs

    def __str__(self) -> str:
        lanes = "rows of lhs" if self.by_rows else "columns"
        others = "columns" if self.by_rows else "rows of lhs"
        copied = "packed" if self.packs else "read in place"
        return (
            f"tiles of {self.m} {others} and {self.vectors} vectors of {self.lanes} {lanes}, "
            f"blocks of {self.rows}x{self.columns} columns and {self.inputs} inputs, "
            f"columns {copied}"
        )


# The edges of an image that windows reach beyond, where there is nothing to multiply.


@dataclass(frozen=True)
class Cut:
    """Consecutive taps of a window along the columns, and the numbers of columns at both edges of
    the image at which they are beyond it."""

    first: int
    count: int
    before: int
    after: int


@dataclass(frozen=True)
class Edges:
    """An image without its padding of zeros: products leave out the taps that are beyond it."""

    windows: Sequence[Window]
    """The windows of each dimension, rows first; the last one is that of the columns."""
    extents: Sequence[Extent | None]
    """The extents of the image; None for columns that have their padding in memory."""

    @property
    def columns(self) -> int | None:
        """The number of windows along the columns; None if all their taps are in memory."""
        extent = self.extents[-1]
        return None if extent is None else self.windows[-1].count(known(extent))

    @property
    def most(self) -> int:
        """The largest number of columns at one edge at which a tap is beyond it."""
        return max(max(cut.before, cut.after) for cut in self.cuts())

    def cuts(self) -> list[Cut]:
        """Return the taps along the columns, grouped by the columns at which they are beyond an
        edge."""
        # For 3 taps, padding 1 and 5 columns, tap 0 is beyond the image at the first column, tap 2
        # at the last one, tap 1 never. With stride 2, and 6 columns in memory, tap 2 is inside as
        # well:
        #
        #     Cut(0, 1, before=1, after=0)  Cut(1, 2, before=0, after=0)
        #
        # Tap t is at column i * stride + t * dilation - padding of the image: below 0 for the first
        # ceil(at / stride) windows i, and beyond the end from window ceil((extent + at) / stride)
        # on.
        window, extent, columns = self.windows[-1], self.extents[-1], self.columns
        if extent is None or columns is None:
            return [Cut(0, window.size, 0, 0)]
        extent = known(extent)

        def cut(tap: int) -> tuple[int, int]:
            at = window.before - tap * window.dilation  # of the image, in columns after the tap
            before, end = (-(-max(0, n) // window.stride) for n in (at, extent + at))
            return min(before, columns), max(0, columns - end)

        groups = groupby(range(window.size), cut)
        members = [(widths, [*taps]) for widths, taps in groups]
        return [Cut(taps[0], len(taps), *widths) for widths, taps in members]

    @contextmanager
    def rows(self, b: KernelBuilder, row: Sequence[Index]) -> Generator[list[Index]]:
        """Write loops over the taps that are inside of the image, for windows at `row` of the
        result."""
        if not row:
            yield []
            return
        axis = len(self.windows) - 1 - len(row)
        window, extent = self.windows[axis], self.extents[axis]
        assert extent is not None
        # Rows are a loop, not unrolled: its bounds do what cuts do for columns. In row 0 of padding
        # 1, `start` is -1, and with dilation 1 the first tap inside is 1; with dilation 2 also.
        start = row[0] * window.stride - window.before
        first = b.ceildiv(b.max(0 - start, 0), window.dilation)
        end = b.min(b.ceildiv(b.max(extent - start, 0), window.dilation), window.size)
        with (
            b.loop(b.max(end - first, 0), min=first) as tap,
            self.rows(b, row[1:]) as others,
        ):
            yield [tap, *others]

    def place(self, b: KernelBuilder, axis: int, i: Index, tap: Index) -> Index:
        """Return the position in the image of a tap of window `i` along an axis."""
        window = self.windows[axis]
        at = i * window.stride + tap * window.dilation
        return at - window.before

    def inside(
        self, b: KernelBuilder, place: Sequence[Index], taps: Sequence[Index]
    ) -> list[SSAValue]:
        """Return the conditions under which the taps of the window at a place are inside of the
        image."""
        conditions: list[SSAValue] = []
        for i, tap, window, extent in zip(place, taps, self.windows, self.extents, strict=True):
            if extent is None:
                continue
            at = i * window.stride + tap * window.dilation
            conditions += b.inside_bounds(at, window.before, extent + window.before)
        return conditions
