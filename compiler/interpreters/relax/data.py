"""Semantics of operations that create, move, index and sort data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import VerifyException

from ....dialects.relax.data import creation as creation_ops
from ....dialects.relax.data import sorting as sorting_ops
from ....dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp, split_slices
from ....dialects.relax.data.detection import NonMaxSuppressionOp
from ....dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    NonzeroOp,
    ScatterElementsOp,
    ScatterNDOp,
    StridedSliceOp,
    TakeOp,
)
from ....dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    FlattenOp,
    FlipOp,
    LayoutTransformOp,
    RepeatOp,
    ReshapeOp,
    ReverseSequenceOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
    infer_reshape,
)
from ....dialects.relax.data.trees import TreeLeavesOp
from ....dialects.relax.layout import Layout
from ..arrays import Array, check_size
from .array_functions import Semantics, as_numbers, at_least_f32, on_arrays, with_properties
from .control import relayout

# Semantics of operations that only move elements; they return views where numpy does.


def concatenate(op: ConcatenateOp, *arrays: Array) -> Array:
    return np.concatenate(arrays, op.axis)


def flatten(data: Array) -> Array:
    return data.reshape(-1)


def reshape(op: ReshapeOp, data: Array) -> Array:
    return data.reshape(infer_reshape(data.shape, op.newshape, op.allowzero))


def reverse_sequence(op: ReverseSequenceOp, data: Array, lengths: Array) -> Array:
    """Return the sequences with their first elements reversed.

    Index i below the length n of its sequence reads index n - 1 - i, any other index itself.
    """
    seq, batch = op.seq_axis % data.ndim, op.batch_axis % data.ndim
    places = numbers_along(seq, data.shape[seq], data.ndim)
    last = along(batch, lengths.astype(np.int64) - 1, data.ndim)
    return np.take_along_axis(data, np.where(places <= last, last - places, places), seq)


def numbers_along(axis: int, size: int, rank: int) -> Array:
    """Return 0, 1, ..., size - 1 along an axis of an array of that rank."""
    return along(axis, np.arange(size, dtype=np.int64), rank)


def along(axis: int, array: Array, rank: int) -> Array:
    """Return a vector as an array of that rank, along `axis`; other dimensions have size 1."""
    return array.reshape([-1 if i == axis else 1 for i in range(rank)])


def split(op: SplitOp, data: Array) -> tuple[Array, ...]:
    axis = op.axis % data.ndim
    before = (slice(None),) * axis
    parts = split_slices(data.shape[axis], op.indices, op.sections or 0)
    return tuple(data[*before, part] for part in parts)


def stack(op: StackOp, *arrays: Array) -> Array:
    return np.stack(arrays, op.axis)


def layout_transform(op: LayoutTransformOp, array: Array) -> Array:
    """Return the array in the layout `dst_layout`."""
    return relayout(array, Layout.parse(op.src_layout), Layout.parse(op.dst_layout))


MANIPULATION: Semantics = {
    BroadcastToOp: with_properties(np.broadcast_to, "shape"),
    ConcatenateOp: concatenate,
    ExpandDimsOp: with_properties(np.expand_dims, "axis"),
    FlattenOp: on_arrays(flatten),
    FlipOp: with_properties(np.flip, "axis"),
    LayoutTransformOp: layout_transform,
    RepeatOp: with_properties(np.repeat, "repeats", "axis"),
    ReshapeOp: reshape,
    ReverseSequenceOp: reverse_sequence,
    SplitOp: split,
    SqueezeOp: with_properties(np.squeeze, "axis"),
    StackOp: stack,
    TileOp: with_properties(np.tile, "reps"),
    TransposeOp: with_properties(np.transpose, "axes"),
}


# Semantics of operations that create tensors.


def arange(op: creation_ops.ArangeOp, start: Array, stop: Array, step: Array) -> Array:
    count = creation_ops.arange_size(start.item(), stop.item(), step.item())
    check_size([count])
    dtype = np.float64 if np.issubdtype(start.dtype, np.floating) else start.dtype
    return start.astype(dtype) + np.arange(count).astype(dtype) * step.astype(dtype)


def one_hot(op: creation_ops.OneHotOp, indices: Array, on_value: Array, off_value: Array) -> Array:
    axis = op.axis % (indices.ndim + 1)
    depth = numbers_along(axis, op.depth, indices.ndim + 1)
    return np.where(np.expand_dims(indices, axis) == depth, on_value, off_value)


def shape(data: Array) -> Array:
    return np.array(data.shape, np.int64)


def size(data: Array) -> Array:
    return np.array(data.size, np.int64)


def trilu(op: creation_ops.TriluOp, data: Array, k: Array) -> Array:
    diagonal = int(np.clip(k, -data.shape[-2] - 1, data.shape[-1] + 1))
    return np.triu(data, diagonal) if op.upper else np.tril(data, diagonal)


CREATION: Semantics = {
    creation_ops.ArangeOp: arange,
    creation_ops.OneHotOp: one_hot,
    creation_ops.ShapeOfOp: on_arrays(shape),
    creation_ops.SizeOfOp: on_arrays(size),
    creation_ops.TriluOp: trilu,
}


# Semantics of operations that read and write at indices.


def places(indices: Array) -> Array:
    """Return the indices as int64, as numpy requires; larger ones become the largest int64,
    which is out of range as well."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**63 - 1))
    return indices.astype(np.int64, copy=False)


