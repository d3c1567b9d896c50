"""Legalizations of pooling.

If windows extend along the last axis, the result is computed by rows (`Pooled`). If not, vectors
contain elements of several windows, and the data is padded in a buffer first, so that windows need
no conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import windows as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ....dialects.tir.ops import ForKind
from ..builder import Elements, KernelBuilder, Legalization, Scheduled, Store, Tensor
from ..merged_dimensions import is_global
from ..reduction.reduction import mean, whole_maximum
from ..scalars import add, convert, divide, is_float, maximum, minimum_of, multiply, wide_type
from ..tensors import relayout
from .phases import count_of, covered, fits, inner_places, padded, require_windows, taps_before
from .pooled import Pooled, Pooling, Taps, combined

# Pooling of images whose extents are known at run time only, row by row.


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
        # The kernel computes the sizes. They may be 0, which must not become a divisor.
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


def max_pool(op: ops.MaxPoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, out_layout = op.layouts()
    data, layout = whole_dimensions(data, layout, op.SPATIAL)
    windows = {layout.axes.index(window.axis): window for window in op.pool_windows()}
    for axis, window in windows.items():
        require_windows(op, b, window, data.shape[axis])
    pooling = Pooling(data.element, maximum, minimum_of(data.element))
    return in_layout(b, pool(b, data, windows, pooling), layout, out_layout)


def avg_pool(op: ops.AvgPoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, out_layout = op.layouts()
    data, layout = whole_dimensions(data, layout, op.SPATIAL)
    windows = {layout.axes.index(window.axis): window for window in op.pool_windows()}
    for axis, window in windows.items():
        require_windows(op, b, window, data.shape[axis])
    wide, padding = wide_type(data.element), op.count_include_pad
    divisors = [
        (axis, *counted(b, window, data.shape[axis], padding, wide))
        for axis, window in windows.items()
    ]
    # The elements of a window are a box, so their number is a product over the axes: a table for
    # each axis of a few numbers, not one of all windows. 3x3, padding 1 and 4x4 elements:
    #
    #     along each axis: 2 3 3 2        windows at the corner 4, at an edge 6, inside 9
    fixed = volume(numbers[0] for _, numbers, table in divisors if table is None)
    tables = [(axis, table) for axis, _, table in divisors if table is not None]
    some_empty = any(0 in numbers for _, numbers, _ in divisors)

    def mean(b: KernelBuilder, index: Sequence[Index], total: SSAValue) -> SSAValue:
        divisor = b.number(max(fixed, 1), wide)
        for axis, table in tables:
            divisor = multiply(b, divisor, b.read(table, [index[axis]]))
        if some_empty:  # a window on padding only: avoid division by 0
            divisor = maximum(b, divisor, b.number(1, wide))
        if tables or fixed != 1:
            total = divide(b, total, divisor)
        return convert(b, total, data.element)

    pooling = Pooling(wide, add, 0, mean)
    return in_layout(b, pool(b, data, windows, pooling), layout, out_layout)


def in_layout(b: KernelBuilder, tensor: Tensor, src: Layout, dst: Layout) -> Tensor:
    """Return the result of pooling, of layout `src`, in layout `dst`."""
    if src.text != dst.text and isinstance(tensor, Scheduled):
        tensor = b.buffered(tensor)
    return relayout(tensor, src, dst)


def whole_dimensions(data: Tensor, layout: Layout, spatial: str) -> tuple[Tensor, Layout]:
    """Return the data in a layout that does not split spatial axes, and that layout."""
    if not any(axis.lower() in layout.factors for axis in spatial):
        return data, layout
    plain = Layout.parse("NC" + spatial)
    return relayout(data, layout, plain), plain


def pool(b: KernelBuilder, data: Tensor, windows: Mapping[int, Window], pooling: Pooling) -> Tensor:
    """Combine the elements of each window; `windows` are by axis."""
    out = [*data.shape]
    for axis, window in windows.items():
        out[axis] = count_of(b, window, data.shape[axis])
    if is_whole(data.shape, out, windows):
        return whole(b, data, (*out,), pooling)
    # Windows that overlap read elements several times: without a buffer each read would compute the
    # operations before the pooling again.
    if any(window.span > window.stride for window in windows.values()):
        data = b.buffered(data)
    if len(out) - 1 in windows:
        is_known = all(isinstance(data.shape[axis], int) for axis in windows)
        rows = Pooled if is_known else UnknownPooled
        return rows((*out,), data.element, data, windows, pooling)
    source = padded(b, data, windows, pooling.identity)

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def tap(b: KernelBuilder, taps: Sequence[Index]) -> SSAValue:
            place = [*index]
            for (axis, window), i in zip(windows.items(), taps, strict=True):
                place[axis] = index[axis] * window.stride + i * window.dilation
            return convert(b, b.read(source, place), pooling.element)

        sizes = [(0, window.size) for window in windows.values()]
        return pooling.finish(b, index, combined(b, sizes, pooling, tap))

    return Elements((*out,), data.element, compute)


def is_whole(shape: Shape, out: Sequence[Extent], windows: Mapping[int, Window]) -> bool:
    """Return whether the windows are on the last axes only, and a window covers each of them: the
    result is one element for each index along the other axes."""
    axes = range(len(shape) - len(windows), len(shape))
    return {*windows} == {*axes} and all(
        out[axis] == 1 and (window.before, window.size, window.dilation) == (0, shape[axis], 1)
        for axis, window in windows.items()
    )


def whole(b: KernelBuilder, data: Tensor, out: Shape, pooling: Pooling) -> Tensor:
    """Combine all elements along the last axes: those whose extent in `out` is 1."""
    axes = len(out)
    while axes and out[axes - 1] == 1:
        axes -= 1
    outer = out[:axes]
    source = b.reshaped(data, (*outer, volume(data.shape[axes:])))

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def element(i: Sequence[Index]) -> SSAValue:
            return convert(b, b.read(source, [*index[:axes], *i]), pooling.element)

        value = b.fold(
            source.shape[axes:],
            b.number(pooling.identity, pooling.element),
            lambda _, x, y: pooling.combine(b, x, y),
            element,
            contiguous=True,
        )
        return pooling.finish(b, index, value)

    return Elements(out, data.element, compute)


def counted(
    b: KernelBuilder, window: Window, extent: Extent, padding: bool, element: Attribute
) -> tuple[list[int], Tensor | None]:
    """Return the numbers of elements of windows along a dimension, including padding elements if
    `padding`; and a tensor of the number of each window, None if they are equal. If the extent is
    not known, and windows may not be full, the number is 0, as a window may be empty."""
    low, high = (-window.before, extent + window.after) if padding else (0, extent)
    count = count_of(b, window, extent)

    def number(place: int) -> int:
        first = place * window.stride - window.before
        return sum(low <= first + i * window.dilation < high for i in range(window.size))

    if isinstance(count, int):
        assert isinstance(low, int) and isinstance(high, int)
        inner = inner_places(window, low, high, count)
        numbers = [number(place) for place in range(inner.start)]
        numbers += [window.size] * bool(inner)  # all the same
        numbers += [number(place) for place in range(inner.stop, count)]
    else:
        is_full = fits(b, window, extent) or (padding and not window.ceil)
        numbers = [window.size if is_full else 0]
    if len({*numbers}) == 1 and 0 not in numbers[: not isinstance(count, int)]:
        return numbers, None

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        # The number of taps before the upper bound minus the number before the lower one: no loop
        # over taps.
        first = index[0] * window.stride
        until_high, until_low = (
            taps_before(b, window, bound + window.before - first) for bound in (high, low)
        )
        return convert(b, b.index(until_high - until_low), element)

    table = Elements((count,), element, compute)
    return numbers, table if b.target.is_cuda else b.buffered(table)


# Adaptive pooling: ranges that cover a dimension


def adaptive_max_pool(op: ops.AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    if is_global(op):
        return whole_maximum(op, b, data)
    return adaptive(op, b, data, Pooling(data.element, maximum, minimum_of(data.element)))


def adaptive_avg_pool(op: ops.AdaptivePoolOp, b: KernelBuilder, data: Tensor) -> Tensor:
    if is_global(op):
        return mean(op, b, data)
    return adaptive(op, b, data, Pooling(wide_type(data.element), add, 0), mean=True)


def adaptive(
    op: ops.AdaptivePoolOp,
    b: KernelBuilder,
    data: Tensor,
    pooling: Pooling,
    *,
    mean: bool = False,
) -> Tensor:
    """Combine the elements of each range; divide the result by their number if `mean`."""
    source, layout = whole_dimensions(data, op.data_layout(), op.SPATIAL)
    axes = [layout.axes.index(axis) for axis in op.SPATIAL]
    out = [*source.shape]
    for axis, size in zip(axes, op.output_sizes(), strict=True):
        out[axis] = size

    def finish(b: KernelBuilder, value: SSAValue, number: Index) -> SSAValue:
        if mean:
            value = divide(b, value, b.number(number, pooling.element))
        return convert(b, value, data.element)

    sizes = [source.shape[axis] for axis in axes]
    steps = {
        axis: size // n
        for axis, size, n in zip(axes, sizes, op.output_sizes(), strict=True)
        if isinstance(size, int)
    }
    if all(0 < steps.get(axis, 0) * out[axis] == source.shape[axis] for axis in axes):

        def finish_window(b: KernelBuilder, _: Sequence[Index], value: SSAValue) -> SSAValue:
            return finish(b, value, volume(steps.values()))

        windows = {axis: Window(layout.axes[axis], n, n, 1, 0, 0) for axis, n in steps.items()}
        result = pool(b, source, windows, replace(pooling, finish=finish_window))
        return in_layout(b, result, layout, op.data_layout())

    def bounds(b: KernelBuilder, axis: int, place: Index) -> tuple[Index, Index]:
        """Return the start and the extent of range `place` along `axis`."""
        # Range i is floor(i * extent / size) to ceil((i + 1) * extent / size), as in PyTorch and
        # TVM: for 5 elements and 3 ranges 0-1, 1-3 and 3-4. Ranges overlap, and differ in length,
        # unless the size divides the extent, which is pooling with windows (above).
        extent, size = source.shape[axis], out[axis]
        begin = place * extent
        first = b.floordiv(begin, size)
        return first, b.floordiv(begin + (extent + (size - 1)), size) - first

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        ranges = [bounds(b, axis, index[axis]) for axis in axes]

        def tap(b: KernelBuilder, places: Sequence[Index]) -> SSAValue:
            place = [*index]
            for axis, i in zip(axes, places, strict=True):
                place[axis] = i
            return convert(b, b.read(source, place), pooling.element)

        number: Index = 1
        if is_float(data.element) or not any(source.shape[axis] == 0 for axis in axes):
            for _, count in ranges:
                number = number * count
        # The integer mean of no elements is their sum, 0: there is no division by 0.
        return finish(b, combined(b, ranges, pooling, tap), number)

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
