"""Semantics of convolutions: a matrix product of the weight with the elements of all windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from .....dialects.relax import operations
from .....dialects.relax.contraction import convolution as ops
from .....dialects.relax.layout import Layout
from .....dialects.relax.windows.windows import Window
from ...arrays import Array, check_size
from ..layout import relayout
from ..table import Semantics
from ..windows.windows import pad_to_windows, sliding_windows, tap
from .linear_algebra import as_matrices, matrix_product, sums_of_products

__all__ = ["CONVOLUTION", "convolve", "convolve_transposed"]

_TILE = 1 << 21
"""The number of window elements that are copied at a time.

A few MB: small enough for a cache, and large enough that BLAS's thread synchronization is cheap.
"""


def convolution(op: ops.ConvolutionOp, data: Array, weight: Array) -> Array:
    data_layout, kernel_layout, out_layout = op.layouts()
    transposed = isinstance(op, ops.TransposedConvolutionOp)
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


CONVOLUTION: Semantics = dict.fromkeys(operations(ops), convolution)
