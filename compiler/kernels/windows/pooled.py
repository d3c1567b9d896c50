"""Pooling: tensors whose elements each combine the elements of a window, computed row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby, product
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, volume
from ..builder import KernelBuilder, Scheduled, Store, Tensor
from ..scalars import convert
from ..tensors import known
from .phases import covered, inner_places

UNROLLED = 32
"""Windows of up to this many elements are unrolled; larger ones become a loop."""
UNROLLED_ON_GPU = 9
"""The same for GPUs, where each element has an address and a mask: more take long to assemble."""

Combine: TypeAlias = Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue]

Read: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], SSAValue]


def unchanged(b: KernelBuilder, index: Sequence[Index], value: SSAValue) -> SSAValue:
    return value


@dataclass(frozen=True)
class Pooling:
    """A function of windows: their elements are converted to `element` and combined.

    `identity` is the neutral element of `combine`; `finish` returns the element of the result at an
    index, given the combined value.
    """

    element: Attribute
    combine: Combine
    identity: float
    finish: Callable[[KernelBuilder, Sequence[Index], SSAValue], SSAValue] = unchanged


def combined(
    b: KernelBuilder, ranges: Sequence[tuple[Index, Index]], pooling: Pooling, read: Read
) -> SSAValue:
    """Combine the elements at all indices in `ranges`, which are pairs of a start and an extent."""
    extents = [count for _, count in ranges]
    sizes = [extent for extent in extents if isinstance(extent, int)]
    most = UNROLLED_ON_GPU if b.target.is_cuda else UNROLLED
    if len(sizes) == len(extents) and 0 < volume(sizes) <= most:
        # Begin with an element, not with the identity: that is one operation less for each window.
        first, *others = product(*map(range, sizes))
        starts = [start for start, _ in ranges]

        def at(offsets: Sequence[int]) -> SSAValue:
            return read(b, [start + i for start, i in zip(starts, offsets, strict=True)])

        value = at(first)
        for offsets in others:
            value = pooling.combine(b, value, at(offsets))
        return value
    # A range may be empty here (windows on padding only): then the result is the identity.
    acc = b.variable(b.number(pooling.identity, pooling.element))
    with ExitStack() as stack:
        index = [stack.enter_context(b.loop(count, min=start)) for start, count in ranges]
        b.store(pooling.combine(b, b.load(acc, [0]), read(b, index)), acc, [0])
    return b.load(acc, [0])


@dataclass(eq=False)
class Pooled(Scheduled):
    """The combined elements of windows of `data`, which extend along the last axis and others.

    Rows of the result are computed in two steps. This is possible, as the order in which `combine`
    takes elements matters for rounding only. First, the rows that the windows cover are combined,
    column by column, into a buffer of rows with padding at their ends; then columns of this buffer
    are combined. Both steps are done on whole vectors. 3x3 windows thus take two operations for
    each element of the buffer and two for each element of the result, not eight. Windows that
    neither overlap nor are padded need no buffer.
    """

    data: Tensor
    windows: Mapping[int, Window]
    """The windows by axis."""
    pooling: Pooling

    def size(self, axis: int) -> int:
        """Return the number of windows along an axis."""
        return known(self.shape[axis])

    def extent(self, axis: int) -> int:
        """Return the extent of the data along the axis of a window."""
        return known(self.data.shape[axis])

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def tap(b: KernelBuilder, taps: Sequence[Index]) -> SSAValue:
            place, conditions = [*index], list[SSAValue]()
            for (axis, window), i in zip(self.windows.items(), taps, strict=True):
                start = index[axis] * window.stride - window.before
                place[axis] = start + i * window.dilation
                if self.is_padded(axis):
                    conditions += b.inside_bounds(place[axis], 0, self.data.shape[axis])
            return b.choose(
                conditions,
                lambda: convert(b, b.read(self.data, place), self.pooling.element),
                lambda: b.number(self.pooling.identity, self.pooling.element),
            )

        sizes = [(0, window.size) for window in self.windows.values()]
        return self.pooling.finish(b, index, combined(b, sizes, self.pooling, tap))

    def is_padded(self, axis: int) -> bool:
        """Return whether windows reach, or may reach, beyond the data along `axis`."""
        window = self.windows[axis]
        if not isinstance(self.data.shape[axis], int):
            return bool(window.before or window.after or window.ceil)
        return window.before > 0 or window.covered(self.size(axis)) > self.extent(axis)

    def is_direct(self) -> bool:
        """Return whether rows of the result need no buffer. That is so if no columns are padded,
        and windows do not overlap, or extend along the last axis only, so that there are no rows to
        combine."""
        last = len(self.shape) - 1
        overlapping = [axis for axis, w in self.windows.items() if w.span > w.stride]
        return not self.is_padded(last) and (not overlapping or [*self.windows] == [last])

    def write(self, b: KernelBuilder, store: Store) -> None:
        last = len(self.shape) - 1
        if self.is_direct():

            def write_direct(index: Sequence[Index], taps: Sequence[Taps]) -> None:
                whole = [t.first_and_count for t in taps]
                self.write_row(b, index, lambda x: self.column(b, taps, whole, x), store)

            self.write_groups(b, [], [], last, write_direct)
            return
        # For 3x3 windows of columns a b c d e, row by row of the result:
        #
        #     rows:    A B C D E    A = a0 + a1 + a2, the three rows that the windows cover
        #     result:  A+B+C  B+C+D  C+D+E
        axis = self.first_buffered(b)
        rows = self.row_buffer(b, [*map(self.size, range(axis, last))], "local")

        def combine_rows(index: Sequence[Index], taps: Sequence[Taps]) -> None:
            self.combine(b, taps, [t.first_and_count for t in taps], rows, index[axis:])

        def write_block(outer: Sequence[Index], taps: Sequence[Taps]) -> None:
            self.write_groups(b, outer, taps, last, combine_rows)
            with b.loops([*map(self.size, range(axis, last))]) as inner:
                self.write_row(b, [*outer, *inner], lambda x: b.load(rows, [*inner, x]), store)

        self.write_groups(b, [], [], axis, write_block)

    def first_buffered(self, b: KernelBuilder) -> int:
        """Return the first axis whose rows are all in the row buffer; the last axis if the buffer
        has a single row. Along the axes before it, the buffer has the rows of one index at a time.

        The buffer has as many rows as half of the first cache holds. With fewer, a row would be
        read right after it was written, while its stores are still in the store buffer of the
        processor. From there a load of the same vector is served at once. A load at another column
        spans two stores, and waits for both.
        """
        last = len(self.shape) - 1
        axis, size = last, self.windows[last].covered(self.size(last)) * b.bytes
        while axis > min(self.windows) and 2 * size * self.size(axis - 1) <= b.target.l1_cache:
            axis -= 1
            size *= self.size(axis)
        return axis

    def row_buffer(
        self, b: KernelBuilder, rows: Sequence[Extent], scope: str | None = None
    ) -> SSAValue:
        """Return a new buffer of rows as wide as windows reach, with padding at their ends; `rows`
        is their number along each buffered axis."""
        last = len(self.shape) - 1
        window = self.windows[last]
        width = covered(window, self.shape[last])
        buffer = b.alloc((*rows, width), self.pooling.element, scope)
        if self.is_padded(last):
            left = b.smaller(window.before, width)
            with b.loops(rows) as index:
                for start, end in ((0, left), (left + self.kept_columns(b), width)):
                    with b.loop(end - start, min=start) as x:
                        number = b.number(self.pooling.identity, self.pooling.element)
                        b.store(number, buffer, [*index, x])
        return buffer

    def kept_columns(self, b: KernelBuilder) -> Extent:
        """Return how many columns of the data windows cover, from the first column on."""
        last = len(self.shape) - 1
        window = self.windows[last]
        reach = covered(window, self.shape[last]) - window.before
        return b.larger(0, b.smaller(self.data.shape[last], reach))

    def column(
        self,
        b: KernelBuilder,
        taps: Sequence[Taps],
        ranges: Sequence[tuple[Index, Index]],
        x: Index,
    ) -> SSAValue:
        """Combine the elements of column `x` of the data at some taps of the other axes. The
        numbers of these taps are in `ranges`, pairs of a start and a count."""

        def read(b: KernelBuilder, numbers: Sequence[Index]) -> SSAValue:
            place = [t.place(b, i) for t, i in zip(taps, numbers, strict=True)]
            return convert(b, b.read(self.data, [*place, x]), self.pooling.element)

        return combined(b, ranges, self.pooling, read)

    def combine(
        self,
        b: KernelBuilder,
        taps: Sequence[Taps],
        ranges: Sequence[tuple[Index, Index]],
        rows: SSAValue,
        row: Sequence[Index],
    ) -> None:
        """Write a loop over the columns that combines each (`column`) into row `row` of the buffer
        `rows`."""
        before = self.windows[len(self.shape) - 1].before
        with b.chunks(self.kept_columns(b), b.lanes) as x:
            b.store(self.column(b, taps, ranges, x), rows, [*row, x + before])

    def write_row(
        self,
        b: KernelBuilder,
        index: Sequence[Index],
        column: Callable[[Index], SSAValue],
        store: Store,
    ) -> None:
        """Write a loop that combines the columns of each window in row `index` of the result;
        `column` returns the combined rows of a column."""
        window = self.windows[len(index)]
        with b.chunks(self.shape[-1], b.lanes) as x:
            start = x * window.stride
            value = combined(
                b,
                [(0, window.size)],
                self.pooling,
                lambda b, i: column(start + i[0] * window.dilation),
            )
            store([*index, x], self.pooling.finish(b, [*index, x], value))

    def write_groups(
        self,
        b: KernelBuilder,
        index: Sequence[Index],
        taps: Sequence[Taps],
        end: int,
        write: Callable[[Sequence[Index], Sequence[Taps]], None],
    ) -> None:
        """Write loops over the axes from `len(index)` to `end`: along each axis, one loop for each
        group of windows that have the same taps inside the data."""
        axis = len(index)
        if axis == end:
            write(index, taps)
            return
        if (window := self.windows.get(axis)) is None:
            with b.loop(self.shape[axis]) as i:
                self.write_groups(b, [*index, i], [*taps, Taps(i, range(1), 1)], end, write)
            return
        count, extent = self.size(axis), self.extent(axis)
        # Windows at the edges have fewer taps inside the data: for 3 taps, padding 1 and extent 5,
        # the groups are [0], [1 2 3], [4]. Each is a loop of its own, so that no tap has a guard.
        for numbers, group in taps_of_places(window, extent, count):
            with b.loop(len(group), min=group.start) as i:
                start = i * window.stride - window.before
                these = Taps(start, numbers, window.dilation)
                self.write_groups(b, [*index, i], [*taps, these], end, write)


@dataclass(frozen=True)
class Taps:
    """The taps of a window along one axis: tap number t is at `start + t * dilation`."""

    start: Index
    numbers: range
    """The taps that are not in the padding."""
    dilation: int

    @property
    def first_and_count(self) -> tuple[Index, Index]:
        """The first of the numbers, and how many there are."""
        return self.numbers.start, len(self.numbers)

    def place(self, b: KernelBuilder, number: Index) -> Index:
        return self.start + number * self.dilation


def taps_of_places(window: Window, extent: int, count: int) -> Iterator[tuple[range, range]]:
    """Yield the taps that are inside a dimension, with the places of adjacent windows that have
    them."""
    inner = inner_places(window, 0, extent, count)
    for places in (range(inner.start), inner, range(inner.stop, count)):
        if places is inner:
            if inner:
                yield range(window.size), inner
            continue
        for taps, group in groupby(places, lambda place: inner_taps(window, extent, place)):
            first, *others = group
            yield taps, range(first, first + 1 + len(others))


def inner_taps(window: Window, extent: int, place: int) -> range:
    """Return the taps of the window at `place` that are inside a dimension of size `extent`."""
    start = place * window.stride - window.before
    # Tap t is at start + t * dilation: the first at or after `bound` is t = ceil((bound - start) /
    # dilation). For 3 taps, stride 2, padding 1 and 4 elements in ceil mode, windows 0 1 2 have
    # taps 1-2, 0-2 and 0; a window on padding only has an empty range.
    low, high = (-((start - bound) // window.dilation) for bound in (0, extent))
    return range(max(0, low), min(window.size, high))
