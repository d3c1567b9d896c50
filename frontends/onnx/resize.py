"""Operators that give dimensions of a tensor another size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i64
from xdsl.ir import SSAValue

from ...dialects.relax.types import Float
from .errors import Unsupported
from .node import Converters, Node

__all__ = ["RESIZE"]

_METHODS = {
    "nearest": "nearest_neighbor",
    "linear": "linear",
    "bilinear": "linear",
    "cubic": "cubic",
}
_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass
class Resize:
    """What a node says, in any version: the attributes, and which inputs are which."""

    node: Node
    axes: list[int]
    method: str
    coordinates: str
    rounding: str
    roi: int | None
    scales: int | None
    sizes: int | None
    policy: str = "stretch"

    def given(self, index: int | None) -> bool:
        """Whether an input is given and not empty."""
        if index is None or not self.node.has(index):
            return False
        return self.node.shape(index) != (0,)

    def floats(self, index: int | None, each: int = 1) -> list[float] | None:
        """The numbers in an input that is given and depends on constants alone, so many an axis."""
        if index is None or not self.given(index):
            return None
        if (array := self.node.constant(index)) is None:
            return None
        if array.size != each * len(self.axes):
            raise Unsupported(f"input {index} has {array.size} elements for {len(self.axes)} axes")
        return [float(number) for number in array.reshape(-1)]


def resize(node: Node) -> Sequence[SSAValue]:
    """An operation of relax if the sizes are known, else each axis by itself."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    rank = node.rank(x)
    axes = [node.axis(axis, x) for axis in node.ints("axes") or range(rank)]
    if node.opset < 11:
        given = Resize(node, axes, method, "asymmetric", "floor", None, 1, None)
    else:
        coordinates = node.string("coordinate_transformation_mode", "half_pixel")
        rounding = node.string("nearest_mode", "round_prefer_floor")
        policy = node.string("keep_aspect_ratio_policy", "stretch")
        given = Resize(node, axes, method, coordinates, rounding, 1, 2, 3, policy)
    return [resized(given, x)]


def upsample(node: Node) -> Sequence[SSAValue]:
    """The form of Resize before opset 10; scales are an attribute before opset 9."""
    x, method = node.input(0), node.choice("mode", _METHODS, "nearest")
    axes = [*range(node.rank(x))]
    if node.opset >= 9:
        given = Resize(node, axes, method, "asymmetric", "floor", None, 1, None)
        return [resized(given, x)]
    if (scales := node.floats("scales")) is None:
        raise Unsupported("its form before opset 7")
    given = Resize(node, axes, method, "asymmetric", "floor", None, None, None)
    extents = node.static_shape(x)
    return [at_once(given, x, extents, scales, None)]


def resized(given: Resize, x: SSAValue) -> SSAValue:
    node = given.node
    extents = [node.shape(x)[axis] for axis in given.axes]
    scales, sizes, roi = (
        given.floats(given.scales),
        given.floats(given.sizes),
        given.floats(given.roi, 2),
    )
    known = scales is not None or sizes is not None
    crops = given.coordinates == "tf_crop_and_resize"
    if not known or DYNAMIC_INDEX in extents or 0 in extents or (crops and roi is None):
        return axis_by_axis(given, x)
    if scales is None:
        assert sizes is not None
        scales = proportions(given, sizes, extents)
        if given.policy != "stretch":
            sizes = [floor(s * extent + 0.5) for s, extent in zip(scales, extents, strict=True)]
        whole = [int(size) for size in sizes]
        return at_once(given, x, extents, scales, roi, whole)
    return at_once(given, x, extents, scales, roi)


def proportions(given: Resize, sizes: Sequence[float], extents: Sequence[int]) -> list[float]:
    """The scales for sizes: one for all axes, if the proportions are to be kept."""
    scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
    if given.policy == "not_larger":
        return [min(scales)] * len(scales)
    if given.policy == "not_smaller":
        return [max(scales)] * len(scales)
    return scales


# Sizes that are known


