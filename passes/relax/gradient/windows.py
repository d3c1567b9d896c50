"""Gradients of pooling and resizing: of maxima by their places, of what is linear by matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from ....compiler.interpreters.arrays import Array
from ....compiler.interpreters.relax.images import resample
from ....dialects.relax import images as image
from ....dialects.relax import windows as pooling
from ....dialects.relax.expression import by_operation
from ....dialects.relax.windows import Window
from .contraction import relayout
from .tensors import Tensors, Traced

AnyPoolOp: TypeAlias = pooling.PoolOp | pooling.AdaptivePoolOp


def window_elements(window: Window, extent: int) -> Array:
    """Return the positions of the elements of each window along a dimension, one row a window; -1
    for positions outside of it."""
    count = window.count(extent)
    first = np.arange(count)[:, None] * window.stride - window.before
    places = first + np.arange(window.size) * window.dilation
    return np.where((places >= 0) & (places < extent), places, -1)


def range_elements(size: int, extent: int) -> Array:
    """Return the positions of the elements of each range of adaptive pooling to `size`, one row a
    range; -1 behind the end of a short range."""
    # floor(i * extent / size) up to ceil((i + 1) * extent / size): ranges may overlap.
    first = np.arange(size) * extent // size
    end = -(-(np.arange(size) + 1) * extent // size)
    places = first[:, None] + np.arange(int(np.max(end - first, initial=0)))
    return np.where(places < end[:, None], places, -1)


def elements_of(op: AnyPoolOp, sizes: Sequence[int]) -> list[Array]:
    """Return for each spatial dimension the positions of the elements that each result is of."""
    if isinstance(op, pooling.PoolOp):
        return [window_elements(w, n) for w, n in zip(op.pool_windows(), sizes, strict=True)]
    return [range_elements(*pair) for pair in zip(op.output_sizes(), sizes, strict=True)]


def max_pool(op: AnyPoolOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Add the adjoint of each result to the first maximum of its window."""
    (layout, out_layout), plain = op.layouts(), "NC" + op.SPATIAL
    x, g = relayout(b.of(op.data), layout, plain), relayout(g, out_layout, plain)
    (batch, channels, *sizes), extent = x.shape, prod(x.shape[2:])
    places: Array = _flat(elements_of(op, sizes), sizes)
    count, size = places.shape
    starts: Array = np.arange(0, count * size, size, dtype=np.int64)
    table = b.integers(places.ravel())
    flat = x.reshape(batch, channels, extent)
    # An element of -inf at the end stands for all positions outside: none is a maximum.
    if (places == extent).any():
        flat = flat.op("nn.pad", pad_width=[0, 0, 0, 0, 0, 1], pad_value=float("-inf"))
    windows = flat.op("take", table, axis=2, mode="fast")
    # All elements of each window are read into rows; `argmax` finds the first maximum of each.
    # That takes `size` times the memory, but only operations that exist.
    tap = windows.reshape(batch, channels, count, size).op("argmax", axis=3)
    element = tap + b.integers(starts)
    place = table.op("take", element, axis=0, mode="fast")
    zeros = x.of(b.full(0.0, x.element, (batch, channels, extent + 1)))
    updates = g.reshape(batch, channels, count)
    added = zeros.op("scatter_elements", place, updates, axis=2, reduction="add")
    return (relayout(added.slice(2, 0, extent).reshape(*x.shape), plain, layout),)


