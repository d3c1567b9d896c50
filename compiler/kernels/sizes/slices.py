"""The legalization of slices whose bounds are operands; axes and strides may be, too."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.relax.dynamic.manipulation import DynamicStridedSliceOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Shape
from ..builder import KernelBuilder, Tensor
from ..data.indexing import first_of
from ..data.manipulation import Part, sliced
from ..scalars import select
from .parameters import constant_parameter, is_axis, parameters, require_axes

__all__ = ["strided_slice"]


def strided_slice(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    data: Tensor,
    begin: Tensor,
    end: Tensor,
    axes: Tensor,
    strides: Tensor,
) -> Tensor:
    known, steps = constant_parameter(op, b, op.axes), constant_parameter(op, b, op.strides)
    begins = parameters(b, begin)
    if known is not None and steps is not None:
        rows = zip(normalize_axes(known, len(data.shape)), begins, steps, strict=True)
        parts: dict[int, Part] = {
            axis: (first_of(b, start, step, data.shape[axis]), step) for axis, start, step in rows
        }
    else:
        parts = parts_along(op, b, data.shape, parameters(b, axes), begins, parameters(b, strides))
    require_inside(op, b, data.shape, parts)
    return sliced(op, b, data, parts)


def parts_along(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    axes: Sequence[Index],
    begins: Sequence[Index],
    steps: Sequence[Index],
) -> dict[int, Part]:
    """Return the part of each dimension, for axes and steps that are not known."""
    rank = len(shape)
    require_axes(op, b, axes, rank)
    for step in steps:
        b.require(b.negation(b.equal(step, 0)), f"{op.name}: a stride is 0", op)
    parts: dict[int, Part] = {}
    for axis, size in enumerate(shape):
        first: Index = 0
        by: Index = 1
        for place, begin, step in zip(axes, begins, steps, strict=True):
            along = is_axis(b, place, axis, rank)
            # `axes` has each dimension once at most, so at most one of these selects changes it.
            first = b.select(along, first_of(b, begin, step, size), first)
            by = b.select(along, step, by)
        parts[axis] = first, by
    return parts


def require_inside(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    parts: dict[int, Part],
) -> None:
    """Assert that the buffer of the result has no more elements than the slice."""
    result = b.shape_of(op.result)
    for axis, (first, step) in parts.items():
        # Callers compute the size by a shape rule from `end`; that the last element is inside is
        # all that memory safety needs, whatever the rule gave. `end` itself is not read.
        last = first + (result[axis] - 1) * step
        inside = b.all(b.inside_bounds(last, 0, shape[axis]))
        empty = b.equal(result[axis], 0)
        b.require(
            select(b, empty, empty, inside), f"{op.name}: the slice exceeds dimension {axis}", op
        )