def at_once(
    given: Resize,
    x: SSAValue,
    extents: Sequence[int],
    scales: Sequence[float],
    roi: Sequence[float] | None,
    sizes: Sequence[int] | None = None,
) -> SSAValue:
    """`relax.image.resize` of the axes that change."""
    node, count = given.node, len(given.axes)
    if sizes is None:
        sizes = [floor(s * extent) for s, extent in zip(scales, extents, strict=True)]
    crops = given.coordinates == "tf_crop_and_resize"
    starts, ends = [0.0] * count, [1.0] * count
    if crops and roi is not None:
        starts, ends = list(roi[:count]), list(roi[count:])
    changed = [
        i
        for i in range(count)
        if scales[i] != 1 or sizes[i] != extents[i] or (starts[i], ends[i]) != (0, 1)
    ]
    if not changed:
        return x
    rank = node.rank(x)
    # Spatial are all but two dimensions: some may be so that do not change.
    same = [i for i in sorted(range(count), key=lambda i: given.axes[i]) if i not in changed]
    changed += same[len(same) - max(0, rank - len(changed) - 2) :]
    changed.sort(key=lambda i: given.axes[i])
    spatial = len(changed)
    if spatial > 3 or rank - spatial > 2:
        return axis_by_axis(given, x)
    missing = spatial + 2 - rank
    if missing:
        x = node.op("expand_dims", x, axis=[*range(missing)])
    places = [given.axes[i] + missing for i in changed]
    letters = iter(_SPATIAL[spatial])
    others = iter("NC")
    layout = "".join(next(letters if i in places else others) for i in range(rank + missing))
    exact = all(sizes[i] / extents[i] == scales[i] for i in changed)
    y = node.op(
        f"image.resize{spatial}d",
        x,
        size=[sizes[i] for i in changed],
        scales=None if exact else [scales[i] for i in changed],
        roi=[*(starts[i] for i in changed), *(ends[i] for i in changed)] if crops else None,
        layout=layout,
        method=given.method,
        coordinate_transformation_mode=given.coordinates,
        rounding_method=given.rounding,
        cubic_alpha=node.float("cubic_coeff_a", -0.75),
        cubic_exclude=node.int("exclude_outside"),
        antialias=node.bool("antialias"),
        extrapolation_value=node.float("extrapolation_value"),
    )
    return node.op("squeeze", y, axis=[*range(missing)]) if missing else y


# Sizes that are computed


def axis_by_axis(given: Resize, x: SSAValue) -> SSAValue:
    """Each axis in turn: its elements are taken from the places that the coordinates say, and
    weighted by their distance from them."""
    node = given.node
    element = node.element(x)
    extents = node.op("shape_of", x)
    shape = node.cast(extents, f64)
    dims = [number_at(node, shape, axis) for axis in given.axes]
    scales, sizes = scales_and_sizes(given, dims)
    outside: SSAValue | None = None
    y = x
    rank = node.rank(x)
    for i, axis in enumerate(given.axes):
        places, beyond = coordinates(given, i, dims[i], scales[i], sizes[i])
        if given.method == "nearest_neighbor":
            y = node.op("take", y, nearest(given, places, dims[i]), axis=axis, mode="clip")
        else:
            y = interpolated(given, y, axis, places, dims[i], scales[i])
        if beyond is not None:
            beyond = broadcastable(node, beyond, rank - 1 - axis)
            outside = beyond if outside is None else node.op("logical_or", outside, beyond)
    if outside is not None:
        value = node.like(node.float("extrapolation_value"), y)
        y = node.op("where", outside, value, y)
    return node.cast(y, element)


def number_at(node: Node, vector: SSAValue, index: int) -> SSAValue:
    """An element of a vector."""
    return node.op("take", vector, node.full(index, i64), axis=0, mode="wrap")


def broadcastable(node: Node, value: SSAValue, after: int) -> SSAValue:
    """A vector along an axis that this many follow."""
    return node.op("expand_dims", value, axis=[*range(1, after + 1)]) if after else value