def _flat(elements: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Return the row-major positions of the elements of each window over all dimensions; the number
    of elements for positions outside.

    `elements` has the positions along each dimension, `sizes` the sizes of the dimensions.
    """
    flat: Array = np.zeros((1, 1), np.int64)
    for places, size in zip(elements, sizes, strict=True):
        # Each window of the dimensions so far with each of the next one, and so their elements.
        outer, inner = flat[:, None, :, None], places[None, :, None, :]
        joined = np.where((outer < 0) | (inner < 0), -1, outer * size + inner)
        flat = joined.reshape(flat.shape[0] * places.shape[0], -1)
    return np.where(flat < 0, prod(sizes), flat)


def avg_pool(op: AnyPoolOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Spread the adjoint of each result over its window, divided by the number of elements."""
    (layout, out_layout), plain = op.layouts(), "NC" + op.SPATIAL
    x, g = relayout(b.of(op.data), layout, plain), relayout(g, out_layout, plain)
    sizes = x.shape[2:]
    for axis, (places, size, counts) in enumerate(
        zip(elements_of(op, sizes), sizes, divisors(op, sizes), strict=True), 2
    ):
        # A mean is linear: a matrix of windows by elements along each dimension, one after the
        # other.
        taken = (places[:, :, None] == np.arange(size)).sum(axis=1)
        g = g.contract(axis, (taken / np.maximum(counts, 1)[:, None]).T)
    return (relayout(g, plain, layout),)


def divisors(op: AnyPoolOp, sizes: Sequence[int]) -> list[Array]:
    """Return for each spatial dimension the number of elements that each mean divides by."""
    if isinstance(op, pooling.AvgPoolOp) and op.count_include_pad:
        # The padding counts as elements; positions behind it, of a last window, do not.
        windows = zip(op.pool_windows(), sizes, strict=True)
        padded = [
            window_elements(
                Window(w.axis, w.size, w.stride, w.dilation, 0, 0, w.ceil), w.before + n + w.after
            )[: w.count(n)]
            for w, n in windows
        ]
    else:
        padded = elements_of(op, sizes)
    return [(places >= 0).sum(axis=1) for places in padded]


def resized(op: image.ResizeOp | image.UpsamplingOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Apply the transposed matrix of the interpolation along each dimension."""
    layout, count = op.data_layout(), g.rank - 2
    plain = "NC" + "DHW"[-count:]
    x, g = relayout(b.of(op.data), layout, plain), relayout(g, layout, plain)
    sampling = replace(op.sampling(), extrapolation=0.0)
    scales, roi = (None, None) if isinstance(op, image.UpsamplingOp) else (op.scales, op.roi)
    for i in range(count):
        # The interpolation of the unit vectors: its columns are how each element is spread.
        matrix = resample(
            np.eye(x.shape[i + 2]),
            [0],
            [g.shape[i + 2]],
            sampling,
            None if scales is None else [scales[i]],
            None if roi is None else [roi[i], roi[i + count]],
        )
        g = g.contract(i + 2, matrix.T)
    return (relayout(g, plain, layout),)


def space_to_depth(op: image.SpaceToDepthOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g.op("nn.depth_to_space", block_size=op.block_size, layout=op.layout),)


def depth_to_space(op: image.DepthToSpaceOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Split the pixels into blocks, and move the positions in a block to the channels."""
    layout, block = op.data_layout(), op.block_size
    x, g = relayout(b.of(op.data), layout, "NCHW"), relayout(g, layout, "NCHW")
    batch, channels, height, width = x.shape
    split = g.reshape(batch, channels // block**2, height, block, width, block)
    order = [0, 3, 5, 1, 2, 4] if op.mode == "DCR" else [0, 1, 3, 5, 2, 4]
    return (relayout(split.transpose(*order).reshape(*x.shape), "NCHW", layout),)


GRADIENTS = by_operation(
    {
        max_pool: """
            nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.adaptive_max_pool1d
            nn.adaptive_max_pool2d nn.adaptive_max_pool3d nn.global_max_pool2d
        """,
        avg_pool: """
            nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.adaptive_avg_pool1d
            nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.global_avg_pool2d
        """,
        resized: "image.resize1d image.resize2d image.resize3d nn.upsampling",
        space_to_depth: "nn.space_to_depth",
        depth_to_space: "nn.depth_to_space",
    }
)
