"""Pooling of images whose extents are known at run time only, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Store
from .counts import covered, taps_before
from .pooled import Pooled, Taps

__all__ = ["UnknownPooled"]


@dataclass(eq=False)
class UnknownPooled(Pooled):
    """Pooled rows, whose extents may be unknown.

    The rows of a channel are computed in blocks, of as many rows as half of the first cache holds
    when the kernel runs. The taps of a row are unrolled if all of them are inside the data; near
    the padding there is a loop over the taps that are.
    """

    def write(self, b: KernelBuilder, store: Store) -> None:
        if self.is_direct() and not any(map(self.is_padded, self.windows)):
            with b.loops(self.shape[:-1]) as index:
                taps = [self.taps(b, axis, i) for axis, i in enumerate(index)]
                whole = [t.first_and_count for t in taps]
                self.write_row(b, index, lambda x: self.column(b, taps, whole, x), store)
            return
        # Known extents have a loop for each kind of edge (`write_groups`); here the kinds depend on
        # sizes, so one branch per row chooses between all taps, unrolled, and a loop over those
        # inside.
        outer = self.shape[: min(*self.windows, len(self.shape) - 2)]
        if len(outer) == 2 and isinstance(channels := outer[1], int):
            with b.channels(outer[0], channels) as (image, group):
                rows = self.row_buffer(b, [self.block_rows(b)])
                with group as channel:
                    self.write_blocks(b, [image, channel], rows, store)
            return
        with b.loops(outer, ForKind.PARALLEL) as index:
            self.write_blocks(b, index, self.row_buffer(b, [self.block_rows(b)]), store)

    def block_rows(self, b: KernelBuilder) -> Extent:
        """Return the number of rows of a block."""
        window, count = self.windows[len(self.shape) - 1], self.shape[-1]
        # Sizes are computed by the kernel: they may be 0, which must not divide.
        size = b.larger(1, covered(window, count) * b.bytes)
        fitting = b.quotient(b.target.l1_cache // 2, size)
        return b.larger(1, b.smaller(self.shape[-2], fitting))

    def write_blocks(
        self, b: KernelBuilder, outer: Sequence[Index], rows: SSAValue, store: Store
    ) -> None:
        """Write loops over the blocks of rows with the indices `outer`, which use buffer `rows`."""
        count, block = self.shape[-2], self.block_rows(b)
        with (
            b.loops(self.shape[len(outer) : -2]) as above,
            b.loop(b.ceildiv(count, block)) as number,
        ):
            first = number * block
            here = b.min(block, count - first)
            with b.loop(here) as row:
                self.combine_row(b, [*outer, *above, first + row], rows, row)
            with b.loop(here) as row:
                index = [*outer, *above, first + row]
                self.write_row(b, index, lambda x: b.load(rows, [row, x]), store)

    def combine_row(
        self, b: KernelBuilder, index: Sequence[Index], rows: SSAValue, row: Index
    ) -> None:
        """Write loops that combine the rows of the data in the windows at `index` into a row of
        `rows`."""
        taps = [self.taps(b, axis, i) for axis, i in enumerate(index)]
        inside = [c for axis, t in enumerate(taps) for c in self.inside(b, axis, t)]
        with b.when(inside):
            self.combine(b, taps, [t.first_and_count for t in taps], rows, [row])
        if not inside:
            return
        with b.when([b.negation(b.all(inside))]):
            there = [self.taps_inside(b, axis, t) for axis, t in enumerate(taps)]
            self.combine(b, taps, there, rows, [row])

    def taps(self, b: KernelBuilder, axis: int, place: Index) -> Taps:
        """Return all taps along an axis of the window at `place`."""
        if (window := self.windows.get(axis)) is None:
            return Taps(place, range(1), 1)
        start = place * window.stride - window.before
        return Taps(start, range(window.size), window.dilation)

    def inside(self, b: KernelBuilder, axis: int, taps: Taps) -> list[SSAValue]:
        """Return the conditions under which all taps along an axis are inside the data."""
        if (window := self.windows.get(axis)) is None or not self.is_padded(axis):
            return []
        # Inside from the first to the last tap. Taps between them cannot be outside.
        end = taps.start + window.span
        return [b.less(-1, taps.start), b.less(end - 1, self.data.shape[axis])]

    def taps_inside(self, b: KernelBuilder, axis: int, taps: Taps) -> tuple[Index, Index]:
        """Return the number of the first tap along an axis that is inside the data, and how many
        taps are."""
        if (window := self.windows.get(axis)) is None or not self.is_padded(axis):
            return 0, len(taps.numbers)
        first, end = (
            taps_before(b, window, bound - taps.start) for bound in (0, self.data.shape[axis])
        )
        return first, end - first
