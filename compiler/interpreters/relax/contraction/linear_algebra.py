"""Semantics of linear algebra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .....dialects.relax.contraction import linear_algebra as ops
from ...arrays import Array, widen
from ..table import Semantics, at_least_f32, on_arrays

__all__ = ["LINEAR_ALGEBRA", "as_matrices", "matmul", "matrix_product", "sums_of_products"]


def einsum(op: ops.EinsumOp, *arrays: Array) -> Array:
    """Return the Einstein summation, f16 in f32, in the order of contraction that numpy chooses."""
    return np.einsum(op.subscripts, *map(at_least_f32, arrays), optimize=True)


def sums_of_products(
    function: Callable[[Array, Array], Array], lhs: Array, rhs: Array, terms: int
) -> Array:
    """Return `function(lhs, rhs)`, whose elements are sums of `terms` products, in a wide type.

    f16 is computed in f32. Integers are computed modulo 2^64; in f64 where that is exact, because
    numpy has no fast matrix product of integers.
    """
    if lhs.dtype.kind == "f":
        return function(widen(lhs), widen(rhs))
    if terms * _magnitude(lhs) * _magnitude(rhs) <= 2**53:
        return function(lhs.astype(np.float64), rhs.astype(np.float64)).astype(np.int64)
    return function(lhs.astype(np.int64), rhs.astype(np.int64))


def _magnitude(array: Array) -> int:
    """Return the largest absolute value, 0 for an empty array."""
    return max(-int(array.min()), int(array.max())) if array.size else 0


def matrix_product(lhs: Array, rhs: Array) -> Array:
    """Return `numpy.matmul`, computed by BLAS for any strides."""
    return np.matmul(as_matrices(lhs), as_matrices(rhs))


def as_matrices(array: Array) -> Array:
    """Return the array, copied if BLAS does not support its strides.

    numpy would fall back to a loop that is a hundred times slower, also for broadcast fills.
    """
    if array.ndim < 2:
        return np.ascontiguousarray(array)
    (rows, columns), (row, column) = array.shape[-2:], array.strides[-2:]
    item = array.itemsize
    by_rows = column == item and row >= columns * item
    by_columns = row == item and column >= rows * item
    return array if by_rows or by_columns else np.ascontiguousarray(array)


def matmul(lhs: Array, rhs: Array) -> Array:
    """Return the matrix product, accumulated as in `sums_of_products`."""
    return sums_of_products(matrix_product, lhs, rhs, lhs.shape[-1])


def dense(_: ops.DenseOp, data: Array, weight: Array) -> Array:
    if weight.strides[0] == 0 and len(weight) > 1:  # a fill: all outputs are equal
        return matmul(data, weight[:1].T).repeat(len(weight), -1)
    return matmul(data, weight.T)


def batch_matmul(op: ops.BatchMatmulOp, lhs: Array, rhs: Array) -> Array:
    if op.transpose_a:
        lhs = lhs.swapaxes(1, 2)
    if op.transpose_b:
        rhs = rhs.swapaxes(1, 2)
    return matmul(lhs, rhs)


LINEAR_ALGEBRA: Semantics = {
    ops.MatmulOp: on_arrays(matmul),
    ops.DenseOp: dense,
    ops.BatchMatmulOp: batch_matmul,
    ops.EinsumOp: einsum,
}