def strided_slice(op: StridedSliceOp, data: Array) -> Array:
    parts = op.slices(data.ndim)
    return data[tuple(parts.get(axis, slice(None)) for axis in range(data.ndim))]


def take(op: TakeOp, x: Array, indices: Array) -> Array:
    if op.mode == "raise":
        return np.take(x, places(indices), op.axis, mode="raise")
    if op.mode != "wrap":
        return np.take(x, places(indices), op.axis, mode="clip")
    size = x.size if op.axis is None else x.shape[op.axis]
    wrapped = indices if indices.dtype == np.uint64 else indices.astype(np.int64)
    return np.take(x, places(wrapped % wrapped.dtype.type(size)), op.axis, mode="clip")


def nonzero(x: Array) -> Array:
    return np.argwhere(x).T


# Along an axis


def gather(op: GatherOp, data: Array, indices: Array) -> Array:
    return data[along_axis(indices, data.ndim, op.axis)]


def along_axis(indices: Array, rank: int, axis: int) -> tuple[Array, ...]:
    """Return the numpy index arrays of the elements at `indices` along an axis."""
    grid = [numbers_along(i, size, rank) for i, size in enumerate(indices.shape)]
    grid[axis] = places(indices)
    return tuple(grid)


def scatter_elements(op: ScatterElementsOp, data: Array, indices: Array, updates: Array) -> Array:
    where = along_axis(indices, data.ndim, op.axis)
    return scatter(op.reduction, data, where, updates)


# At coordinates


def gather_nd(op: GatherNDOp, data: Array, indices: Array) -> Array:
    batch = op.batch_dims
    grid = [numbers_along(i, data.shape[i], indices.ndim - 1) for i in range(batch)]
    return data[*grid, *coordinates(indices)]


def coordinates(indices: Array) -> Sequence[Array]:
    """Return the numpy index arrays of the slices at coordinates, the last axis of `indices`."""
    return tuple(np.moveaxis(places(indices), -1, 0))


def scatter_nd(op: ScatterNDOp, data: Array, indices: Array, updates: Array) -> Array:
    return scatter(op.reduction, data, coordinates(indices), updates)


def scatter(reduction: str, data: Array, where: Sequence[Array], updates: Array) -> Array:
    """Return the data with the updates applied in order; f16 is computed in f32."""
    where = tuple(where)
    if reduction == "update":
        result = data.copy()
        result[where] = updates
        return result
    dtype = {np.dtype(np.float16): np.float32, np.dtype(np.bool_): np.uint8}.get(data.dtype)
    result = data.astype(dtype or data.dtype)
    {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction].at(
        result, where, updates.astype(result.dtype)
    )
    return result


INDEXING: Semantics = {
    GatherNDOp: gather_nd,
    GatherOp: gather,
    NonzeroOp: on_arrays(nonzero),
    ScatterElementsOp: scatter_elements,
    ScatterNDOp: scatter_nd,
    StridedSliceOp: strided_slice,
    TakeOp: take,
}


# Semantics of sorting: stable, with NaN greater than any number.


def order(x: Array, axis: int, descending: bool) -> NDArray[np.intp]:
    """Return the indices of the elements in sorted order along `axis`.

    A stable descending order is the ascending order of the flipped array, flipped back.
    """
    x = as_numbers(x)
    if not descending:
        return np.argsort(x, axis, kind="stable")
    indices = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(indices, axis)


