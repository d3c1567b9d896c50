"""Data with as much padding in memory as windows reach, so that they need no conditions."""

from __future__ import annotations

from collections.abc import Mapping

from ....dialects.relax.windows.windows import Window
from ..builder import KernelBuilder, Tensor
from .counts import count_of, covered, fits
from .phases import PhaseGroup, fill_borders, with_margin

__all__ = ["padded"]


def padded(
    b: KernelBuilder,
    data: Tensor,
    windows: Mapping[int, Window],
    value: float = 0,
    margin: int = 0,
) -> Tensor:
    """Return the data with padding of `value` as far as windows reach, or the data itself if they
    do not reach beyond it. `windows` are by axis. A copy has `margin` elements after it."""
    shape, before, kept = [*data.shape], [0] * len(data.shape), [*data.shape]
    for axis, window in windows.items():
        extent = data.shape[axis]
        if fits(b, window, extent):
            continue
        reach = covered(window, count_of(b, window, extent))
        shape[axis], before[axis] = reach, window.before
        kept[axis] = b.larger(0, b.smaller(extent, reach - window.before))
    if (*shape,) == data.shape and not any(before):
        return data
    result, tensor = with_margin(b, (*shape,), data.element, margin)
    ends = [n + first for n, first in zip(kept, before, strict=True)]
    # The borders of `split_phases` with one phase: filled first, and the data copied between them.
    # Elements that no window reaches are not copied: the last of 5, of one tap, stride 2 and
    # padding 1 before.
    inner = [[PhaseGroup(0, 1, *ends)] for ends in zip(before, ends, strict=True)]
    fill_borders(b, result, (*shape,), data.element, inner, value)
    with b.elements(kept, b.lanes) as index:
        place = [i + first for i, first in zip(index, before, strict=True)]
        b.store(b.read(data, index), result, place)
    return tensor
