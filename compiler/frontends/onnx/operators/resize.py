"""Converters of operators that resize an image, or read it at fractional coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import floor, isfinite
from operator import mul

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Float
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, extent_along, inputs, total

# Converters of Resize and Upsample.


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


# Converters of operators that read an image at fractional coordinates.


_SAMPLING_METHODS = {
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
    "nearest": "nearest",
}
_PADDING = {"zeros": "zeros", "border": "border", "reflection": "reflection"}


@dataclass
class Axis:
    """A spatial axis of the image, and the coordinates of the new elements on it."""

    size: int | Expression
    places: Expression
    padding: str
    corners: bool

    def clipped(self, places: Expression) -> Expression:
        """Clip coordinates to the image."""
        return places.clipped(0.0, self.size - 1)

    def reflected(self, places: Expression) -> Expression:
        """Reflect coordinates at the borders until they are inside of the image."""
        low, high = (0.0, self.size - 1.0) if self.corners else (-0.5, self.size - 0.5)
        span = high - low
        if isinstance(span, Expression):
            # An image of one element has no span: what is not a number is clipped no more.
            period = (2 * span).op("maximum", 1.0)
        elif span == 0:
            return places * 0
        else:
            period = 2 * span
        rest = (places - low).op("abs") % period
        return rest.op("minimum", 2 * span - rest) + low

    def normalized(self) -> Expression:
        """Convert the coordinates of a grid, from -1 to 1, to element indices."""
        half = (self.size - 1) / 2 if self.corners else self.size / 2
        return self.places * half + (self.size - 1) / 2

    def taps(
        self, places: Expression, offsets: Sequence[int], weights: Sequence[Expression]
    ) -> Taps:
        """Return the elements at these offsets from the rounded-down coordinates, with their
        weights."""
        base = places.op("floor")
        pairs = zip(offsets, weights, strict=True)
        return [self.inside(base + offset if offset else base, weight) for offset, weight in pairs]

    def inside(self, index: Expression, weight: Expression) -> tuple[Expression, Expression]:
        """Return an index and its weight, 0 for an index in zero padding."""
        if self.padding == "reflection":
            index = self.reflected(index)
        elif self.padding == "zeros":
            weight = ((index >= 0) & (index < self.size)).where(weight, 0)
        return self.clipped(index).cast(i64), weight


Taps = list[tuple[Expression, Expression]]
"""The elements of an axis that a place is made of, with their weights."""


def grid_sample(node: Node) -> Expression:
    """Convert GridSample: the weighted sum of the elements around each coordinate; grids have x
    before y."""
    x, grid = inputs(node, 0, 1)
    method = node.choice("mode", _SAMPLING_METHODS, "linear")
    padding, corners = node.choice("padding_mode", _PADDING, "zeros"), node.bool("align_corners")
    rank = x.rank - 2
    make = {"linear": linear_taps, "cubic": cubic_taps, "nearest": nearest_taps}[method]
    axes = [
        Axis(extent_along(x, 2 + i, grid.element), grid.at(-1, rank - 1 - i), padding, corners)
        for i in range(rank)
    ]
    return weighted(x, [make(axis) for axis in axes])


def linear_taps(axis: Axis) -> Taps:
    places = bounded(axis)
    fraction = places - places.op("floor")
    return axis.taps(places, (0, 1), (1 - fraction, fraction))


def bounded(axis: Axis) -> Expression:
    """Return the coordinates, those outside mapped as the padding mode says."""
    places = axis.normalized()
    if axis.padding == "border":
        return axis.clipped(places)
    return axis.clipped(axis.reflected(places)) if axis.padding == "reflection" else places


def nearest_taps(axis: Axis) -> Taps:
    return [axis.inside(bounded(axis).op("round"), axis.places.scalar(1))]


def cubic_taps(axis: Axis) -> Taps:
    """Return the taps of Keys' cubic convolution, with alpha = -0.75."""
    places, alpha = axis.normalized(), -0.75
    fraction = places - places.op("floor")

    def near(x: Expression) -> Expression:
        return x.polynomial(alpha + 2, -(alpha + 3), 0, 1)

    def far(x: Expression) -> Expression:
        return x.polynomial(alpha, -5 * alpha, 8 * alpha, -4 * alpha)

    rest = 1 - fraction
    after, before = fraction + 1, rest + 1
    weights = (far(after), near(fraction), near(rest), far(before))
    return axis.taps(places, (-1, 0, 1, 2), weights)


def weighted(x: Expression, taps: Sequence[Taps]) -> Expression:
    """Sum over all combinations of the taps of the axes; transpose the result from [N,
    coordinates..., C]."""
    rank = x.rank
    last = x.transpose(0, *range(2, rank), 1)
    terms: list[Expression] = []
    for choice in product(*taps):
        first, *others = (index for index, _ in choice)
        taken = last.op("gather_nd", first.op("stack", *others, axis=-1), batch_dims=1)
        weight = reduce(mul, (weight for _, weight in choice)).cast(x.element)
        terms.append(taken * (weight.expand(-1) if weight.rank else weight))
    return total(terms).transpose(0, rank - 1, *range(1, rank - 1))


SAMPLING: Converters = {"GridSample": grid_sample}
