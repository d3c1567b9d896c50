"""The legalization of slices whose bounds are operands; axes and strides may be, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...dialects.relax.dynamic.manipulation import DynamicStridedSliceOp
from ...dialects.relax.shapes import normalize_axes
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, Shape
from ..builder import KernelBuilder, Tensor
from ..data.manipulation import moved
from ..scalars import select
from .parameters import constant_parameter, is_axis, parameters, require_axes

__all__ = ["strided_slice"]

Part: TypeAlias = tuple[Index, Index]
"""The position of the first element of a slice along an axis, and the step."""


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

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis, (first, step) in parts.items():
            place[axis] = b.add(b.mul(index[axis], step), first)
        return b.read(data, place)

    return moved(op, b, read)


def parts_along(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    axes: Sequence[SSAValue],
    begins: Sequence[SSAValue],
    steps: Sequence[SSAValue],
) -> dict[int, Part]:
    """Return the part of each dimension, for axes and steps that are not known."""
    rank = len(shape)
    require_axes(op, b, axes, rank)
    for step in steps:
        b.require(b.negation(b.equal(step, 0)), f"{op.name}: a stride is 0", op)
    parts: dict[int, Part] = {}
    for axis, size in enumerate(shape):
        first, by = b.index(0), b.index(1)
        for place, begin, step in zip(axes, begins, steps, strict=True):
            along = is_axis(b, place, axis, rank)
            first = select(b, along, first_of(b, begin, step, size), first)
            by = select(b, along, step, by)
        parts[axis] = first, by
    return parts


def first_of(b: KernelBuilder, start: SSAValue, step: Index, size: Extent) -> Index:
    """Return the position of the first element of a slice of a dimension, as Python clips it."""
    start = select(b, b.less(start, 0), b.index(b.add(start, size)), start)
    if isinstance(step, int):
        low, high = (0, size) if step > 0 else (-1, b.sub(size, 1))
    else:
        low = select(b, b.less(step, 0), -1, 0)
        high = b.add(low, size)
    return b.max(low, b.min(start, high))


def require_inside(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    parts: dict[int, Part],
) -> None:
    """Assert that the buffer of the result has no more elements than the slice."""
    result = b.shape_of(op.result)
    for axis, (first, step) in parts.items():
        last = b.add(first, b.mul(b.sub(result[axis], 1), step))
        inside = b.all(b.inside_bounds(last, 0, shape[axis]))
        empty = b.equal(result[axis], 0)
        b.require(
            select(b, empty, empty, inside), f"{op.name}: the slice exceeds dimension {axis}", op
        )
