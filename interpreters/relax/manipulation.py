"""What operations compute that only move elements: views, where numpy gives views."""

from __future__ import annotations

import numpy as np

from ...dialects.relax import manipulation as ops
from ...dialects.relax.layout import Layout
from ..arrays import Array
from .table import Semantics, on_arrays

__all__ = ["MANIPULATION", "relayout"]


def broadcast_to(op: ops.BroadcastToOp, data: Array) -> Array:
    return np.broadcast_to(data, op.shape)


def concatenate(op: ops.ConcatenateOp, *arrays: Array) -> Array:
    return np.concatenate(arrays, op.axis)


def expand_dims(op: ops.ExpandDimsOp, data: Array) -> Array:
    return np.expand_dims(data, op.axis)


def flatten(data: Array) -> Array:
    return data.reshape(-1)


def flip(op: ops.FlipOp, data: Array) -> Array:
    return np.flip(data, op.axis)


def reshape(op: ops.ReshapeOp, data: Array) -> Array:
    newshape, allowzero = op.newshape, bool(op.allowzero)
    return data.reshape(ops.reshape(data.shape, newshape, allowzero))


def transpose(op: ops.TransposeOp, data: Array) -> Array:
    return data.transpose(None if op.axes is None else op.axes)


def squeeze(op: ops.SqueezeOp, data: Array) -> Array:
    return np.squeeze(data, None if op.axis is None else op.axis)


def reverse_sequence(op: ops.ReverseSequenceOp, data: Array, lengths: Array) -> Array:
    """Each place below the length takes what is as far from the other end of that part."""
    seq, batch = op.seq_axis % data.ndim, op.batch_axis % data.ndim
    places = numbers_along(seq, data.shape[seq], data.ndim)
    last = along(batch, lengths.astype(np.int64) - 1, data.ndim)
    return np.take_along_axis(data, np.where(places <= last, last - places, places), seq)


def numbers_along(axis: int, size: int, rank: int) -> Array:
    """0, 1, ... size - 1 along an axis of an array of that rank."""
    return along(axis, np.arange(size, dtype=np.int64), rank)


def along(axis: int, array: Array, rank: int) -> Array:
    """A one-dimensional array as one of that rank, along an axis of it."""
    return array.reshape([-1 if i == axis else 1 for i in range(rank)])


def repeat(op: ops.RepeatOp, data: Array) -> Array:
    return np.repeat(data, op.repeats, None if op.axis is None else op.axis)


def split(op: ops.SplitOp, data: Array) -> tuple[Array, ...]:
    axis = op.axis % data.ndim
    indices = None if op.indices is None else op.indices
    sections = 0 if op.sections is None else op.sections
    before = (slice(None),) * axis
    parts = ops.sections_of(data.shape[axis], indices, sections)
    return tuple(data[*before, part] for part in parts)


def stack(op: ops.StackOp, *arrays: Array) -> Array:
    return np.stack(arrays, op.axis)


def tile(op: ops.TileOp, data: Array) -> Array:
    return np.tile(data, op.reps)


def layout_transform(op: ops.LayoutTransformOp, array: Array) -> Array:
    """The array in another layout."""
    return relayout(array, Layout.parse(op.src_layout), Layout.parse(op.dst_layout))


def relayout(array: Array, src: Layout, dst: Layout) -> Array:
    """The array in layout `dst`: a view, unless an axis is split or joined."""
    if src.text == dst.text:
        return array
    extents = src.extents(array.shape)
    # Join the parts of each axis, split them anew, permute
    parts = sorted(src.axes, key=_outer_part_first)
    joined = array.transpose([src.axes.index(c) for c in parts])
    joined = joined.reshape([extents[c] for c in src.primal])
    sizes = dict(zip(dst.axes, dst.shape(extents), strict=True))
    parts = sorted(dst.axes, key=_outer_part_first)
    return joined.reshape([sizes[c] for c in parts]).transpose([parts.index(c) for c in dst.axes])


def _outer_part_first(axis: str) -> tuple[str, bool]:
    return axis.upper(), axis.islower()


MANIPULATION: Semantics = {
    ops.BroadcastToOp: broadcast_to,
    ops.ConcatenateOp: concatenate,
    ops.ExpandDimsOp: expand_dims,
    ops.FlattenOp: on_arrays(flatten),
    ops.FlipOp: flip,
    ops.LayoutTransformOp: layout_transform,
    ops.RepeatOp: repeat,
    ops.ReshapeOp: reshape,
    ops.ReverseSequenceOp: reverse_sequence,
    ops.SplitOp: split,
    ops.SqueezeOp: squeeze,
    ops.StackOp: stack,
    ops.TileOp: tile,
    ops.TransposeOp: transpose,
}
