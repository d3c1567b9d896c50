"""Operations that read and write at places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.gather import GatherNDOp, GatherOp, TakeOp
from ....dialects.relax.scatter import ScatterElementsOp, ScatterNDOp, ScatterOp
from ....dialects.relax.shapes import normalize_axis
from ....dialects.relax.strided_slice import StridedSliceOp
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from .manipulation import moved, reshaped
from .scalars import add, as_index, convert, maximum, minimum, multiply, select, signless

__all__ = ["INDEXING"]


def strided_slice(op: StridedSliceOp, _: KernelBuilder, data: Tensor) -> Tensor:
    parts = {
        axis: part.indices(data.shape[axis]) for axis, part in op.slices(len(data.shape)).items()
    }

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis, (start, _, step) in parts.items():
            place[axis] = w.add(w.mul(index[axis], step), start)
        return w.read(data, place)

    return moved(op, read)


def take(op: TakeOp, w: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    axis = 0
    if op.axis is None:
        data = reshaped(w, data, (prod(data.shape),))
    else:
        axis = normalize_axis(op.axis, len(data.shape))
    size, rank, wraps = data.shape[axis], len(indices.shape), op.mode == "wrap"

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = as_index(w, w.read(indices, index[axis : axis + rank]))
        if wraps:
            rest = w.pure(arith.RemSIOp, at, w.index(size))
            place = select(w, w.less(rest, 0), w.add(rest, size), rest)
        else:
            place = w.max(0, w.min(at, size - 1))
        return w.read(data, [*index[:axis], place, *index[axis + rank :]])

    return moved(op, read)


def place_of(w: KernelBuilder, value: SSAValue, size: int) -> Index:
    """The place that an index says, which counts from the end if it is negative."""
    at = as_index(w, value)
    return select(w, w.less(at, 0), w.add(at, size), at)


def gather(op: GatherOp, _: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        place[axis] = place_of(w, w.read(indices, index), data.shape[axis])
        return w.read(data, place)

    return moved(op, read)


def gather_nd(op: GatherNDOp, _: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    batch, (*outer, count) = op.batch_dims, indices.shape

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        where, rest = index[: len(outer)], index[len(outer) :]
        place = [
            place_of(w, w.read(indices, [*where, i]), data.shape[batch + i]) for i in range(count)
        ]
        return w.read(data, [*index[:batch], *place, *rest])

    return moved(op, read)


# Writing


def scatter_elements(
    op: ScatterElementsOp, w: KernelBuilder, data: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    axis = op.axis % len(data.shape)

    def place(w: KernelBuilder, index: Sequence[Index]) -> list[Index]:
        place = [*index]
        place[axis] = place_of(w, w.read(indices, index), data.shape[axis])
        return place

    return scattered(op, w, data, updates, place)


def scatter_nd(
    op: ScatterNDOp, w: KernelBuilder, data: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    *outer, count = indices.shape

    def place(w: KernelBuilder, index: Sequence[Index]) -> list[Index]:
        where, rest = index[: len(outer)], index[len(outer) :]
        first = [place_of(w, w.read(indices, [*where, i]), data.shape[i]) for i in range(count)]
        return [*first, *rest]

    return scattered(op, w, data, updates, place)


def scattered(
    op: ScatterOp,
    w: KernelBuilder,
    data: Tensor,
    updates: Tensor,
    place: Callable[[KernelBuilder, Sequence[Index]], list[Index]],
) -> Tensor:
    """The data with the updates taken in one after the other; shorter floats are computed in f32,
    and rounded once."""
    element = data.element
    combine = REDUCTIONS.get(op.reduction)
    if combine is not None and isinstance(signless(element), Float16Type | BFloat16Type):
        element = f32
    result = w.alloc(data.shape, element)
    with w.elements(data.shape) as index:
        w.store(convert(w, w.read(data, index), element), result, index)
    with w.loops(updates.shape) as index:
        at = place(w, index)
        value = convert(w, w.read(updates, index), element)
        if combine is not None:
            value = combine(w, w.load(result, at), value)
        w.store(value, result, at)
    buffer = Buffer(data.shape, element, result)
    if element == data.element:
        return buffer
    return Elements(
        data.shape, data.element, lambda w, index: convert(w, w.read(buffer, index), data.element)
    )


REDUCTIONS = {"add": add, "mul": multiply, "min": minimum, "max": maximum}
"""What "update" has none of."""


INDEXING: dict[type[Operation], Legalization] = {
    GatherNDOp: gather_nd,
    GatherOp: gather,
    ScatterElementsOp: scatter_elements,
    ScatterNDOp: scatter_nd,
    StridedSliceOp: strided_slice,
    TakeOp: take,
}
