"""Sliding windows over arrays whose first two dimensions are batch and channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .....dialects.relax.windows.windows import Window
from ...arrays import Array, check_size

__all__ = ["pad_to_windows", "sliding_windows", "tap", "window_counts"]


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
