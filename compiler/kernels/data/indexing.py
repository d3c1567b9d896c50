"""Legalizations of operations that read and write at computed indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32, i32, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNDOp,
    ScatterOp,
    StridedSliceOp,
    TakeOp,
)
from ....dialects.relax.shapes import normalize_axis
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, is_at_most, volume
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from ..scalars import add, as_index, computable, convert, maximum, minimum, multiply
from .bounds import check_coordinates, check_indices, require_elements
from .manipulation import Part, moved, reshaped, sliced


def first_of(b: KernelBuilder, start: Index, step: Index, size: Extent) -> Index:
    """Return the position of the first element of a slice of a dimension: `slice.indices` of
    Python."""
    if isinstance(start, int) and isinstance(step, int) and isinstance(size, int):
        return slice(start, None, step).indices(size)[0]
    if isinstance(start, int):
        start = start if start >= 0 else size + start
    else:
        start = b.select(b.less(start, 0), start + size, start)
    if isinstance(step, int):
        # For 5 elements, [9:] begins at 5 and is empty, and [9::-1] begins at 4; [-9:] begins at 0,
        # and [-9::-1] begins at -1 and is empty.
        low, high = (0, size) if step > 0 else (-1, size - 1)
    else:
        low = b.select(b.less(step, 0), -1, 0)
        high = low + size
    return b.max(low, b.min(start, high))


def strided_slice(op: StridedSliceOp, b: KernelBuilder, data: Tensor) -> Tensor:
    parts: dict[int, Part] = {
        axis: (first_of(b, part.start, part.step, data.shape[axis]), part.step or 1)
        for axis, part in op.slices(len(data.shape)).items()
    }
    return sliced(op, b, data, parts)


def take(op: TakeOp, b: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    axis = 0
    if op.axis is None:
        data = reshaped(b, data, (volume(data.shape),))
    else:
        axis = normalize_axis(op.axis, len(data.shape))
    size, rank = data.shape[axis], len(indices.shape)
    if op.mode == "raise":
        check_indices(op, b, op.indices, indices, axis, size)
    else:
        require_elements(op, b, f"axis {axis} of the data", size)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = b.read(indices, index[axis : axis + rank])
        place = TAKEN.get(op.mode, clipped)(b, at, size)
        return b.read(data, [*index[:axis], place, *index[axis + rank :]])

    return moved(op, b, read)


def place_of(b: KernelBuilder, value: SSAValue, size: Extent) -> Index:
    """Return the position of an index, which counts from the end if it is negative."""
    at = as_index(b, value)
    return b.select(b.less(at, 0), at + size, at)


def clipped(b: KernelBuilder, value: SSAValue, size: Extent) -> Index:
    """Return the position that is nearest to an index."""
    return b.max(0, b.min(as_index(b, value), size - 1))


def wrapped(b: KernelBuilder, value: SSAValue, size: Extent) -> Index:
    """Return an index modulo `size`."""
    divisor = b.max(size, 1)
    # arith.remsi has the sign of the index: for -4 and size 3 it is -1, and the position is 2. It
    # is undefined for size 0, even in a loop that does not run: it may be hoisted out of that.
    rest = b.index_of(b.pure(arith.RemSIOp, b.index(as_index(b, value)), b.index(divisor)))
    return b.select(b.less(rest, 0), rest + size, rest)


TAKEN = {"raise": place_of, "wrap": wrapped}
"""Mode of `take` -> the function that turns an index into a position; `clipped` in other modes."""


def gather(op: GatherOp, b: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    check_indices(op, b, op.indices, indices, axis, data.shape[axis])

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        place[axis] = place_of(b, b.read(indices, index), data.shape[axis])
        return b.read(data, place)

    return moved(op, b, read)


def gather_nd(op: GatherNDOp, b: KernelBuilder, data: Tensor, indices: Tensor) -> Tensor:
    batch, (*outer, count) = op.batch_dims, indices.shape
    check_coordinates(op, b, op.indices, indices, data.shape[batch : batch + count])

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        where, rest = index[: len(outer)], index[len(outer) :]
        place = [
            place_of(b, b.read(indices, [*where, i]), data.shape[batch + i]) for i in range(count)
        ]
        return b.read(data, [*index[:batch], *place, *rest])

    return moved(op, b, read)


# Scattering


def scatter_elements(
    op: ScatterElementsOp, b: KernelBuilder, data: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    axis = op.axis % len(data.shape)
    check_indices(op, b, op.indices, indices, axis, data.shape[axis])

    def place(b: KernelBuilder, index: Sequence[Index]) -> list[Index]:
        place = [*index]
        place[axis] = place_of(b, b.read(indices, index), data.shape[axis])
        return place

    return scattered(op, b, data, updates, place, [axis])


def scatter_nd(
    op: ScatterNDOp, b: KernelBuilder, data: Tensor, indices: Tensor, updates: Tensor
) -> Tensor:
    *outer, count = indices.shape
    check_coordinates(op, b, op.indices, indices, data.shape[:count])

    def place(b: KernelBuilder, index: Sequence[Index]) -> list[Index]:
        where, rest = index[: len(outer)], index[len(outer) :]
        first = [place_of(b, b.read(indices, [*where, i]), data.shape[i]) for i in range(count)]
        return [*first, *rest]

    return scattered(op, b, data, updates, place, range(len(outer)))


def scattered(
    op: ScatterOp,
    b: KernelBuilder,
    data: Tensor,
    updates: Tensor,
    place: Place,
    along: Sequence[int],
) -> Tensor:
    """Return a copy of `data` with `updates` combined into it at `place`, one after the other.
    Updates may have the same place only if they differ along the dimensions `along`.

    Floats shorter than f32 are combined in f32, and rounded once.
    """
    element = data.element
    combine = REDUCTIONS.get(op.reduction)
    if combine is not None and isinstance(computable(element), Float16Type | BFloat16Type):
        element = f32
    result = b.alloc(data.shape, element)
    with b.elements(data.shape) as index:
        b.store(convert(b, b.read(data, index), element), result, index)

    # One after the other, in row-major order: indices may be equal. Without a reduction the last
    # update stays, as in the interpreter (ONNX leaves it open), and sums have one order. That
    # excludes vectors and threads; atomic additions of floats would not be deterministic.
    def update(index: Sequence[Index]) -> None:
        at = place(b, index)
        value = convert(b, b.read(updates, index), element)
        if combine is not None:
            value = combine(b, b.load(result, at), value)
        b.store(value, result, at)

    if b.target.is_cuda:
        target = Buffer(data.shape, element, result)
        scatter_in_lanes(b, op.reduction, target, updates, place, along, update)
    else:
        with b.loops(updates.shape) as index:
            update(index)
    buffer = Buffer(data.shape, element, result)
    if element == data.element:
        return buffer
    return Elements(
        data.shape, data.element, lambda b, index: convert(b, b.read(buffer, index), data.element)
    )


def scatter_in_lanes(
    b: KernelBuilder,
    reduction: str,
    target: Buffer,
    updates: Tensor,
    place: Place,
    along: Sequence[int],
    update: Callable[[Sequence[Index]], None],
) -> None:
    """Write loops that a GPU runs in parallel, with the same result in each run: atomic operations
    whose order does not matter, or a lane for all updates that may have the same place."""
    shape = updates.shape
    kind = ATOMIC.get(reduction) if target.element in (i32, i64) else None
    if is_at_most(volume(shape[axis] for axis in along), FEW) or (
        reduction != "update" and kind is None
    ):
        own = [axis for axis in range(len(shape)) if axis not in along]
        with b.loops([shape[axis] for axis in own]) as outer:
            with b.loops([shape[axis] for axis in along]) as inner:
                index = dict(zip((*own, *along), (*outer, *inner), strict=True))
                update([index[axis] for axis in range(len(shape))])
    elif kind is not None:
        with b.loops(shape, ForKind.PARALLEL) as index:
            b.combine_atomically(kind, b.read(updates, index), target.buffer, place(b, index))
    else:
        # First the number of the last update of each place, then the updates with these numbers.
        number = i32 if is_at_most(volume(shape), (1 << 31) - 1) else i64
        last = b.alloc(target.shape, number)
        with b.elements(target.shape) as index:
            b.store(b.number(-1, number), last, index)
        with b.loops(shape, ForKind.PARALLEL) as index:
            own = b.number(b.flat(index, shape), number)
            b.combine_atomically("maxs", own, last, place(b, index))
        with b.loops(shape, ForKind.PARALLEL) as index:
            own, at = b.number(b.flat(index, shape), number), place(b, index)
            with b.when([b.pure(arith.CmpiOp, b.load(last, at), own, arg="eq")]):
                update(index)


Place: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], list[Index]]
"""A function that returns the index in the data of the update at an index."""
FEW = 8
"""The updates that one lane may do one after the other, rather than in another launch."""
ATOMIC = {"add": "addi", "max": "maxs", "min": "mins"}
"""The atomic operations of reductions of i32 and i64."""
REDUCTIONS = {"add": add, "mul": multiply, "min": minimum, "max": maximum}
"""The functions of the modes of reduction; the mode "update" overwrites."""


INDEXING: dict[type[Operation], Legalization] = {
    GatherNDOp: gather_nd,
    GatherOp: gather,
    ScatterElementsOp: scatter_elements,
    ScatterNDOp: scatter_nd,
    StridedSliceOp: strided_slice,
    TakeOp: take,
}
