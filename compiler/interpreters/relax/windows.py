"""Semantics of operations on sliding windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ....dialects.relax import windows as ops
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows import Window
from ..arrays import Array, bounds, check_size, element_of, mean_of, widen
from .array_functions import Semantics
from .control import relayout
from .elementwise import divide

# Sliding windows over arrays whose first two dimensions are batch and channels.


def window_counts(array: Array, windows: Sequence[Window]) -> tuple[int, ...]:
    """Return the number of windows along each spatial dimension of an unpadded array."""
    return tuple(w.count(n) for w, n in zip(windows, array.shape[2:], strict=True))


def pad_to_windows(array: Array, windows: Sequence[Window], value: float) -> Array:
    """Return the array padded with `value` as far as the windows reach.

    The array itself, without a copy, if no padding is needed.
    """
    sizes = array.shape[2:]
    covers = [w.covered(w.count(n)) for w, n in zip(windows, sizes, strict=True)]
    if all(w.before == 0 and c <= n for w, n, c in zip(windows, sizes, covers, strict=True)):
        return array
    check_size((*array.shape[:2], *covers))
    result = np.full((*array.shape[:2], *covers), value, array.dtype)
    inside = tuple(slice(w.before, w.before + n) for w, n in zip(windows, sizes, strict=True))
    kept = tuple(slice(max(0, c - w.before)) for w, c in zip(windows, covers, strict=True))
    result[..., *inside] = array[..., *kept]
    return result


def sliding_windows(array: Array, windows: Sequence[Window]) -> Array:
    """Return a view of the windows of a padded array.

    The elements of a window run along the dimensions from 2 on, the windows along the last ones.
    """
    axes = range(2, array.ndim)
    view = sliding_window_view(array, [w.span for w in windows], axis=tuple(axes))
    strides = (slice(None, None, w.stride) for w in windows)
    dilation = (slice(None, None, w.dilation) for w in windows)
    view = view[:, :, *strides, *dilation]
    return view.transpose(0, 1, *(axis + len(windows) for axis in axes), *axes)


def tap(window: Window, index: int, count: int) -> slice:
    """Return the positions of element `index` of each of `count` windows along a padded
    dimension (a tap, as in a filter)."""
    first = index * window.dilation
    return slice(first, first + (count - 1) * window.stride + 1, window.stride)


# Semantics of pooling, one dimension after the other: a maximum of maxima, a sum of sums.


def max_pool(op: ops.MaxPoolOp, data: Array) -> Array:
    layout, out_layout = op.layouts()
    plain = Layout.parse("NC" + op.SPATIAL)
    data = relayout(data, layout, plain)
    result = _reduce(np.maximum, data, op.pool_windows(), bounds(element_of(op.result.type))[0])
    return relayout(result, plain, out_layout)


def avg_pool(op: ops.AvgPoolOp, data: Array) -> Array:
    layout, out_layout = op.layouts()
    plain = Layout.parse("NC" + op.SPATIAL)
    data = widen(relayout(data, layout, plain))
    windows = op.pool_windows()
    sums = _reduce(np.add, data, windows, 0)
    divisors = np.ones((), data.dtype)
    for window, extent in zip(windows, data.shape[2:], strict=True):
        counted = _counted(window, extent, padding=op.count_include_pad)
        divisors = divisors[..., None] * counted.astype(data.dtype)
    # A window that lies in the padding counts no elements: divided by 1, its mean is 0.
    return relayout(divide(sums, np.maximum(divisors, 1)), plain, out_layout)


def _reduce(
    function: Callable[..., Array], data: Array, windows: Sequence[Window], identity: float
) -> Array:
    """Return the reduction of each window by `function`, with padding of its `identity`."""
    out = window_counts(data, windows)
    result = pad_to_windows(data, windows, identity)
    for axis, (window, count) in enumerate(zip(windows, out, strict=True), 2):
        before = (slice(None),) * axis
        taps = [result[*before, tap(window, i, count)] for i in range(window.size)]
        if len(taps) == 1:
            result = taps[0]
            continue
        result = function(taps[0], taps[1])
        for other in taps[2:]:
            function(result, other, out=result)
    return result


def _counted(window: Window, extent: int, padding: bool) -> Array:
    """Return the number of elements in each window along a dimension, with or without `padding`."""
    count = window.count(extent)
    first = np.arange(count)[:, None] * window.stride - window.before
    places = first + np.arange(window.size) * window.dilation
    before, after = (window.before, window.after) if padding else (0, 0)
    return ((places >= -before) & (places < extent + after)).sum(axis=1)


def adaptive_max_pool(op: ops.AdaptivePoolOp, data: Array) -> Array:
    minimum = bounds(element_of(op.result.type))[0]
    return _adaptive(op, data, partial(np.max, initial=minimum))


def adaptive_avg_pool(op: ops.AdaptivePoolOp, data: Array) -> Array:
    if data.dtype.kind == "f":
        return _adaptive(op, widen(data), mean_of)
    sums = _adaptive(op, widen(data), np.sum)
    return divide(sums, _adaptive(op, np.ones(data.shape, np.int64), np.sum))


def _adaptive(op: ops.AdaptivePoolOp, data: Array, reduce: Callable[..., Array]) -> Array:
    """Return the reduction of each range of `data` by `reduce`, as numpy's reductions."""
    layout, plain = op.data_layout(), Layout.parse("NC" + op.SPATIAL)
    data = relayout(data, layout, plain)
    sizes = op.output_sizes()
    if prod(sizes) == 1:
        result = reduce(data, axis=tuple(range(2, data.ndim)), keepdims=True)
        return relayout(result, plain, layout)
    for axis, size in enumerate(sizes, 2):
        extent = data.shape[axis]
        before = (slice(None),) * axis
        ranges = [slice(i * extent // size, -(-(i + 1) * extent // size)) for i in range(size)]
        parts = [reduce(data[*before, r], axis=axis, keepdims=True) for r in ranges]
        data = np.concatenate(parts, axis)
    return relayout(data, plain, layout)


POOLING: Semantics = {
    ops.MaxPool1dOp: max_pool,
    ops.MaxPool2dOp: max_pool,
    ops.MaxPool3dOp: max_pool,
    ops.AvgPool1dOp: avg_pool,
    ops.AvgPool2dOp: avg_pool,
    ops.AvgPool3dOp: avg_pool,
    ops.AdaptiveMaxPool1dOp: adaptive_max_pool,
    ops.AdaptiveMaxPool2dOp: adaptive_max_pool,
    ops.AdaptiveMaxPool3dOp: adaptive_max_pool,
    ops.AdaptiveAvgPool1dOp: adaptive_avg_pool,
    ops.AdaptiveAvgPool2dOp: adaptive_avg_pool,
    ops.AdaptiveAvgPool3dOp: adaptive_avg_pool,
    ops.GlobalMaxPool2dOp: adaptive_max_pool,
    ops.GlobalAvgPool2dOp: adaptive_avg_pool,
}
