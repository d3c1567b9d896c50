"""Resizing to computed sizes: one axis after the other, by gathered elements and weights."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Float
from ...errors import Unsupported
from ...node import Node
from .resize_request import Resize

__all__ = ["axis_by_axis"]


def axis_by_axis(given: Resize, x: SSAValue) -> SSAValue:
    """Resize axis by axis: gather the elements around each coordinate, and sum them with weights
    that depend on their distance."""
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
    """Return an element of a vector."""
    return node.op("take", vector, node.full(index, i64), axis=0, mode="wrap")


def broadcastable(node: Node, value: SSAValue, after: int) -> SSAValue:
    """Append `after` dimensions of size 1 to a vector."""
    return node.op("expand_dims", value, axis=[*range(1, after + 1)]) if after else value


def scales_and_sizes(
    given: Resize, dims: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return the scale and the new size of each axis, as f64."""
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
    if given.policy == "stretch" or not scales:
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
    """Return the coordinates, on the old axis, of the elements of the new axis, and a mask of
    those that are outside, if the mode has a value for these."""
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
    """Return the index of the element nearest to each coordinate."""
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
    """Clip indices to the range of the axis."""
    last = node.op("subtract", dim, node.full(1, f64))
    index = node.op("minimum", node.op("maximum", index, node.full(0, f64)), last)
    return node.cast(index, i64)


def interpolated(
    given: Resize, x: SSAValue, axis: int, places: SSAValue, dim: SSAValue, scale: SSAValue
) -> SSAValue:
    """Return the weighted sum of the elements around each coordinate."""
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
    """Evaluate the linear interpolation kernel: max(0, 1 - distance)."""
    weight = node.op("subtract", node.full(1, f64), distance)
    return node.op("maximum", weight, node.full(0, f64))


def cubic_kernel(node: Node, x: SSAValue) -> SSAValue:
    """Evaluate Keys' cubic convolution kernel at x."""
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
