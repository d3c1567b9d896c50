"""The numbers of windows over dimensions. Some extents are known at run time only."""

from __future__ import annotations

from xdsl.ir import Operation

from ....dialects.relax.windows.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, is_at_most
from ..builder import KernelBuilder

__all__ = ["count_of", "covered", "fits", "inner_places", "require_windows", "taps_before"]


def count_of(b: KernelBuilder, window: Window, extent: Extent) -> Extent:
    """Return the number of windows over a dimension; see `Window.count`."""
    if isinstance(extent, int):
        return window.count(extent)
    room = extent + window.before + window.after - window.span
    if not window.ceil:
        return room // window.stride + 1
    # The rule of ONNX and PyTorch: a window that begins in the padding after the data does not
    # count. 2 taps, stride 3, padding 1 and 4 elements: windows begin at -1, 2 and 5, and the third
    # is none.
    count = (room + window.stride - 1) // window.stride + 1
    first_beyond = (extent + window.before + window.stride - 1) // window.stride
    return b.smaller(count, first_beyond)


def covered(window: Window, count: Extent) -> Extent:
    """Return the number of positions that `count` windows cover."""
    return (count - 1) * window.stride + window.span


def taps_before(b: KernelBuilder, window: Window, distance: Index) -> Index:
    """Return how many taps of a window come before the position that is `distance` elements after
    the first tap."""
    # Of taps at 0 2 4 (dilation 2), two come before 3, none before -1, and all before 9.
    room = b.max(distance, 0)
    return b.min((room + (window.dilation - 1)) // window.dilation, window.size)


def fits(b: KernelBuilder, window: Window, extent: Extent) -> bool:
    """Return whether no window reaches into the padding, for all extents that an unknown one may
    be."""
    if isinstance(extent, int):
        return window.before == 0 and window.covered(window.count(extent)) <= extent
    # With padding after the data only, windows may still fit for some extents (stride 2, 3 taps and
    # an odd extent), but not for all.
    return window.before == window.after == 0 and not window.ceil


def inner_places(window: Window, low: int, high: int, count: int) -> range:
    """Return which of `count` windows are inside of the positions from `low` to `high`, excluded;
    an empty range between all others if none is."""
    first = min(max(-(-(low + window.before) // window.stride), 0), count)
    end = (high + window.before - window.span) // window.stride + 1
    return range(first, max(min(end, count), first))


def require_windows(op: Operation, b: KernelBuilder, window: Window, extent: Extent) -> None:
    """Assert that one window fits into a padded dimension of unknown extent."""
    padded = extent + window.before + window.after
    if isinstance(extent, int) or is_at_most(window.span, padded):
        return
    condition = b.less(window.span - 1, padded)
    b.require(condition, f"{op.name}: the data is smaller than a window", op)
