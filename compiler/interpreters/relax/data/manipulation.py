"""Semantics of operations that only move elements; they return views where numpy does."""

from __future__ import annotations

import numpy as np

from .....dialects.relax.data.concatenation import ConcatenateOp, StackOp
from .....dialects.relax.data.permutation import (
    FlipOp,
    LayoutTransformOp,
    ReverseSequenceOp,
    TransposeOp,
)
from .....dialects.relax.data.reshape import (
    ExpandDimsOp,
    FlattenOp,
    ReshapeOp,
    SqueezeOp,
    infer_reshape,
)
from .....dialects.relax.data.split import SplitOp, split_slices
from .....dialects.relax.elementwise.broadcast import BroadcastToOp, RepeatOp, TileOp
from .....dialects.relax.layout import Layout
from ...arrays import Array
from ..layout import relayout
from ..table import Semantics, on_arrays, with_properties

__all__ = ["MANIPULATION", "numbers_along"]


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
