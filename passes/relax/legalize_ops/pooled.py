"""Tensors whose elements combine those of windows, computed row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby, product
from math import prod
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from .kernel_builder import KernelBuilder, Scheduled, Store, Tensor
from .scalars import convert

__all__ = ["Combine", "Pooled", "Pooling", "combined"]

UNROLLED = 32
"""Windows of up to this many elements are unrolled; larger ones become a loop."""

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
    extents = [b.known(count) for _, count in ranges]
    sizes = [extent for extent in extents if isinstance(extent, int)]
    if len(sizes) == len(extents) and 0 < prod(sizes) <= UNROLLED:
        first, *others = product(*map(range, sizes))
        starts = [start for start, _ in ranges]

        def at(offsets: Sequence[int]) -> SSAValue:
            return read(b, [b.add(start, i) for start, i in zip(starts, offsets, strict=True)])

        value = at(first)
        for offsets in others:
            value = pooling.combine(b, value, at(offsets))
        return value
    acc = b.alloc((1,), pooling.element, "local")
    b.store(b.number(pooling.identity, pooling.element), acc, [0])
    with ExitStack() as stack:
        index = [stack.enter_context(b.loop(count, min=start)) for start, count in ranges]
        b.store(pooling.combine(b, b.load(acc, [0]), read(b, index)), acc, [0])
    return b.load(acc, [0])


@dataclass(eq=False)
class Pooled(Scheduled):
    """The combined elements of windows of `data`, which extend along the last axis and others.

    Each row of the result is computed in two steps. First, the rows that its windows cover are
    combined, column by column, into a row buffer, which has padding at its ends; then columns of
    this buffer are combined. Both steps are done on whole vectors. 3x3 windows thus take two
    operations for each element of the row buffer and two for each element of the result, not eight.
    """

    data: Tensor
    windows: Mapping[int, Window]
    """The windows by axis."""
    pooling: Pooling

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def tap(b: KernelBuilder, taps: Sequence[Index]) -> SSAValue:
            place, conditions = [*index], list[SSAValue]()
            for (axis, window), i in zip(self.windows.items(), taps, strict=True):
                start = b.sub(b.mul(index[axis], window.stride), window.before)
                place[axis] = b.add(start, b.mul(i, window.dilation))
                if window.before or window.covered(self.shape[axis]) > self.data.shape[axis]:
                    conditions += b.inside_bounds(place[axis], 0, self.data.shape[axis])
            return b.choose(
                conditions,
                lambda: convert(b, b.read(self.data, place), self.pooling.element),
                lambda: b.number(self.pooling.identity, self.pooling.element),
            )

        sizes = [(0, window.size) for window in self.windows.values()]
        return self.pooling.finish(b, index, combined(b, sizes, self.pooling, tap))

    def write(self, b: KernelBuilder, store: Store) -> None:
        last = len(self.shape) - 1
        window, extent = self.windows[last], self.data.shape[last]
        width = window.covered(self.shape[last])
        before, kept = window.before, max(0, min(extent, width - window.before))
        is_padded = (before, kept) != (0, width)
        rows = prod(other.size for axis, other in self.windows.items() if axis != last)
        row = b.alloc((width,), self.pooling.element, "local") if is_padded or rows > 1 else None
        if row is not None and is_padded:
            for start, end in ((0, min(before, width)), (min(before + kept, width), width)):
                with b.loop(end - start, min=start) as i:
                    b.store(b.number(self.pooling.identity, self.pooling.element), row, [i])

        def write_row(index: Sequence[Index], taps: Sequence[Taps]) -> None:
            def column(x: Index) -> SSAValue:
                def read(b: KernelBuilder, offsets: Sequence[Index]) -> SSAValue:
                    place = [t.place(b, i) for t, i in zip(taps, offsets, strict=True)]
                    return convert(b, b.read(self.data, [*place, x]), self.pooling.element)

                ranges = [(t.numbers.start, len(t.numbers)) for t in taps]
                return combined(b, ranges, self.pooling, read)

            if row is not None and kept:
                with b.chunks(kept, b.lanes) as x:
                    b.store(column(x), row, [b.add(x, before)])
            with b.chunks(self.shape[last], b.lanes) as x:
                start = b.mul(x, window.stride)

                def tap(b: KernelBuilder, offsets: Sequence[Index]) -> SSAValue:
                    place = b.add(start, b.mul(offsets[0], window.dilation))
                    return column(place) if row is None else b.load(row, [place])

                value = combined(b, [(0, window.size)], self.pooling, tap)
                store([*index, x], self.pooling.finish(b, [*index, x], value))

        self.write_rows(b, [], [], write_row)

    def write_rows(
        self,
        b: KernelBuilder,
        index: Sequence[Index],
        taps: Sequence[Taps],
        write_row: Callable[[Sequence[Index], Sequence[Taps]], None],
    ) -> None:
        """Write loops over the rows of the result, a loop for each group of rows whose windows have
        the same taps inside the data."""
        axis = len(index)
        if axis == len(self.shape) - 1:
            write_row(index, taps)
            return
        count, extent, window = self.shape[axis], self.data.shape[axis], self.windows.get(axis)
        if window is None:
            with b.loop(count) as i:
                self.write_rows(b, [*index, i], [*taps, Taps(i, range(1), 1)], write_row)
            return
        for numbers, group in groupby(range(count), lambda i: inner_taps(window, extent, i)):
            first, *others = group
            with b.loop(1 + len(others), min=first) as i:
                start = b.sub(b.mul(i, window.stride), window.before)
                these = Taps(start, numbers, window.dilation)
                self.write_rows(b, [*index, i], [*taps, these], write_row)


@dataclass(frozen=True)
class Taps:
    """The taps of a window along one axis: tap number t is at `start + t * dilation`."""

    start: Index
    numbers: range
    """The taps that are not in the padding."""
    dilation: int

    def place(self, b: KernelBuilder, number: Index) -> Index:
        return b.add(self.start, b.mul(number, self.dilation))


def inner_taps(window: Window, extent: int, place: int) -> range:
    """Return the taps of the window at `place` that are inside a dimension of size `extent`."""
    start = place * window.stride - window.before
    low, high = (-((start - bound) // window.dilation) for bound in (0, extent))
    return range(max(0, low), min(window.size, high))
