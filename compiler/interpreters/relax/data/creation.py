"""Semantics of operations that create tensors."""

from __future__ import annotations

import numpy as np

from .....dialects.relax.data import creation as ops
from ...arrays import Array, check_size
from ..table import Semantics, on_arrays
from .manipulation import numbers_along

__all__ = ["CREATION"]


def arange(op: ops.ArangeOp, start: Array, stop: Array, step: Array) -> Array:
    count = ops.arange_size(start.item(), stop.item(), step.item())
    check_size([count])
    dtype = np.float64 if np.issubdtype(start.dtype, np.floating) else start.dtype
    return start.astype(dtype) + np.arange(count).astype(dtype) * step.astype(dtype)


def one_hot(op: ops.OneHotOp, indices: Array, on_value: Array, off_value: Array) -> Array:
    axis = op.axis % (indices.ndim + 1)
    depth = numbers_along(axis, op.depth, indices.ndim + 1)
    return np.where(np.expand_dims(indices, axis) == depth, on_value, off_value)


def shape(data: Array) -> Array:
    return np.array(data.shape, np.int64)


def size(data: Array) -> Array:
    return np.array(data.size, np.int64)


def trilu(op: ops.TriluOp, data: Array, k: Array) -> Array:
    diagonal = int(np.clip(k, -data.shape[-2] - 1, data.shape[-1] + 1))
    return np.triu(data, diagonal) if op.upper else np.tril(data, diagonal)


CREATION: Semantics = {
    ops.ArangeOp: arange,
    ops.OneHotOp: one_hot,
    ops.ShapeOfOp: on_arrays(shape),
    ops.SizeOfOp: on_arrays(size),
    ops.TriluOp: trilu,
}
