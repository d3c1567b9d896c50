"""Semantics of operations that read and write at indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....dialects.relax.data.gather import GatherNDOp, GatherOp, NonzeroOp, TakeOp
from .....dialects.relax.data.scatter import ScatterElementsOp, ScatterNDOp
from .....dialects.relax.data.strided_slice import StridedSliceOp
from ...arrays import Array
from ..table import Semantics, on_arrays
from .manipulation import numbers_along

__all__ = ["INDEXING"]


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
