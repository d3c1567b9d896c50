"""The data of convolutions: padded, and with strided dimensions split into their phases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from xdsl.ir import SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, KernelBuilder, Tensor

__all__ = ["split_phases", "spread_out"]


def split_phases(b: KernelBuilder, data: Tensor, windows: Sequence[Window]) -> Tensor:
    """Return the data (NC...) padded, each spatial dimension of stride s split into s phases.

    The result has the dimensions batch, channels, phases, quotients: position p is in phase p % s
    at p // s. The elements that adjacent windows read at one tap are then contiguous:

        stride 2, padding 1, data a b c d:    phase 0: 0 b d    phase 1: a c
    """
    images, channels, *extents = data.shape
    phases = [min(window.stride, window.span) for window in windows]
    counts = [window.count(n) for window, n in zip(windows, extents, strict=True)]
    sizes = [
        count + (window.span - 1) // window.stride
        for window, count in zip(windows, counts, strict=True)
    ]
    shape = (images, channels, *phases, *sizes)
    if all(window.before == 0 and window.stride == 1 for window in windows) and sizes == [*extents]:
        return b.reshaped(data, shape)
    result = b.alloc(shape, data.element)
    ranges = [
        [element_range(window, phase, n, size) for phase in range(count)]
        for window, n, size, count in zip(windows, extents, sizes, phases, strict=True)
    ]
    if any(r != (0, size) for rs, size in zip(ranges, sizes, strict=True) for r in rs):
        b.fill(result, shape, data.element)
    with b.loops((images, channels)) as outer:
        for phase in product(*(range(count) for count in phases)):
            copy_phase(
                b, data, result, windows, outer, phase, [r[p] for r, p in zip(ranges, phase)]
            )
    return Buffer(shape, data.element, result)


def element_range(window: Window, phase: int, extent: int, size: int) -> tuple[int, int]:
    """Return the range of quotients below `size` at which a phase has elements, not padding."""
    low = -((phase - window.before) // window.stride)
    high = -((phase - window.before - extent) // window.stride)
    return max(0, low), min(size, high)


def copy_phase(
    b: KernelBuilder,
    data: Tensor,
    result: SSAValue,
    windows: Sequence[Window],
    outer: Sequence[Index],
    phase: Sequence[int],
    ranges: Sequence[tuple[int, int]],
) -> None:
    """Write loops that copy the elements of `phase`, at the quotients `ranges`."""
    if any(low >= high for low, high in ranges):
        return
    lanes = b.lanes if windows[-1].stride == 1 else 1
    with b.elements([high - low for low, high in ranges], lanes) as index:
        places = [b.add(i, low) for i, (low, _) in zip(index, ranges, strict=True)]
        source = [
            b.add(b.mul(place, window.stride), p - window.before)
            for place, window, p in zip(places, windows, phase, strict=True)
        ]
        b.store(b.read(data, [*outer, *source]), result, [*outer, *phase, *places])


def spread_out(
    b: KernelBuilder, data: Tensor, windows: Sequence[Window], out: Sequence[int]
) -> Tensor:
    """Return the data of a transposed convolution for a plain one: `stride - 1` zeros between the
    elements, and zeros around them, so that windows at the positions `out` stay inside."""
    shape = (*data.shape[:2], *(n + v.span - 1 for n, v in zip(out, windows, strict=True)))
    result = b.alloc(shape, data.element)
    b.fill(result, shape, data.element)
    starts = [v.span - 1 - v.before for v in windows]
    columns = zip(data.shape[2:], windows, starts, shape[2:], strict=True)
    ranges = [
        (max(0, -(start // v.stride)), min(extent, -(-(size - start) // v.stride)))
        for extent, v, start, size in columns
    ]
    with b.loops([*data.shape[:2], *(max(0, high - low) for low, high in ranges)]) as index:
        image, channel, *inner_index = index
        source = [b.add(i, low) for i, (low, _) in zip(inner_index, ranges, strict=True)]
        place = [
            b.add(b.mul(i, v.stride), start)
            for i, v, start in zip(source, windows, starts, strict=True)
        ]
        b.store(b.read(data, [image, channel, *source]), result, [image, channel, *place])
    return Buffer(shape, data.element, result)
