"""Legalizations of operations whose parameters are operands: kernels read them at run time.

The sizes of the result are those of its buffer, which callers compute (`CallSizes`). Kernels
assert that the parameters are valid, and that they give these sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.relax.dynamic.computation import (
    DynamicFullOp,
    DynamicOneHotOp,
    DynamicPadOp,
    DynamicResizeOp,
    DynamicTopkOp,
)
from ...dialects.relax.dynamic.data_movement import (
    DynamicBroadcastToOp,
    DynamicExpandDimsOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSplitOp,
    DynamicSqueezeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
)
from ...dialects.tir.builder import Index
from .axes import DYNAMIC_AXES, strided_slice
from .builder import KernelBuilder, Legalization, Tensor
from .data.bounds import require_size
from .data.creation import one_hot
from .data.manipulation import Tiled, broadcast_to, inside, moved, reshape, sliced
from .data.sorting import topk_of
from .images.resize import resize_to
from .tensors import any_of, is_axis, parameters, require_axes, require_sizes


def full(op: DynamicFullOp, b: KernelBuilder, value: Tensor, _: Tensor) -> Tensor:
    zeros: list[Index] = [0] * len(value.shape)
    return moved(op, b, lambda b, _: b.read(value, zeros))


def tile(op: DynamicTileOp, b: KernelBuilder, data: Tensor, reps: Tensor) -> Tensor:
    shape, numbers = b.shape_of(op.result), parameters(b, reps)
    for number in numbers:
        b.require(b.less(-1, number), f"{op.name}: a number of repetitions is negative", op)
    # As numpy's tile: (2,) of (3, 4) is (1, 2), and (2, 1, 1) of (3,) repeats (1, 1, 3).
    given = [1] * (len(shape) - len(numbers)) + numbers
    sizes = (1,) * (len(shape) - len(data.shape)) + data.shape
    require_sizes(op, b, shape, [n * size for n, size in zip(given, sizes, strict=True)])
    return Tiled(shape, data.element, data)


def one_hot_of(
    op: DynamicOneHotOp, b: KernelBuilder, indices: Tensor, on: Tensor, off: Tensor, depth: Tensor
) -> Tensor:
    shape, (number,) = b.shape_of(op.result), parameters(b, depth)
    axis = op.axis % len(shape)
    b.require(b.less(-1, number), f"{op.name}: the depth is negative", op)
    given = [*indices.shape[:axis], number, *indices.shape[axis:]]
    require_sizes(op, b, shape, given)
    return one_hot(op, b, indices, on, off)


def resize(op: DynamicResizeOp, b: KernelBuilder, data: Tensor, size: Tensor) -> Tensor:
    shape, spatial = b.shape_of(op.result), op.spatial()
    axes = [op.data_layout().axes.index(letter) for letter in spatial]
    for number, (axis, given) in enumerate(zip(axes, parameters(b, size), strict=True)):
        valid = b.less(0, given)
        if op.scales is None:
            require_size(op, b, shape[axis], given, axis)
        else:
            # With scales, a size of -1 is computed from the scale, by callers.
            valid = any_of(b, [valid, b.equal(given, -1)])
        b.require(valid, f"{op.name}: size {number} is less than 1", op)
    return resize_to(op, b, data, op.data_layout(), spatial, op.scales, op.roi)


def split(op: DynamicSplitOp, b: KernelBuilder, data: Tensor, sizes: Tensor) -> tuple[Tensor, ...]:
    axis, start = op.axis % len(data.shape), 0
    starts: list[Index] = []
    for result, size in zip(op.results, parameters(b, sizes), strict=True):
        shape = (*data.shape[:axis], size, *data.shape[axis + 1 :])
        b.require(b.less(-1, size), f"{op.name}: the size of a part is negative", op)
        require_sizes(op, b, b.shape_of(result), shape)
        starts.append(start)
        # The kernel checks that the sizes are not negative and add up, so no part exceeds the data.
        start = start + size
    whole = b.equal(start, data.shape[axis])
    b.require(whole, f"{op.name}: the sizes of the parts do not add up to dimension {axis}", op)

    return tuple(sliced(op, b, data, {axis: (start, 1)}, i) for i, start in enumerate(starts))


def with_axes(
    op: DynamicSqueezeOp | DynamicExpandDimsOp, b: KernelBuilder, data: Tensor, axes: Tensor
) -> Tensor:
    """Read the same elements in a shape without `axes`, which have size 1, or with these axes
    added."""
    # The axes of squeeze number the dimensions of the data, the axes of expand_dims those of the
    # result. In both cases it is the shape of higher rank.
    rank = max(len(data.shape), len(b.shape_of(op.result)))
    require_axes(op, b, parameters(b, axes), rank)
    return reshape(op, b, data)


def pad(
    op: DynamicPadOp, b: KernelBuilder, data: Tensor, widths: Tensor, value: Tensor, axes: Tensor
) -> Tensor:
    """Remove elements where a width is negative, and add others where one is positive."""
    rank, mode = len(data.shape), op.pad_mode
    places, numbers = parameters(b, axes), parameters(b, widths)
    require_axes(op, b, places, rank)
    rows: list[tuple[Index, Index, Index]] = []
    for axis, size in enumerate(data.shape):
        before: Index = 0
        after: Index = 0
        for i, place in enumerate(places):
            along = is_axis(b, place, axis, rank)
            # ONNX: all widths before, then all after, in the order of `axes`.
            before = b.select(along, numbers[i], before)
            after = b.select(along, numbers[i + len(places)], after)
        cut = b.max(0, 0 - before)
        kept = size - cut - b.max(0, 0 - after)
        b.require(b.less(-1, kept), f"{op.name}: more than dimension {axis} is removed", op)
        if mode != "constant":
            some = any_of(b, [b.less(0, kept), b.less(b.max(before, after), 1)])
            b.require(some, f"{op.name}: dimension {axis} has no elements to copy", op)
        require_size(op, b, b.shape_of(op.result)[axis], size + before + after, axis)
        rows.append((before, cut, kept))

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        if mode == "constant":
            place = [i - before for i, (before, _, _) in zip(index, rows, strict=True)]
            conditions = [
                condition
                for i, size in zip(place, data.shape, strict=True)
                for condition in b.inside_bounds(i, 0, size)
            ]
            return b.choose(conditions, lambda: b.read(data, place), lambda: b.read(value, []))
        place = [
            inside(b, i - b.max(0, before), kept, mode) + cut
            for i, (before, cut, kept) in zip(index, rows, strict=True)
        ]
        return b.read(data, place)

    return moved(op, b, read)


DYNAMIC: dict[type[Operation], Legalization] = {
    **DYNAMIC_AXES,
    DynamicBroadcastToOp: broadcast_to,
    DynamicExpandDimsOp: with_axes,
    DynamicExpandOp: broadcast_to,
    DynamicFullOp: full,
    DynamicOneHotOp: one_hot_of,
    DynamicPadOp: pad,
    DynamicReshapeOp: reshape,
    DynamicResizeOp: resize,
    DynamicSplitOp: split,
    DynamicSqueezeOp: with_axes,
    DynamicStridedSliceOp: strided_slice,
    DynamicTileOp: tile,
    DynamicTopkOp: topk_of,
}
