"""The edges of an image that windows reach beyond, where there is nothing to multiply."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

from xdsl.ir import SSAValue

from ....dialects.relax.windows.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent
from ..builder import KernelBuilder
from ..layouts import known

__all__ = ["Cut", "Edges"]


@dataclass(frozen=True)
class Cut:
    """Consecutive taps of a window along the columns, and the columns at both edges of the image at
    which they are beyond it."""

    first: int
    count: int
    before: int
    after: int


@dataclass(frozen=True)
class Edges:
    """An image without its padding of zeros: products leave out the taps that are beyond it."""

    windows: Sequence[Window]
    """The windows of each dimension, rows first; the last are those of columns."""
    extents: Sequence[Extent | None]
    """The extents of the image; None for columns that have their padding in memory."""

    @property
    def columns(self) -> int | None:
        """The number of windows along the columns; None if all their taps are in memory."""
        extent = self.extents[-1]
        return None if extent is None else self.windows[-1].count(known(extent))

    @property
    def most(self) -> int:
        """The most columns at one edge at which a tap is beyond it."""
        return max(max(cut.before, cut.after) for cut in self.cuts())

    def cuts(self) -> list[Cut]:
        """Return the taps along the columns."""
        # Of 3 taps, padding 1 and 5 columns: tap 0 is beyond the image at the first column, tap 2
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
        """Write loops over the taps that are inside of the image, of windows at a row of it."""
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
            self.place(b, axis, row[0], tap)
            yield [tap, *others]

    def place(self, b: KernelBuilder, axis: int, i: Index, tap: Index) -> Index:
        """Return the position in the image of a tap of window `i` along an axis."""
        window = self.windows[axis]
        at = i * window.stride + tap * window.dilation
        return at - window.before

    def inside(
        self, b: KernelBuilder, place: Sequence[Index], taps: Sequence[Index]
    ) -> list[SSAValue]:
        """Return the conditions that the taps of the window at a place are inside of the image."""
        conditions: list[SSAValue] = []
        for i, tap, window, extent in zip(place, taps, self.windows, self.extents, strict=True):
            if extent is None:
                continue
            at = i * window.stride + tap * window.dilation
            conditions += b.inside_bounds(at, window.before, extent + window.before)
        return conditions
