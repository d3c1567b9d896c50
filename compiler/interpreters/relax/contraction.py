"""Semantics of contractions: linear algebra, convolutions, attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod, sqrt

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax import operations
from ....dialects.relax.contraction import convolution as convolution_ops
from ....dialects.relax.contraction import linear_algebra as ops
from ....dialects.relax.contraction.attention import AttentionOp
from ....dialects.relax.layout import Layout
from ....dialects.relax.windows import Window
from ..arrays import Array, check_size, widen
from .array_functions import Semantics, at_least_f32, on_arrays
from .control import relayout
from .windows import pad_to_windows, sliding_windows, tap

# Semantics of linear algebra.


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
        lhs = lhs.swapaxes(-2, -1)
    if op.transpose_b:
        rhs = rhs.swapaxes(-2, -1)
    return matmul(lhs, rhs)


LINEAR_ALGEBRA: Semantics = {
    ops.MatmulOp: on_arrays(matmul),
    ops.DenseOp: dense,
    ops.BatchMatmulOp: batch_matmul,
    ops.EinsumOp: einsum,
}


# Semantics of convolutions: a matrix product of the weight with the elements of all windows.


_TILE = 1 << 21
"""The number of window elements that are copied at a time.

A few MB: small enough for a cache, and large enough that BLAS's thread synchronization is cheap.
"""


def convolution(op: convolution_ops.ConvolutionOp, data: Array, weight: Array) -> Array:
    data_layout, kernel_layout, out_layout = op.layouts()
    transposed = isinstance(op, convolution_ops.TransposedConvolutionOp)
    plain = Layout.parse("NC" + op.SPATIAL)
    data = relayout(data, data_layout, plain)
    channels = "IO" if transposed else "OI"
    weight = relayout(weight, kernel_layout, Layout.parse(channels + op.SPATIAL))
    windows, groups = op.windows(weight.shape[2:]), op.groups
    out = tuple(op.extent(w, n) for w, n in zip(windows, data.shape[2:], strict=True))
    compute = convolve_transposed if transposed else convolve
    result = sums_of_products(
        lambda x, w: compute(x, w, windows, groups, out),
        data,
        weight,
        terms=data.shape[1] * prod(weight.shape[2:]),
    )
    return relayout(result, plain, out_layout)


def convolve(
    x: Array, weight: Array, windows: Sequence[Window], groups: int, out: tuple[int, ...]
) -> Array:
    """Return the convolution of `x` (NC...) with `weight` (OI...), of spatial size `out`."""
    batch, outputs, terms = len(x), len(weight), prod(weight.shape[1:])
    if weight.strides[0] == 0 and outputs > groups:  # a fill: the outputs of a group are equal
        return convolve(x, weight[:groups], windows, groups, out).repeat(outputs // groups, 1)
    x = pad_to_windows(x, windows, 0)
    if outputs == x.shape[1] == groups > 1:
        return _convolve_depthwise(x, weight, windows, out)
    kernel = as_matrices(weight.reshape(groups, outputs // groups, terms))
    elements = sliding_windows(x, windows)
    result = np.empty((batch, groups, outputs // groups, prod(out)), x.dtype)
    row = prod(out[1:])
    for images, rows in _tiles(batch, out[0], groups * terms * row):
        columns = elements[(images, ..., rows, *(slice(None) for _ in out[1:]))]
        tile = result[images, ..., rows.start * row : rows.stop * row]
        # This copies, unless windows have one element and are adjacent.
        columns = columns.reshape(len(columns), groups, terms, tile.shape[-1])
        np.matmul(kernel, as_matrices(columns), out=tile)
    return result.reshape(batch, outputs, *out)


def _tiles(batch: int, rows: int, row: int) -> Iterator[tuple[slice, slice]]:
    """Yield ranges of images and of rows that cover a batch, in tiles of up to `_TILE` elements.

    `rows` is the number of rows of an image, `row` the number of window elements for a row.
    """
    per_tile = max(1, _TILE // max(1, rows * row))
    for image in range(0, batch, per_tile):
        images = slice(image, min(batch, image + per_tile))
        step = rows if per_tile > 1 else max(1, _TILE // max(1, row))
        for start in range(0, rows, step):
            yield images, slice(start, min(rows, start + step))


def _convolve_depthwise(
    x: Array, weight: Array, windows: Sequence[Window], out: tuple[int, ...]
) -> Array:
    """Return the depthwise convolution: each channel separately.

    A sum over the window elements, with all channels at once: matrices would be tiny.
    """
    result = np.zeros((len(x), len(weight), *out), x.dtype)
    for index in np.ndindex(*weight.shape[2:]):
        at = tuple(map(tap, windows, index, out))
        factors = weight[:, 0, *index].reshape(-1, *(1 for _ in out))
        result += x[..., *at] * factors
    return result


def convolve_transposed(
    x: Array, weight: Array, windows: Sequence[Window], groups: int, out: tuple[int, ...]
) -> Array:
    """Return the transposed convolution of `x` (NC...) and `weight` (IO...), of spatial size `out`.

    A matrix product whose rows are added to the result at the positions of the windows.
    """
    batch, inputs, *sizes = x.shape
    outputs, terms = groups * weight.shape[1], prod(weight.shape[1:])
    kernel = weight.reshape(groups, inputs // groups, terms).swapaxes(1, 2)
    columns = matrix_product(kernel, x.reshape(batch, groups, inputs // groups, prod(sizes)))
    columns = columns.reshape(batch, outputs, *weight.shape[2:], *sizes)
    # The sizes of the result before the padding is cut off.
    ends = (w.before + n for w, n in zip(windows, out, strict=True))
    full = [max(w.covered(n), e) for w, n, e in zip(windows, sizes, ends, strict=True)]
    check_size((batch, outputs, *full))
    result = np.zeros((batch, outputs, *full), columns.dtype)
    for index in np.ndindex(*weight.shape[2:]):
        result[..., *map(tap, windows, index, sizes)] += columns[:, :, *index]
    return result[..., *(slice(w.before, w.before + n) for w, n in zip(windows, out, strict=True))]


CONVOLUTION: Semantics = dict.fromkeys(operations(convolution_ops), convolution)


# Semantics of attention: f16 is computed in f32, and rounded once.


def attention(
    op: AttentionOp, query: Array, key: Array, value: Array, bias: Array | None = None
) -> Array:
    """Return the attention of each head; a query without keys gives zeros."""
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        raise InterpretationError(f"{op.name}: the batches of the operands differ")
    group = query.shape[2] // max(1, key.shape[2])
    scale = 1 / sqrt(query.shape[3] or 1) if op.scale is None else op.scale
    # batch, heads, length, dim
    queries = widen(query).swapaxes(1, 2)
    keys, values = (widen(x).swapaxes(1, 2).repeat(group, axis=1) for x in (key, value))
    queries = queries * queries.dtype.type(scale)
    scores = matrix_product(queries, keys.swapaxes(2, 3))
    if bias is not None and bias.dtype == np.bool_:
        scores = np.where(bias, scores, scores.dtype.type(op.masked_value))
    elif bias is not None:
        scores = scores + widen(bias)
    if op.causal_mask != "none":
        rows, columns = scores.shape[2:]
        past = columns - rows if op.causal_mask == "BottomRight" else 0
        scores = np.where(np.tri(rows, columns, past, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    sums = powers.sum(axis=-1, keepdims=True)
    result = matrix_product((powers / sums).astype(values.dtype), values)
    if op.nan_to_zero:
        result = np.where(np.isnan(sums), result.dtype.type(0), result)
    return result.swapaxes(1, 2)


ATTENTION: Semantics = {AttentionOp: attention}
