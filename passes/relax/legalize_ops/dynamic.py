"""Legalizations of operations whose parameters are operands: kernels read them at run time.

The sizes of the result are those of its buffer, which callers compute (`size_rules`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.relax.dynamic.broadcast import DynamicBroadcastToOp, DynamicExpandOp
from ....dialects.relax.dynamic.creation import DynamicFullOp
from ....dialects.relax.dynamic.reshape import DynamicReshapeOp
from ....dialects.relax.dynamic.slice import DynamicStridedSliceOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, Shape
from .broadcast import require_broadcast
from .kernel_builder import KernelBuilder, Legalization, Tensor, broadcast_index
from .manipulation import moved, reshape
from .no_kernel import NoKernel
from .scalars import as_index, select

__all__ = ["DYNAMIC", "constant_parameter"]


def constant_parameter(op: Operation, b: KernelBuilder, value: SSAValue, name: str) -> list[int]:
    """Return the integers of a parameter of `op`, the same constant in each call."""
    rows = {tuple(array.ravel().tolist()) for array in b.elements_of(value)}
    if len(rows) != 1:
        raise NoKernel(f"the {name} of '{op.name}' are not constant")
    return [*rows.pop()]


def reshape_to(op: DynamicReshapeOp, b: KernelBuilder, data: Tensor, _: Tensor) -> Tensor:
    return reshape(op, b, data)


def broadcast_to(op: Operation, b: KernelBuilder, data: Tensor, _: Tensor) -> Tensor:
    shape = b.shape_of(op.results[0])
    require_broadcast(op, b, data.shape, shape)
    return moved(op, b, lambda b, index: b.read(data, broadcast_index(b, index, data.shape, shape)))


def full(op: DynamicFullOp, b: KernelBuilder, value: Tensor, _: Tensor) -> Tensor:
    zeros: list[Index] = [0] * len(value.shape)
    return moved(op, b, lambda b, _: b.read(value, zeros))


def strided_slice(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    data: Tensor,
    begin: Tensor,
    end: Tensor,
    axes: Tensor,
    strides: Tensor,
) -> Tensor:
    rank = len(data.shape)
    numbers = normalize_axes(constant_parameter(op, b, op.axes, "axes"), rank)
    steps = constant_parameter(op, b, op.strides, "strides")
    parts = {
        axis: (first_of(b, begin, i, step, data.shape[axis]), step)
        for i, (axis, step) in enumerate(zip(numbers, steps, strict=True))
    }
    require_inside(op, b, data.shape, parts)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis, (first, step) in parts.items():
            place[axis] = b.add(b.mul(index[axis], step), first)
        return b.read(data, place)

    return moved(op, b, read)


def first_of(b: KernelBuilder, begin: Tensor, i: int, step: int, size: Extent) -> Index:
    """Return the position of the first element of a slice of a dimension, as Python clips it."""
    start = as_index(b, b.read(begin, [i] * len(begin.shape)))
    start = select(b, b.less(start, 0), b.index(b.add(start, size)), start)
    low, high = (0, size) if step > 0 else (-1, b.sub(size, 1))
    return b.max(low, b.min(start, high))


def require_inside(
    op: DynamicStridedSliceOp,
    b: KernelBuilder,
    shape: Shape,
    parts: dict[int, tuple[Index, int]],
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


DYNAMIC: dict[type[Operation], Legalization] = {
    DynamicBroadcastToOp: broadcast_to,
    DynamicExpandOp: broadcast_to,
    DynamicFullOp: full,
    DynamicReshapeOp: reshape_to,
    DynamicStridedSliceOp: strided_slice,
}
