"""Legalizations of pooling.

The data is padded in a buffer first, so that windows need no conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from math import prod
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import pooling as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from .layouts import relayout
from .reduced_dimensions import is_global
from .reduction import mean, whole_maximum
from .scalars import add, convert, divide, least, maximum, multiply, wide_type

__all__ = ["POOLING", "keeps_neighbours"]

UNROLLED = 32
"""Windows of up to this many elements are unrolled; larger ones become a loop."""

Combine: TypeAlias = Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue]


def max_pool(op: ops.MaxPoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, out_layout = op.layouts()
    data, layout = whole_dimensions(data, layout, op.SPATIAL)
    windows = {layout.axes.index(window.axis): window for window in op.pool_windows()}
    result = pool(b, data, windows, data.element, maximum, least(data.element))
    return relayout(result, layout, out_layout)


def avg_pool(op: ops.AvgPoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, out_layout = op.layouts()
    data, layout = whole_dimensions(data, layout, op.SPATIAL)
    windows = {layout.axes.index(window.axis): window for window in op.pool_windows()}
    sums = pool(b, data, windows, wide_type(data.element), add, 0)
    padding = op.count_include_pad
    divisors = [
        (axis, *counted(b, window, data.shape[axis], padding, sums.element))
        for axis, window in windows.items()
    ]
    fixed = prod(numbers[0] for _, numbers, table in divisors if table is None)
    tables = [(axis, table) for axis, _, table in divisors if table is not None]
    some_empty = any(0 in numbers for _, numbers, _ in divisors)

    def mean(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        divisor = b.number(max(fixed, 1), sums.element)
        for axis, table in tables:
            divisor = multiply(b, divisor, b.read(table, [index[axis]]))
        if some_empty:  # a window on padding only: avoid division by 0
            divisor = maximum(b, divisor, b.number(1, sums.element))
        value = b.read(sums, index)
        if tables or fixed != 1:
            value = divide(b, value, divisor)
        return convert(b, value, data.element)

    return relayout(Elements(sums.shape, data.element, mean), layout, out_layout)


def keeps_neighbours(op: Operation) -> bool:
    """Return whether `op` is unrolled pooling of adjacent elements from adjacent ones."""
    if not isinstance(op, ops.PoolOp):
        return False
    layout, out_layout = op.layouts()
    windows = {window.axis: window for window in op.pool_windows()}
    last = windows.get(layout.axes[-1])
    few = prod(window.size for window in windows.values()) <= UNROLLED
    return layout == out_layout and few and (last is None or last.stride == 1)


def whole_dimensions(data: Tensor, layout: Layout, spatial: str) -> tuple[Tensor, Layout]:
    """Return the data in a layout that does not split spatial axes, and that layout."""
    if not any(axis.lower() in layout.factors for axis in spatial):
        return data, layout
    plain = Layout.parse("NC" + spatial)
    return relayout(data, layout, plain), plain


def pool(
    b: KernelBuilder,
    data: Tensor,
    windows: Mapping[int, Window],
    element: Attribute,
    combine: Combine,
    identity: float,
) -> Tensor:
    """Combine the elements of each window in the type `element`.

    `windows` are by axis, and `identity` is the neutral element of `combine`.
    """
    out = [*data.shape]
    for axis, window in windows.items():
        out[axis] = window.count(data.shape[axis])
    source = padded(b, data, windows, identity)
    if any(window.span > window.stride for window in windows.values()):
        source = b.buffered(source)
    sizes = [window.size for window in windows.values()]

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def tap(b: KernelBuilder, taps: Sequence[Index]) -> SSAValue:
            place = [*index]
            for (axis, window), i in zip(windows.items(), taps, strict=True):
                place[axis] = b.add(b.mul(index[axis], window.stride), b.mul(i, window.dilation))
            return convert(b, b.read(source, place), element)

        return combined(b, [(0, size) for size in sizes], element, combine, identity, tap)

    return Elements(tuple(out), element, compute)


def combined(
    b: KernelBuilder,
    ranges: Sequence[tuple[Index, Index]],
    element: Attribute,
    combine: Combine,
    identity: float,
    read: Callable[[KernelBuilder, Sequence[Index]], SSAValue],
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
            value = combine(b, value, at(offsets))
        return value
    acc = b.alloc((1,), element, "local")
    b.store(b.number(identity, element), acc, [0])
    with ExitStack() as stack:
        index = [stack.enter_context(b.loop(count, min=start)) for start, count in ranges]
        b.store(combine(b, b.load(acc, [0]), read(b, index)), acc, [0])
    return b.load(acc, [0])


def padded(
    b: KernelBuilder, data: Tensor, windows: Mapping[int, Window], identity: float
) -> Tensor:
    """Return the data padded with `identity` as far as windows reach, or the data itself if they do
    not reach beyond it."""
    shape, before, kept = [*data.shape], [0] * len(data.shape), [*data.shape]
    for axis, window in windows.items():
        extent = data.shape[axis]
        reach = window.covered(window.count(extent))
        if window.before == 0 and reach <= extent:
            continue
        shape[axis], before[axis] = reach, window.before
        kept[axis] = max(0, min(extent, reach - window.before))
    if (*shape,) == data.shape and not any(before):
        return data
    result = b.alloc(shape, data.element)
    b.fill(result, shape, data.element, identity)
    with b.elements(kept, b.lanes) as index:
        place = [b.add(i, first) for i, first in zip(index, before, strict=True)]
        b.store(b.read(data, index), result, place)
    return Buffer((*shape,), data.element, result)


def counted(
    b: KernelBuilder, window: Window, extent: int, padding: bool, element: Attribute
) -> tuple[list[int], Tensor | None]:
    """Return the number of elements of each window along a dimension, including padding elements if
    `padding`; and a tensor of these numbers, None if they are equal."""
    low, high = (-window.before, extent + window.after) if padding else (0, extent)
    dilation = window.dilation

    def number(place: int) -> int:
        first = place * window.stride - window.before
        return sum(low <= first + i * dilation < high for i in range(window.size))

    numbers = [number(place) for place in range(window.count(extent))]
    if len({*numbers}) == 1:
        return numbers, None

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        first = b.mul(index[0], window.stride)

        def taps_before(bound: int) -> Index:
            """Return the number of taps before the position `bound`."""
            room = b.max(b.sub(bound + window.before, first), 0)
            return b.min(b.floordiv(b.add(room, dilation - 1), dilation), window.size)

        return convert(b, b.index(b.sub(taps_before(high), taps_before(low))), element)

    return numbers, b.buffered(Elements((len(numbers),), element, compute))


# Adaptive pooling: ranges that cover a dimension


def adaptive_max_pool(op: ops.AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    if is_global(op):
        return whole_maximum(op, b, data)
    return adaptive(op, b, data, data.element, maximum, least(data.element))


def adaptive_avg_pool(op: ops.AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    if is_global(op):
        return mean(op, b, data)
    return adaptive(op, b, data, wide_type(data.element), add, 0, mean=True)


def adaptive(
    op: ops.AdaptivePoolOp,
    b: KernelBuilder,
    data: Tensor,
    element: Attribute,
    combine: Combine,
    identity: float,
    *,
    mean: bool = False,
) -> Tensor:
    """Combine the elements of each range; divide the result by their number if `mean`."""
    whole, layout = whole_dimensions(data, op.data_layout(), op.SPATIAL)
    axes = [layout.axes.index(axis) for axis in op.SPATIAL]
    out = [*whole.shape]
    for axis, size in zip(axes, op.output_sizes(), strict=True):
        out[axis] = size

    def bounds(b: KernelBuilder, axis: int, place: Index) -> tuple[Index, Index]:
        """Return the start and the extent of range `place` along `axis`."""
        extent, size = whole.shape[axis], out[axis]
        if extent % size == 0:
            return b.mul(place, extent // size), extent // size
        begin = b.mul(place, extent)
        first = b.floordiv(begin, size)
        return first, b.sub(b.floordiv(b.add(begin, extent + size - 1), size), first)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        ranges = [bounds(b, axis, index[axis]) for axis in axes]

        def tap(b: KernelBuilder, places: Sequence[Index]) -> SSAValue:
            place = [*index]
            for axis, i in zip(axes, places, strict=True):
                place[axis] = i
            return convert(b, b.read(whole, place), element)

        value = combined(b, ranges, element, combine, identity, tap)
        if mean:
            number: Index = 1
            for _, count in ranges:
                number = b.mul(number, count)
            divisor = (
                b.number(number, element)
                if isinstance(number, int)
                else convert(b, number, element)
            )
            value = divide(b, value, divisor)
        return convert(b, value, data.element)

    return relayout(Elements((*out,), data.element, compute), layout, op.data_layout())


POOLING: dict[type[Operation], Legalization] = {
    ops.AdaptiveAvgPool1dOp: adaptive_avg_pool,
    ops.AdaptiveAvgPool2dOp: adaptive_avg_pool,
    ops.AdaptiveAvgPool3dOp: adaptive_avg_pool,
    ops.AdaptiveMaxPool1dOp: adaptive_max_pool,
    ops.AdaptiveMaxPool2dOp: adaptive_max_pool,
    ops.AdaptiveMaxPool3dOp: adaptive_max_pool,
    ops.AvgPool1dOp: avg_pool,
    ops.AvgPool2dOp: avg_pool,
    ops.AvgPool3dOp: avg_pool,
    ops.GlobalAvgPool2dOp: adaptive_avg_pool,
    ops.GlobalMaxPool2dOp: adaptive_max_pool,
    ops.MaxPool1dOp: max_pool,
    ops.MaxPool2dOp: max_pool,
    ops.MaxPool3dOp: max_pool,
}
