"""Semantics of operations on images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ....dialects.relax import images as ops
from ....dialects.relax.layout import Layout
from ..arrays import Array, bounds, element_of
from .array_functions import Semantics
from .control import relayout

Coordinates = NDArray[np.float64]


def resize(op: ops.ResizeOp, data: Array) -> Array:
    layout, plain = Layout.parse(op.layout), Layout.parse("NC" + op.SPATIAL)
    data = relayout(data, layout, plain)
    axes = range(2, data.ndim)
    result = resample(
        data, axes, op.sizes([data.shape[axis] for axis in axes]), op.sampling(), op.scales, op.roi
    )
    return relayout(_as_elements(op, result, data), plain, layout)


def upsampling(op: ops.UpsamplingOp, data: Array) -> Array:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data = relayout(data, layout, plain)
    sizes = op.sizes(data.shape[2:])
    result = resample(data, (2, 3), sizes, op.sampling())
    return relayout(_as_elements(op, result, data), plain, layout)


def _as_elements(op: ops.ResampleOp | ops.UpsamplingOp, result: Array, data: Array) -> Array:
    """Return the result of interpolation; for integers truncated and clamped to their range."""
    if data.dtype.kind == "f" or result.dtype == data.dtype:
        return result
    minimum, maximum = bounds(element_of(op.result.type))
    excess = max(0, int(maximum).bit_length() - 53)  # to the next f64 that is not above it
    maximum -= (1 << excess) - 1
    return np.clip(np.trunc(result), minimum, maximum).astype(data.dtype)


def resample(
    data: Array,
    axes: Sequence[int],
    sizes: Sequence[int],
    sampling: ops.Sampling,
    scales: Sequence[float] | None = None,
    roi: Sequence[float] | None = None,
) -> Array:
    """Return the array resampled to `sizes` along `axes`, one axis after the other.

    Interpolated integers become f64. `scales` and `roi` are those of `ResampleOp`.
    """
    outside: list[Array] = []
    rank = data.ndim
    for i, (axis, size) in enumerate(zip(axes, sizes, strict=True)):
        extent = data.shape[axis]
        scale = None if scales is None else scales[i]
        start, end = (0.0, 1.0) if roi is None else (roi[i], roi[i + len(axes)])
        places = coordinates(sampling.mode, extent, size, scale, start, end)
        if sampling.mode == "tf_crop_and_resize":
            beyond = (places < 0) | (places > extent - 1)
            outside.append(beyond.reshape(-1, *(1,) * (rank - 1 - axis)))
        if size == extent and (places == np.arange(size)).all():
            continue
        if sampling.method == "nearest_neighbor":
            data = data.take(nearest(places, sampling.rounding, extent), axis)
        else:
            data = _interpolate(data, axis, places, scale or size / extent, sampling)
    if outside:
        data = np.where(reduce(np.bitwise_or, outside), sampling.extrapolation, data)
    return data


def coordinates(
    mode: str, extent: int, size: int, scale: float | None, start: float, end: float
) -> Coordinates:
    """Map each index of a dimension of size `size` to its coordinate in one of size `extent`.

    `mode` is the coordinate transformation, `start` and `end` the region of interest. With a
    `scale`, the new size in the formulas is scale * extent; `size` is its integral part (ONNX).
    """
    x = np.arange(size, dtype=np.float64)
    length = size if scale is None else scale * extent

    # Multiply first: integral coordinates are then exact.
    def back(x: Coordinates) -> Coordinates:
        return x * extent / size if scale is None else x / scale

    match mode:
        case "half_pixel":
            return back(x + 0.5) - 0.5
        case "half_pixel_symmetric":
            return extent / 2 * (1 - size / length) + back(x + 0.5) - 0.5
        case "pytorch_half_pixel":
            return back(x + 0.5) - 0.5 if size > 1 else x
        case "tf_half_pixel_for_nn":
            return back(x + 0.5)
        case "align_corners":
            return x * (extent - 1) / (length - 1) if size > 1 else x
        case "asymmetric":
            return back(x)
        case _:
            if size == 1:
                return x + (start + end) * (extent - 1) / 2
            return start * (extent - 1) + x * (end - start) * (extent - 1) / (length - 1)


def nearest(places: Coordinates, rounding: str, extent: int) -> NDArray[np.intp]:
    """Return the index of the element nearest to each coordinate."""
    match rounding:
        case "round":
            index = np.rint(places)
        # As in TVM, coordinates that miss an integer by a rounding error count as that integer.
        case "floor":
            index = np.floor(places + 1e-5)
        case "ceil":
            index = np.ceil(places - 1e-5)
        case "round_prefer_floor":
            index = np.ceil(places - 0.5)
        case _:
            index = np.floor(places + 0.5)
    return np.clip(index, 0, extent - 1).astype(np.intp)


def _interpolate(
    data: Array, axis: int, places: Coordinates, scale: float, sampling: ops.Sampling
) -> Array:
    """Return the linear or cubic interpolation at the coordinates `places` along `axis`.

    Each result is the sum of the elements around a coordinate, weighted by their distance from it.
    """
    extent = data.shape[axis]
    cubic = sampling.method == "cubic"
    # Antialiasing widens the kernel when the image shrinks: distances are scaled down.
    shrink = min(scale, 1.0) if sampling.antialias else 1.0
    first = int(np.floor(-(2 if cubic else 1) / shrink)) + 1
    offsets = np.arange(first, 2 - first)[:, None]
    base = np.floor(places)
    distances = (offsets - (places - base)) * shrink
    weights = _cubic(distances, sampling.alpha) if cubic else np.maximum(1 - abs(distances), 0)
    index = base.astype(np.intp) + offsets
    if sampling.exclude:
        weights = np.where((index >= 0) & (index < extent), weights, 0)
    if sampling.exclude or sampling.antialias:
        weights = weights / weights.sum(axis=0)
    index = index.clip(0, extent - 1)
    floating = data.dtype.kind == "f"
    dtype = np.promote_types(data.dtype, np.float32) if floating else np.float64
    data = data.astype(dtype, copy=False)
    along = (-1, *(1,) * (data.ndim - 1 - axis))
    terms = (
        data.take(i, axis) * w.astype(dtype).reshape(along)
        for i, w in zip(index, weights, strict=True)
    )
    return reduce(np.add, terms)


def _cubic(distances: Coordinates, alpha: float) -> Coordinates:
    """Return the weights of Keys' cubic convolution kernel (IEEE Trans. ASSP 29, 1981)."""
    x = abs(distances)
    near = ((alpha + 2) * x - (alpha + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * alpha - 4 * alpha
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def space_to_depth(op: ops.SpaceToDepthOp, data: Array) -> Array:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, h, w = data.shape
    split = data.reshape(n, c, h // block, block, w // block, block)
    joined = split.transpose(0, 3, 5, 1, 2, 4)
    return relayout(joined.reshape(n, c * block * block, h // block, w // block), plain, layout)


def depth_to_space(op: ops.DepthToSpaceOp, data: Array) -> Array:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, h, w = data.shape
    inner = c // (block * block)
    if op.mode == "DCR":
        split = data.reshape(n, block, block, inner, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        split = data.reshape(n, inner, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return relayout(split.reshape(n, inner, h * block, w * block), plain, layout)


IMAGE: Semantics = {
    ops.Resize1dOp: resize,
    ops.Resize2dOp: resize,
    ops.Resize3dOp: resize,
    ops.UpsamplingOp: upsampling,
    ops.SpaceToDepthOp: space_to_depth,
    ops.DepthToSpaceOp: depth_to_space,
}
