"""Legalizations of operations that move elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from ....dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ....dialects.relax.data.permutation import (
    FlipOp,
    LayoutTransformOp,
    ReverseSequenceOp,
    TransposeOp,
)
from ....dialects.relax.data.reshape import ExpandDimsOp, FlattenOp, ReshapeOp, SqueezeOp
from ....dialects.relax.data.split import SplitOp, split_slices
from ....dialects.relax.elementwise.broadcast import BroadcastToOp, RepeatOp, TileOp
from ....dialects.relax.layout import Layout
from ....dialects.relax.reduction import nn
from ....dialects.relax.shapes import normalize_axes, normalize_axis
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, Shape, UnknownExtent, is_at_most, volume
from ..builder import (
    Buffer,
    Element,
    Elements,
    KernelBuilder,
    Legalization,
    Tensor,
    broadcast_index,
)
from ..elementwise.broadcast import require_broadcast
from ..layouts import known_shape, relayout
from ..merged_dimensions import merged_order, order_of
from ..scalars import as_index
from ..tensors import Concatenated
from ..tiles.transposed import Transposed
from .bounds import check_lengths, require_size
from .repeated import Repeated, Tiled

__all__ = ["MANIPULATION", "Part", "broadcast_to", "moved", "reshape", "reshaped", "sliced"]


def moved(op: Operation, b: KernelBuilder, read: Element, number: int = 0) -> Tensor:
    """Return result `number` of `op`, whose elements `read` returns."""
    result = op.results[number]
    return Elements(b.shape_of(result), tensor_type(result).element_type, read)


Part: TypeAlias = tuple[Index, Index]
"""The position of the first element of a slice along an axis, and the step."""


def sliced(
    op: Operation, b: KernelBuilder, data: Tensor, parts: Mapping[int, Part], number: int = 0
) -> Tensor:
    """Return result `number` of `op`, the part of `data` along each axis of `parts`."""

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis, (first, step) in parts.items():
            place[axis] = index[axis] * step + first
        return b.read(data, place)

    return moved(op, b, read, number)


# One operand, each element once


def reshape(op: Operation, b: KernelBuilder, data: Tensor, *_: Tensor) -> Tensor:
    """Read the same elements, in row-major order, in the shape of the result."""
    shape = b.shape_of(op.results[0])
    b.require_equal(volume(data.shape), volume(shape), "the number of elements changes", op)
    return reshaped(b, data, shape)


def reshaped(b: KernelBuilder, data: Tensor, shape: Shape) -> Tensor:
    """Return `data` in another shape: a view of its buffer, or else with its indices recomputed."""
    if isinstance(b.bound.get(data, data), Buffer):
        return b.reshaped(data, shape)
    if 0 in shape or 0 in data.shape:
        return Elements(shape, data.element, lambda b, _: b.read(data, [0] * len(data.shape)))
    # Dimensions that both shapes have keep their index. A row-major position of all of them would
    # be divided for each element, and vectors along it would have no known stride:
    #
    #     (2, 12, 5) of (2, 3, 4, 5):    [i, j, k] is [i, j / 4, j % 4, k]
    parts = [*common_parts(shape, data.shape)]

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place: list[Index] = []
        for new, old in parts:
            sizes, indices = shape[new], index[new]
            big = [i for i, size in zip(indices, sizes, strict=True) if size != 1]
            olds = data.shape[old]
            if len(big) == 1 == sum(size != 1 for size in olds):
                place += [0 if size == 1 else big[0] for size in olds]
            else:
                place += b.unflat(b.flat(indices, sizes), olds)
        return b.read(data, place)

    return Elements(shape, data.element, read)


def common_parts(lhs: Shape, rhs: Shape) -> Iterator[tuple[slice, slice]]:
    """Yield the shortest consecutive ranges of dimensions of two shapes with equal sizes.

    (2, 12, 5) and (2, 3, 4, 5): dimensions 0 and 0, 1 and 1:3, 2 and 3.
    """
    i = j = 0
    while i < len(lhs) or j < len(rhs):
        start, other = i, j
        i, j = min(i + 1, len(lhs)), min(j + 1, len(rhs))
        # Of symbols, n * m and m * n are equal; two symbols are not, though their values may be.
        while (left := volume(lhs[start:i])) != (right := volume(rhs[other:j])):
            if i < len(lhs) and (j == len(rhs) or is_smaller(left, right)):
                i += 1
            elif j < len(rhs):
                j += 1
            else:  # sizes that are equal in another way than by their expressions
                break
        yield slice(start, i), slice(other, j)


def is_smaller(lhs: Extent, rhs: Extent) -> bool:
    """Return whether `lhs` is less than `rhs`; if that is not known, whether it has no symbols."""
    try:
        return lhs < rhs
    except UnknownExtent:
        return isinstance(lhs, int)


def transpose(op: TransposeOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axes = order_of(op)
    if b.groups is not None:
        axes = merged_order(axes, b.groups)
    if (constant := b.constant(data)) is not None:
        # A constant too large for `fold-constant`: callers pass it transposed, and a product that
        # reads it packs it, as any constant.
        sizes = known_shape(data.shape)
        shape = (*(sizes[axis] for axis in axes),)
        return b.converted(
            constant, shape, data.element, lambda array: array.reshape(sizes).transpose(axes)
        )
    return transposed(data, axes)


def transposed(data: Tensor, axes: Sequence[int]) -> Tensor:
    """Return `data` with its dimensions in the order `axes`."""
    return Transposed(tuple(data.shape[axis] for axis in axes), data.element, data, axes)


def layout_transform(op: LayoutTransformOp, _: KernelBuilder, data: Tensor) -> Tensor:
    src, dst = Layout.parse(op.src_layout), Layout.parse(op.dst_layout)
    if not src.factors and not dst.factors:
        return transposed(data, [src.axes.index(axis) for axis in dst.axes])
    return relayout(data, src, dst)


def flip(op: FlipOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axes = normalize_axes(op.axis, len(data.shape))

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis in axes:
            place[axis] = data.shape[axis] - 1 - index[axis]
        return b.read(data, place)

    return moved(op, b, read)


def reverse_sequence(
    op: ReverseSequenceOp, b: KernelBuilder, data: Tensor, lengths: Tensor
) -> Tensor:
    """Reverse the first `lengths[batch]` elements along the axis."""
    rank = len(data.shape)
    seq, batch = op.seq_axis % rank, op.batch_axis % rank
    if 0 not in data.shape:
        check_lengths(op, b, op.seq_lengths, lengths, data.shape[seq])

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = index[seq]
        length = as_index(b, b.read(lengths, [index[batch]]))
        place = [*index]
        place[seq] = b.select(b.less(at, length), length - 1 - at, at)
        return b.read(data, place)

    return moved(op, b, read)


# One operand, elements repeated


def broadcast_to(op: Operation, b: KernelBuilder, data: Tensor, *_: Tensor) -> Tensor:
    shape = b.shape_of(op.results[0])
    require_broadcast(op, b, data.shape, shape)
    return moved(op, b, lambda b, index: b.read(data, broadcast_index(b, index, data.shape, shape)))


def tile(op: Operation, b: KernelBuilder, data: Tensor) -> Tensor:
    return Tiled(b.shape_of(op.results[0]), data.element, data)


def repeat(op: RepeatOp, b: KernelBuilder, data: Tensor) -> Tensor:
    repeats, axis = max(op.repeats, 1), 0
    if op.axis is None:
        data = reshaped(b, data, (volume(data.shape),))
    else:
        axis = normalize_axis(op.axis, len(data.shape))
    if axis == len(data.shape) - 1 and op.repeats > 0:
        return Repeated((*data.shape[:-1], data.shape[-1] * repeats), data.element, data, repeats)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        place[axis] = index[axis] // repeats
        return b.read(data, place)

    return moved(op, b, read)


# Several tensors


def concatenate(op: ConcatenateOp, b: KernelBuilder, *parts: Tensor) -> Tensor:
    shape = b.shape_of(op.result)
    axis = op.axis % len(shape)
    if b.groups is not None:
        axis = next(i for i, group in enumerate(b.groups) if axis - len(shape) in group)
    sizes = [
        # Equal sizes may be known of one operand only: that one gives loops with static bounds.
        min(column, key=lambda n: not isinstance(n, int))
        for column in zip(*(p.shape for p in parts))
    ]
    for other, size in enumerate(sizes):
        if other != axis:
            for part in parts:
                b.require_equal(part.shape[other], size, "the operands differ in size", op)
    sizes[axis] = sum(part.shape[axis] for part in parts)
    return Concatenated(tuple(sizes), tensor_type(op.result).element_type, axis, parts)


def stack(op: StackOp, b: KernelBuilder, *tensors: Tensor) -> Tensor:
    shape = b.shape_of(op.result)
    axis = op.axis % len(shape)
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    expected = (*shape[:axis], *shape[axis + 1 :])
    for tensor in tensors:
        for size, other in zip(tensor.shape, expected, strict=True):
            b.require_equal(size, other, "the operands differ in size", op)
    parts = [reshaped(b, tensor, one) for tensor in tensors]
    return Concatenated(shape, tensor_type(op.result).element_type, axis, parts)


def split(op: SplitOp, b: KernelBuilder, data: Tensor) -> tuple[Tensor, ...]:
    axis = op.axis % len(data.shape)
    bounds = bounds_of_parts(op, b, data.shape[axis], axis)

    def part(number: int, start: Index, end: Index) -> Tensor:
        size = b.shape_of(op.results[number])[axis]
        require_size(op, b, size, b.max(0, end - start), axis)
        return sliced(op, b, data, {axis: (start, 1)}, number)

    return tuple(part(number, *ends) for number, ends in enumerate(bounds))


def bounds_of_parts(
    op: SplitOp, b: KernelBuilder, size: Extent, axis: int
) -> Sequence[tuple[Index, Index]]:
    """Return the first and the last bound of each part of a dimension."""
    sections = 0 if op.sections is None else op.sections
    if isinstance(size, int):
        parts = split_slices(size, op.indices, sections)
        return [part.indices(size)[:2] for part in parts]
    if op.indices is not None:
        bounds = [b.max(0, size + n) if n < 0 else b.min(n, size) for n in op.indices]
    else:
        length = (size + (sections - 1)) // sections
        if not is_at_most(length * (sections - 1), size):
            fits = b.less(length * (sections - 1) - 1, size)
            b.require(fits, f"{op.name}: dimension {axis} does not split into {sections}", op)
        bounds = [length * i for i in range(1, sections)]
    return [*zip([0, *bounds], [*bounds, size], strict=True)]


MANIPULATION: dict[type[Operation], Legalization] = {
    BroadcastToOp: broadcast_to,
    ConcatenateOp: concatenate,
    ExpandDimsOp: reshape,
    FlattenOp: reshape,
    FlipOp: flip,
    LayoutTransformOp: layout_transform,
    RepeatOp: repeat,
    ReshapeOp: reshape,
    ReverseSequenceOp: reverse_sequence,
    SplitOp: split,
    SqueezeOp: reshape,
    StackOp: stack,
    TileOp: tile,
    TransposeOp: transpose,
    nn.BatchFlattenOp: reshape,
}