def scales_and_sizes(
    given: Resize, dims: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The scale and the new size of each axis, as f64."""
    node, count = given.node, len(dims)
    if given.scales is None and given.sizes is None:
        raise Unsupported("scales of more than 3 dimensions")
    if given.given(given.scales):
        vector = node.cast(node.input(given.scales or 0), f64)
        scales = [number_at(node, vector, i) for i in range(count)]
        products = [node.op("multiply", s, dim) for s, dim in zip(scales, dims, strict=True)]
        return scales, [node.op("floor", product) for product in products]
    vector = node.cast(node.input(given.sizes or 0), f64)
    sizes = [number_at(node, vector, i) for i in range(count)]
    scales = [node.op("divide", size, dim) for size, dim in zip(sizes, dims, strict=True)]
    if given.policy == "stretch":
        return scales, sizes
    common, *others = scales
    for other in others:
        keep = "minimum" if given.policy == "not_larger" else "maximum"
        common = node.op(keep, common, other)
    half = node.full(0.5, f64)
    rounded = [node.op("add", node.op("multiply", common, dim), half) for dim in dims]
    return [common] * count, [node.op("floor", size) for size in rounded]


def coordinates(
    given: Resize, i: int, dim: SSAValue, scale: SSAValue, size: SSAValue
) -> tuple[SSAValue, SSAValue | None]:
    """Where in the old axis the elements of the new one are, and which of them are outside."""
    node = given.node

    def number(value: float) -> SSAValue:
        return node.full(value, f64)

    def op(name: str, *operands: SSAValue) -> SSAValue:
        return node.op(name, *operands)

    x = op("arange", number(0), size, number(1))
    middle = op("divide", op("add", x, number(0.5)), scale)
    half_pixel = op("subtract", middle, number(0.5))
    several = op("greater", size, number(1))
    length = op("multiply", scale, dim)
    match given.coordinates:
        case "half_pixel":
            return half_pixel, None
        case "half_pixel_symmetric":
            cut = op("subtract", number(1), op("divide", size, length))
            offset = op("multiply", op("divide", dim, number(2)), cut)
            return op("add", offset, half_pixel), None
        case "pytorch_half_pixel":
            return op("where", several, half_pixel, x), None
        case "tf_half_pixel_for_nn":
            return middle, None
        case "asymmetric":
            return op("divide", x, scale), None
        case _:
            pass
    last = op("subtract", dim, number(1))
    gaps = op("subtract", length, number(1))
    if given.coordinates == "align_corners":
        return op("where", several, op("divide", op("multiply", x, last), gaps), x), None
    if given.coordinates != "tf_crop_and_resize":
        raise Unsupported(f"coordinate_transformation_mode '{given.coordinates}'")
    roi = node.cast(node.input(given.roi or 0), f64)
    start, end = number_at(node, roi, i), number_at(node, roi, i + len(given.axes))
    width = op("multiply", op("subtract", end, start), last)
    spread = op("add", op("multiply", start, last), op("divide", op("multiply", x, width), gaps))
    centre = op("multiply", op("multiply", op("add", start, end), number(0.5)), last)
    places = op("where", several, spread, op("add", x, centre))
    beyond = op("logical_or", op("less", places, number(0)), op("greater", places, last))
    return places, beyond


def nearest(given: Resize, places: SSAValue, dim: SSAValue) -> SSAValue:
    """The index of the element that is nearest to each place."""
    node = given.node
    half = node.full(0.5, f64)
    match given.rounding:
        case "round_prefer_floor":
            index = node.op("ceil", node.op("subtract", places, half))
        case "round_prefer_ceil":
            index = node.op("floor", node.op("add", places, half))
        case "floor" | "ceil":
            index = node.op(given.rounding, places)
        case _:
            raise Unsupported(f"nearest_mode '{given.rounding}'")
    return clipped(node, index, dim)


def clipped(node: Node, index: SSAValue, dim: SSAValue) -> SSAValue:
    """Places of elements: those outside are at the border."""
    last = node.op("subtract", dim, node.full(1, f64))
    index = node.op("minimum", node.op("maximum", index, node.full(0, f64)), last)
    return node.cast(index, i64)


def interpolated(
    given: Resize, x: SSAValue, axis: int, places: SSAValue, dim: SSAValue, scale: SSAValue
) -> SSAValue:
    """The sums of the elements around each place, each weighted by its distance."""
    node = given.node
    cubic = given.method == "cubic"
    reach = node.full(2 if cubic else 1, f64)
    shrink = node.full(1, f64)
    if node.bool("antialias"):
        shrink = node.op("minimum", scale, shrink)
    first = node.op("floor", node.op("divide", node.op("negative", reach), shrink))
    first = node.op("add", first, node.full(1, f64))
    end = node.op("subtract", node.full(2, f64), first)
    offsets = node.op("arange", first, end, node.full(1, f64))
    offsets = node.op("expand_dims", offsets, axis=[1])
    base = node.op("floor", places)
    distance = node.op("subtract", offsets, node.op("subtract", places, base))
    distance = node.op("abs", node.op("multiply", distance, shrink))
    weights = cubic_kernel(node, distance) if cubic else linear_kernel(node, distance)
    index = node.op("add", base, offsets)
    if exclude := node.bool("exclude_outside"):
        inside = node.op("greater_equal", index, node.full(0, f64))
        inside = node.op("logical_and", inside, node.op("less", index, dim))
        weights = node.op("where", inside, weights, node.full(0, f64))
    if exclude or node.bool("antialias"):
        weights = node.op("divide", weights, node.op("sum", weights, axis=[0], keepdims=True))
    if not isinstance(node.element(x), Float):
        x = node.cast(x, f64)
    taken = node.op("take", x, clipped(node, index, dim), axis=axis, mode="clip")
    after = node.rank(x) - 1 - axis
    weights = node.cast(weights, node.element(x))
    if after:
        weights = node.op("expand_dims", weights, axis=[*range(2, after + 2)])
    return node.op("sum", node.op("multiply", taken, weights), axis=[axis])


def linear_kernel(node: Node, distance: SSAValue) -> SSAValue:
    weight = node.op("subtract", node.full(1, f64), distance)
    return node.op("maximum", weight, node.full(0, f64))


def cubic_kernel(node: Node, x: SSAValue) -> SSAValue:
    """Keys' cubic convolution kernel."""
    alpha = node.float("cubic_coeff_a", -0.75)

    def polynomial(*coefficients: float) -> SSAValue:
        value = node.full(coefficients[0], f64)
        for coefficient in coefficients[1:]:
            value = node.op("add", node.op("multiply", value, x), node.full(coefficient, f64))
        return value

    near = polynomial(alpha + 2, -(alpha + 3), 0, 1)
    far = polynomial(alpha, -5 * alpha, 8 * alpha, -4 * alpha)
    far = node.op("where", node.op("less", x, node.full(2, f64)), far, node.full(0, f64))
    return node.op("where", node.op("less_equal", x, node.full(1, f64)), near, far)


RESIZE: Converters = {"Resize": resize, "Upsample": upsample}
