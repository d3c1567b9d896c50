"""Converters of Resize and Upsample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i64
from xdsl.ir import SSAValue

from ......dialects.relax.types import Float
from ...errors import Unsupported
from ...node import Converters, Node
from ..expression import Expression

__all__ = ["RESIZE"]

_METHODS = {
    "nearest": "nearest_neighbor",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
}
_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def resize(node: Node) -> SSAValue:
    """Convert Resize to `relax.image.resize` if the sizes are known, else axis by axis."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    rank = node.rank(x)
    axes = [node.axis(axis, x) for axis in node.ints("axes") or range(rank)]
    resizing = Resizing(node, axes, method)
    if node.opset >= 11:
        resizing.coordinates = node.string("coordinate_transformation_mode", "half_pixel")
        resizing.rounding = node.string("nearest_mode", "round_prefer_floor")
        resizing.policy = node.string("keep_aspect_ratio_policy", "stretch")
        resizing.roi_index, resizing.scales_index, resizing.sizes_index = 1, 2, 3
    return resized(resizing, x)


def upsample(node: Node) -> SSAValue:
    """Convert Upsample, which Resize replaces since opset 10; before opset 9 scales are an
    attribute."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    if node.opset < 9:
        if (scales := node.floats("scales")) is None:
            raise Unsupported("its form before opset 7")
        node = node.alike([x, node.array(np.array(scales), f64)])
    axes = [*range(node.rank(x))]
    return resized(Resizing(node, axes, method), x)


def resized(resizing: Resizing, x: SSAValue) -> SSAValue:
    """Resize x to constant sizes or scales if they are known, else axis by axis."""
    node = resizing.node
    extents = [node.shape(x)[axis] for axis in resizing.axes]
    scales = resizing.floats(resizing.scales_index)
    sizes = resizing.floats(resizing.sizes_index)
    if scales is not None and min(scales) <= 0:
        raise Unsupported(f"scales = {scales}, expected positive numbers")
    if sizes is not None and min(sizes) < 0:
        raise Unsupported(f"sizes = {sizes}, expected numbers of at least 0")
    known = scales is not None or sizes is not None
    crops = resizing.coordinates == "tf_crop_and_resize"
    roi = resizing.floats(resizing.roi_index, 2) if crops else None  # else it has no effect
    if not known or 0 in extents or (crops and roi is None):
        return axis_by_axis(resizing, x)
    if DYNAMIC_INDEX in extents and (crops or scales is None or resizing.policy != "stretch"):
        return axis_by_axis(resizing, x)
    if scales is None:
        assert sizes is not None
        scales = proportions(resizing, sizes, extents)
        if resizing.policy != "stretch":  # rounded half up, as ONNX says
            sizes = [floor(s * extent + 0.5) for s, extent in zip(scales, extents, strict=True)]
        whole = [int(size) for size in sizes]
        return at_once(resizing, x, extents, scales, roi, whole)
    return at_once(resizing, x, extents, scales, roi)


def proportions(resizing: Resizing, sizes: Sequence[float], extents: Sequence[int]) -> list[float]:
    """Return the scales for given sizes: the same for all axes if proportions are kept."""
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if resizing.policy == "not_larger":
        return [min(scales)] * len(scales)
    if resizing.policy == "not_smaller":
        return [max(scales)] * len(scales)
    return scales


# Sizes that are known


def at_once(
    resizing: Resizing,
    x: SSAValue,
    extents: Sequence[int],
    scales: Sequence[float],
    roi: Sequence[float] | None,
    sizes: Sequence[int] | None = None,
) -> SSAValue:
    """Resize by one `relax.image.resize` of the axes that change, or axis by axis if they are more
    than it takes."""
    node, count = resizing.node, len(resizing.axes)
    if sizes is None:
        pairs = zip(scales, extents, strict=True)
        sizes = [-1 if extent == DYNAMIC_INDEX else floor(s * extent) for s, extent in pairs]
    crops = resizing.coordinates == "tf_crop_and_resize"
    starts, ends = [0.0] * count, [1.0] * count
    if roi is not None:
        starts, ends = list(roi[:count]), list(roi[count:])
    changed = [
        i
        for i in range(count)
        if scales[i] != 1
        or (sizes[i] != extents[i] and extents[i] != DYNAMIC_INDEX)
        or (starts[i], ends[i]) != (0, 1)
    ]
    if not changed:
        return x
    rank = node.rank(x)
    # The operation has two dimensions that are not spatial. If more do not change, the last ones
    # are made spatial; if fewer, dimensions of size 1 are added.
    same = [i for i in sorted(range(count), key=lambda i: resizing.axes[i]) if i not in changed]
    changed += same[len(same) - max(0, rank - len(changed) - 2) :]
    changed.sort(key=lambda i: resizing.axes[i])
    spatial = len(changed)
    if spatial > 3 or rank - spatial > 2:
        return axis_by_axis(resizing, x)
    missing = spatial + 2 - rank
    if missing:
        x = node.op("expand_dims", x, axis=[*range(missing)])
    places = [resizing.axes[i] + missing for i in changed]
    letters = iter(_SPATIAL[spatial])
    others = iter("NC")
    layout = "".join(next(letters if i in places else others) for i in range(rank + missing))
    exact = all(sizes[i] != -1 and sizes[i] / extents[i] == scales[i] for i in changed)
    y = node.op(
        f"image.resize{spatial}d",
        x,
        size=[sizes[i] for i in changed],
        scales=None if exact else [scales[i] for i in changed],
        roi=[*(starts[i] for i in changed), *(ends[i] for i in changed)] if crops else None,
        layout=layout,
        method=resizing.method,
        coordinate_transformation_mode=resizing.coordinates,
        rounding_method=resizing.rounding,
        cubic_alpha=node.float("cubic_coeff_a", -0.75),
        cubic_exclude=node.int("exclude_outside"),
        antialias=node.bool("antialias"),
        extrapolation_value=node.float("extrapolation_value"),
    )
    return node.op("squeeze", y, axis=[*range(missing)]) if missing else y


# Sizes that are computed: one axis after the other, by gathered elements and weights


@dataclass
class Resizing:
    """The attributes of a node, in the form of the newest opset, and the indices of its inputs,
    None for one that its opset does not have."""

    node: Node
    axes: list[int]
    method: str
    coordinates: str = "asymmetric"
    rounding: str = "floor"
    policy: str = "stretch"
    roi_index: int | None = None
    scales_index: int = 1
    sizes_index: int | None = None

    def has(self, index: int | None) -> bool:
        """Return whether an input is present and not empty."""
        if index is None or not self.node.has(index):
            return False
        return self.node.shape(index) != (0,)

    def floats(self, index: int | None, each: int = 1) -> list[float] | None:
        """Return the numbers of a constant input, `each` per axis; None if it is absent or not
        constant. Unsupported if one is not finite."""
        if index is None or not self.has(index):
            return None
        if (array := self.node.constant(index)) is None:
            return None
        if array.size != each * len(self.axes):
            raise Unsupported(f"input {index} has {array.size} elements for {len(self.axes)} axes")
        numbers = [float(number) for number in array.reshape(-1)]
        if not all(map(isfinite, numbers)):
            raise Unsupported(f"input {index} is {numbers}, expected finite numbers")
        return numbers


def axis_by_axis(resizing: Resizing, x: SSAValue) -> SSAValue:
    """Resize axis by axis: gather the elements around each coordinate, and sum them with weights
    that depend on their distance."""
    node = resizing.node
    y = Expression(node, x)
    element, rank = y.element, y.rank
    shape = y.op("shape_of").cast(f64)
    dims = [shape.at(0, axis) for axis in resizing.axes]
    scales, sizes = scales_and_sizes(resizing, dims)
    outside: Expression | None = None
    for i, axis in enumerate(resizing.axes):
        places, beyond = coordinates(resizing, i, dims[i], scales[i], sizes[i])
        if resizing.method == "nearest_neighbor":
            y = y.take(nearest(resizing, places, dims[i]), axis)
        else:
            y = interpolated(resizing, y, axis, places, dims[i], scales[i])
        if beyond is not None:
            beyond = beyond.expand(*range(1, rank - axis))
            outside = beyond if outside is None else outside | beyond
    if outside is not None:
        y = outside.where(y.scalar(node.float("extrapolation_value")), y)
    return y.cast(element).value


def scales_and_sizes(
    resizing: Resizing, dims: Sequence[Expression]
) -> tuple[list[Expression], list[Expression]]:
    """Return the scale and the new size of each axis, as f64."""
    if resizing.has(resizing.scales_index):
        scales = numbers(resizing, resizing.scales_index)
        products = [scale * dim for scale, dim in zip(scales, dims, strict=True)]
        return scales, [product.op("floor") for product in products]
    if (sizes_index := resizing.sizes_index) is None:
        raise Unsupported("scales without elements")
    sizes = numbers(resizing, sizes_index)
    scales = [size / dim for size, dim in zip(sizes, dims, strict=True)]
    if resizing.policy == "stretch" or not scales:
        return scales, sizes
    common, *others = scales
    for other in others:
        common = common.op("minimum" if resizing.policy == "not_larger" else "maximum", other)
    half = common.scalar(0.5)
    rounded = [common * dim + half for dim in dims]
    return [common] * len(dims), [size.op("floor") for size in rounded]


def numbers(resizing: Resizing, index: int) -> list[Expression]:
    """Return the numbers of an input, one for each axis, as f64."""
    vector = Expression(resizing.node, resizing.node.input(index)).cast(f64)
    return [vector.at(0, i) for i in range(len(resizing.axes))]


def coordinates(
    resizing: Resizing, i: int, dim: Expression, scale: Expression, size: Expression
) -> tuple[Expression, Expression | None]:
    """Return the coordinates, on the old axis, of the elements of the new axis, and a mask of
    those that are outside, if the mode has a value for these.

    Source: the formulas of `coordinate_transformation_mode` in ONNX's Resize.
    """
    x = dim.scalar(0).op("arange", size, 1)
    middle = (x + 0.5) / scale
    half_pixel = middle - 0.5
    several = size > 1
    length = scale * dim
    match resizing.coordinates:
        case "half_pixel":
            return half_pixel, None
        case "half_pixel_symmetric":
            # Symmetric to the middle, although the size is rounded down from the exact length.
            adjustment = size / length
            return dim / 2 * (1 - adjustment) + half_pixel, None
        case "pytorch_half_pixel":
            return several.where(half_pixel, x), None
        case "tf_half_pixel_for_nn":
            return middle, None
        case "asymmetric":
            return x / scale, None
        case _:
            pass
    last, gaps = dim - 1, length - 1
    if resizing.coordinates == "align_corners":
        return several.where(x * last / gaps, x), None
    if resizing.coordinates != "tf_crop_and_resize":
        raise Unsupported(f"coordinate_transformation_mode '{resizing.coordinates}'")
    assert resizing.roi_index is not None  # it came with this mode, in opset 11
    roi = Expression(resizing.node, resizing.node.input(resizing.roi_index)).cast(f64)
    start, end = roi.at(0, i), roi.at(0, i + len(resizing.axes))
    width = (end - start) * last
    spread = start * last + x * width / gaps
    center = (start + end) * 0.5 * last
    places = several.where(spread, x + center)  # x is a single 0 there
    return places, (places < 0) | (places > last)


def nearest(resizing: Resizing, places: Expression, dim: Expression) -> Expression:
    """Return the index of the element nearest to each coordinate."""
    match resizing.rounding:
        case "round_prefer_floor":
            index = (places - 0.5).op("ceil")
        case "round_prefer_ceil":
            index = (places + 0.5).op("floor")
        case "floor" | "ceil":
            index = places.op(resizing.rounding)
        case _:
            raise Unsupported(f"nearest_mode '{resizing.rounding}'")
    return clipped(index, dim)


def clipped(index: Expression, dim: Expression) -> Expression:
    """Clip indices to the range of the axis."""
    last = dim - 1
    return index.op("maximum", 0).op("minimum", last).cast(i64)


def interpolated(
    resizing: Resizing,
    x: Expression,
    axis: int,
    places: Expression,
    dim: Expression,
    scale: Expression,
) -> Expression:
    """Return the weighted sum of the elements around each coordinate.

    Source: the interpolation of ONNX's reference implementation of Resize.
    """
    node, cubic = resizing.node, resizing.method == "cubic"
    reach, shrink = scale.scalar(2 if cubic else 1), scale.scalar(1)
    if node.bool("antialias"):
        shrink = scale.op("minimum", shrink)
    # Offsets from the element before the coordinate whose weight may not be 0: 0 1 for linear, -1 0
    # 1 2 for cubic. With antialiasing and half of the size they are -1 to 2, and -3 to 4.
    first = (-reach / shrink).op("floor") + 1
    end = 2 - first
    offsets = first.op("arange", end, 1).expand(1)
    # Distances, weights and indices have the dimensions offset, coordinate.
    base = places.op("floor")
    distance = ((offsets - (places - base)) * shrink).op("abs")
    weights = cubic_kernel(node, distance) if cubic else (1 - distance).op("maximum", 0)
    index = base + offsets
    if exclude := node.bool("exclude_outside"):
        weights = ((index >= 0) & (index < dim)).where(weights, 0)
    if exclude or node.bool("antialias"):
        weights = weights / weights.sum(0, keepdims=True)
    if not isinstance(x.element, Float):
        x = x.cast(f64)
    taken = x.take(clipped(index, dim), axis)
    weights = weights.cast(x.element).expand(*range(2, x.rank - axis + 1))
    return (taken * weights).sum(axis)


def cubic_kernel(node: Node, x: Expression) -> Expression:
    """Evaluate Keys' cubic convolution kernel at x."""
    alpha = node.float("cubic_coeff_a", -0.75)
    near = x.polynomial(alpha + 2, -(alpha + 3), 0, 1)
    far = x.polynomial(alpha, -5 * alpha, 8 * alpha, -4 * alpha)
    far = (x < 2).where(far, 0)
    return (x <= 1).where(near, far)


RESIZE: Converters = {"Resize": resize, "Upsample": upsample}
