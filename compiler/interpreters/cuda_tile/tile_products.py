"""The semantics of products of matrices, and of reductions and scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Operation

from ....dialects.cuda_tile import reduce_ops as ops
from ....dialects.cuda_tile.attributes import Signedness
from .block_axis import aligned
from .tile_arithmetic import unsigned_bits
from .tile_values import Array, Compute, Maker, element_of_value, fitting, tile_dtype, tile_shape

__all__ = ["FOLDS", "PRODUCTS", "Combine"]


def float_product(op: ops.MmaFOp) -> Compute:
    """Return the product of floats; sums are in f32, or f64 for that type, and rounded at the end
    to the type of the accumulator."""
    fit = fitting(element_of_value(op.acc))
    wide = np.promote_types(np.float32, tile_dtype(element_of_value(op.lhs)))

    def compute(lhs: Array, rhs: Array, acc: Array) -> Array:
        product = np.matmul(lhs.astype(wide, copy=False), rhs.astype(wide, copy=False))
        return fit(product + acc)

    return compute


def scaled_product(op: ops.MmaFScaledOp) -> Compute:
    """Return the product of floats that have a scale for each block of elements along K."""

    def scaled(array: Array, scale: Array, axis: int) -> Array:
        return array * np.repeat(scale, array.shape[axis] // scale.shape[axis], axis)

    def compute(lhs: Array, rhs: Array, acc: Array, of_lhs: Array, of_rhs: Array) -> Array:
        return np.matmul(scaled(lhs, of_lhs, -1), scaled(rhs, of_rhs, -2)) + acc

    return compute


def integer_product(op: ops.MmaIOp) -> Compute:
    """Return the product of integers. Products of bytes are exact in f64, which numpy multiplies
    by BLAS."""
    signs = (op.signedness_lhs.data, op.signedness_rhs.data)

    def wide(array: Array, sign: Signedness) -> Array:
        exact = array if sign is Signedness.SIGNED else unsigned_bits(array)
        return exact.astype(np.float64)

    def compute(lhs: Array, rhs: Array, acc: Array) -> Array:
        product = np.matmul(*map(wide, (lhs, rhs), signs))
        return acc + product.astype(np.int64).astype(np.int32)

    return compute


PRODUCTS: Mapping[type[Operation], Maker] = {
    ops.MmaFOp: float_product,
    ops.MmaFScaledOp: scaled_product,
    ops.MmaIOp: integer_product,
}
"""The semantics of products by class."""


Combine: TypeAlias = Callable[..., tuple[Array, ...]]
"""The body of a reduction, on the next and the current element of each operand."""


def combined(combine: Combine, now: Sequence[Array], before: Sequence[Array]) -> list[Array]:
    """Return the values of a reduction of later elements and of those before them."""
    pairs = zip(now, before, strict=True)
    return [np.asarray(value) for value in combine(*(array for pair in pairs for array in pair))]


def along(axis: int, part: slice | int) -> tuple[Any, ...]:
    """Return the index of a part of an axis, which is counted from the last one, -1."""
    return (..., part, *[slice(None)] * (-axis - 1))


def reduction(op: ops.ReduceOp) -> Compute:
    """Return the reduction: a balanced tree of neighbors, so that their order stays."""
    axis = op.dim.value.data - len(tile_shape(op.inputs[0]))
    odd, even, first = (along(axis, part) for part in (slice(1, None, 2), slice(0, None, 2), 0))

    def compute(tiles: tuple[Array, ...], combine: Combine) -> tuple[Array, ...]:
        rows: Sequence[Array] = tiles
        while rows[0].shape[axis] > 1:
            rows = combined(combine, [row[odd] for row in rows], [row[even] for row in rows])
        return tuple(row[first] for row in rows)

    return compute


def scan(op: ops.ScanOp) -> Compute:
    """Return the prefix reductions, by distances that double (Hillis and Steele)."""
    rank = len(tile_shape(op.inputs[0]))
    axis = op.dim.value.data - rank
    order = along(axis, slice(None, None, -1 if op.reverse.value.data else 1))

    def compute(tiles: tuple[Array, ...], combine: Combine) -> tuple[Array, ...]:
        rows = [tile[order] for tile in aligned(tiles, rank)]
        distance = 1
        while distance < rows[0].shape[axis]:
            first, later = along(axis, slice(distance)), along(axis, slice(distance, None))
            before = [row[along(axis, slice(-distance))] for row in rows]
            parts = zip(rows, combined(combine, [row[later] for row in rows], before), strict=True)
            rows = [np.concatenate((row[first], part), axis) for row, part in parts]
            distance *= 2
        return tuple(row[order] for row in rows)

    return compute


FOLDS: Mapping[type[Operation], Maker] = {ops.ReduceOp: reduction, ops.ScanOp: scan}
"""The semantics of reductions and scans, functions of the operands and of the body."""
