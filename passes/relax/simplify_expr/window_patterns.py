"""Rewrite patterns of operations on windows, for `simplify-expr`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects.relax.attributes import properties_of
from ....dialects.relax.contraction.convolution import ForwardConvolutionOp
from ....dialects.relax.types import is_element, static_shape, tensor_type
from ....dialects.relax.windows.windows import Window
from ....passmanager.fast.rewriting.worklist import actions_of

__all__ = ["RemoveTaps"]


class RemoveTaps(RewritePattern):
    """Remove the first and the last taps of a convolution if they read padding alone, at all
    positions of the window.

    Over 16 columns, the 3 taps of a window with dilation 36 and padding 36 read columns -36 to -21,
    0 to 15 and 36 to 51: only the one in the middle is kept, and no padding.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForwardConvolutionOp, rewriter: PatternRewriter, /) -> None:
        shape, weight = static_shape(op.data.type), static_shape(op.weight.type)
        if shape is None or weight is None:
            return
        data_layout, kernel_layout, _ = op.layouts()
        extents, sizes = data_layout.extents(shape), kernel_layout.extents(weight)
        windows = op.windows([sizes[axis] for axis in op.SPATIAL])
        ranges = [read_taps(window, extents[window.axis]) for window in windows]
        kept = [reduced(w, taps) for w, taps in zip(windows, ranges, strict=True)]
        # A single window of 2 taps with dilation 3, after 2 elements of padding, reads elements -2
        # and 1. With its last tap alone it would need a padding of -1.
        if any(window.before < 0 or window.after < 0 for window in kept) or kept == windows:
            return
        axes = [kernel_layout.axes.index(axis) for axis in op.SPATIAL]
        part = finite_part(op.weight, dict(zip(axes, ranges, strict=True)))
        if part is None:
            return
        actions_of(rewriter).passed(op, "Removed", "taps that read padding alone are removed")
        padding = [*(w.before for w in kept), *(w.after for w in kept)]
        new = type(op).create(
            operands=[op.data, part.results[0]],
            result_types=op.result_types,
            properties=op.properties | properties_of(type(op), {"padding": padding}),
            attributes=op.attributes,
        )
        rewriter.replace(op, [part, new])


def finite_part(value: SSAValue, ranges: Mapping[int, range]) -> Operation | None:
    """Return a constant with the elements of `value` in the ranges of some of its dimensions.

    None if `value` is not a constant of finite numbers: a removed tap would have made NaN of
    padding times infinity.
    """
    import numpy as np

    from ...constants.arrays import Known, constant_of, known

    if (given := known(value)) is None or not np.isfinite(given.array).all():
        return None
    places = [ranges.get(axis, range(n)) for axis, n in enumerate(given.shape)]
    array = given.array
    if array.ndim:  # a fill has rank 0
        array = array[tuple(slice(place.start, place.stop) for place in places)]
    element = tensor_type(value).element_type
    assert is_element(element)
    return constant_of(Known(array, tuple(map(len, places))), element)


def read_taps(window: Window, extent: int) -> range:
    """Return the taps from the first to the last one that reads an element of a dimension; all of
    them if none does."""
    count = window.count(extent)
    taps = [tap for tap in range(window.size) if reads_element(window, tap, count, extent)]
    return range(taps[0], taps[-1] + 1) if taps else range(window.size)


def reads_element(window: Window, tap: int, count: int, extent: int) -> bool:
    """Return whether one of `count` windows reads an element of the dimension at a tap."""
    first = tap * window.dilation - window.before
    steps = max(0, -(first // window.stride))  # to the first place that is not before the elements
    return steps < count and first + steps * window.stride < extent


def reduced(window: Window, taps: range) -> Window:
    """Return a window of some of the taps, at the same places."""
    before = window.before - taps.start * window.dilation
    after = window.after - (window.size - taps.stop) * window.dilation
    return replace(window, size=len(taps), before=before, after=after)