def argsort(op: sorting_ops.ArgsortOp, x: Array) -> Array:
    return order(x, op.axis, op.descending)


def sort(op: sorting_ops.SortOp, x: Array) -> Array:
    return np.take_along_axis(x, order(x, op.axis, op.descending), op.axis)


def topk(op: sorting_ops.TopkOp, x: Array) -> tuple[Array, Array]:
    axis, k = op.axis, op.k
    indices = order(x, axis, op.largest)
    if k >= 1:
        indices = np.take(indices, range(k), axis)
    return np.take_along_axis(x, indices, axis), indices


SORTING: Semantics = {
    sorting_ops.ArgsortOp: argsort,
    sorting_ops.SortOp: sort,
    sorting_ops.TopkOp: topk,
}


# Semantics of operations on decision trees.


def tree_leaves(op: TreeLeavesOp, data: Array, nodes: Array, splits: Array, roots: Array) -> Array:
    """Walk all trees for all rows at once, one level after the other."""
    rows = np.arange(len(data))[:, np.newaxis]
    at = np.broadcast_to(roots, (len(data), len(roots)))
    if not at.size:
        return at
    at = clipped(at, len(nodes))
    for _ in range(op.depth):
        node: Array = nodes[at]
        values = data[rows, clipped(node[..., 0], data.shape[1])]
        child: Array = np.where(values <= splits[at], node[..., 1], node[..., 2])
        before, at = at, clipped(child, len(nodes))
        if np.array_equal(before, at):  # all are at leaves
            break
    return at


def clipped(indices: Array, size: int) -> Array:
    return np.clip(indices, 0, size - 1)


TREES: Semantics = {TreeLeavesOp: tree_leaves}


# Semantics of operations on detected boxes, in the arithmetic and order of onnxruntime.


def non_max_suppression(
    op: NonMaxSuppressionOp,
    boxes: Array,
    scores: Array,
    limit: Array,
    iou_threshold: Array,
    score_threshold: Array | None = None,
) -> Array:
    """Return the selected boxes; VerifyException for a threshold outside of 0 to 1."""
    if not 0 <= iou_threshold <= 1:
        raise VerifyException(f"iou_threshold is {iou_threshold}, expected 0 to 1")
    boxes = at_least_f32(boxes)
    selected: list[Array] = []
    for batch, corners in enumerate(boxes):
        low, high = extents(corners, op.center_point_box)
        for number, own in enumerate(scores[batch]):
            order = np.argsort(-at_least_f32(own), kind="stable")
            if score_threshold is not None:
                order = order[own[order] > score_threshold]
            chosen = greedy(order, low, high, int(limit), iou_threshold)
            rows = np.empty((len(chosen), 3), np.int64)
            rows[:] = [batch, number, 0]
            rows[:, 2] = chosen
            selected.append(rows)
    return np.concatenate([np.empty((0, 3), np.int64), *selected])


def extents(boxes: Array, centered: bool) -> tuple[Array, Array]:
    """Return the minimum and maximum coordinates of each box along both axes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if centered:
        return first - second / 2, first + second / 2
    swapped = first >= second
    return np.where(swapped, second, first), np.where(swapped, first, second)


def greedy(order: Array, low: Array, high: Array, limit: int, threshold: Array) -> list[int]:
    """Return at most `limit` boxes in this order that do not overlap those before by more than
    `threshold`."""
    chosen: list[int] = []
    while len(order) and len(chosen) < limit:
        first, order = int(order[0]), order[1:]
        chosen.append(first)
        order = order[~overlaps(low[order], high[order], low[first], high[first], threshold)]
    return chosen


def overlaps(low: Array, high: Array, low_of: Array, high_of: Array, threshold: Array) -> Array:
    """Return for each box whether its intersection over union with another is above the threshold;
    false if an area is not positive."""
    sides = np.minimum(high, high_of) - np.maximum(low, low_of)
    intersection = sides[:, 0] * sides[:, 1]
    area, area_of = np.prod(high - low, axis=1), np.prod(high_of - low_of)
    union = area + area_of - intersection
    valid = (sides > 0).all(axis=1) & (intersection > 0) & (area > 0) & (area_of > 0) & (union > 0)
    return valid & (intersection / union > threshold)


DETECTION: Semantics = {NonMaxSuppressionOp: non_max_suppression}
