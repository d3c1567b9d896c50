"""Arrays that windows slide over: their first two dimensions are batch and channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...dialects.relax.windows import Window
from ..arrays import Array

__all__ = ["covered", "counts", "slide", "tap"]


def counts(array: Array, windows: Sequence[Window]) -> tuple[int, ...]:
    """How many windows there are along each spatial dimension of an array without its padding."""
    return tuple(w.count(n) for w, n in zip(windows, array.shape[2:], strict=True))


def covered(array: Array, windows: Sequence[Window], value: float) -> Array:
    """The array with as much padding of that value as its windows reach into: itself if none."""
    sizes = array.shape[2:]
    covers = [w.covered(w.count(n)) for w, n in zip(windows, sizes, strict=True)]
    if all(w.before == 0 and c <= n for w, n, c in zip(windows, sizes, covers, strict=True)):
        return array
    result = np.full((*array.shape[:2], *covers), value, array.dtype)
    inside = tuple(slice(w.before, w.before + n) for w, n in zip(windows, sizes, strict=True))
    kept = tuple(slice(max(0, c - w.before)) for w, c in zip(windows, covers, strict=True))
    result[..., *inside] = array[..., *kept]
    return result


def slide(array: Array, windows: Sequence[Window]) -> Array:
    """What each window covers of an array with its padding, a view: the elements of a window along
    dimensions 2 and on, the windows along the last ones."""
    axes = range(2, array.ndim)
    view = sliding_window_view(array, [w.span for w in windows], axis=tuple(axes))
    strides = (slice(None, None, w.stride) for w in windows)
    dilation = (slice(None, None, w.dilation) for w in windows)
    view = view[:, :, *strides, *dilation]
    return view.transpose(0, 1, *(axis + len(windows) for axis in axes), *axes)


def tap(window: Window, index: int, count: int) -> slice:
    """The elements at one index of each of the windows along a dimension with its padding."""
    first = index * window.dilation
    return slice(first, first + (count - 1) * window.stride + 1, window.stride)
