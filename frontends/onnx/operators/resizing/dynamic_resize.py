"""Resizing to computed sizes: one axis after the other, by gathered elements and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Float
from ...errors import Unsupported
from ...node import Node
from ..expression import Expression

__all__ = ["Resize", "axis_by_axis"]


@dataclass
class Resize:
    """The attributes of a node, in the form of the newest opset, and the indices of its inputs."""

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
        """Return whether an input is present and not empty."""
        if index is None or not self.node.has(index):
            return False
        return self.node.shape(index) != (0,)

    def floats(self, index: int | None, each: int = 1) -> list[float] | None:
        """Return the numbers of a constant input, `each` per axis; None if it is absent or not
        constant."""
        if index is None or not self.given(index):
            return None
        if (array := self.node.constant(index)) is None:
            return None
        if array.size != each * len(self.axes):
            raise Unsupported(f"input {index} has {array.size} elements for {len(self.axes)} axes")
        return [float(number) for number in array.reshape(-1)]


def axis_by_axis(given: Resize, x: SSAValue) -> SSAValue:
    """Resize axis by axis: gather the elements around each coordinate, and sum them with weights
    that depend on their distance."""
    node = given.node
    y = Expression(node, x)
    element, rank = y.element, y.rank
    shape = y.op("shape_of").cast(f64)
    dims = [shape.at(0, axis) for axis in given.axes]
    scales, sizes = scales_and_sizes(given, dims)
    outside: Expression | None = None
    for i, axis in enumerate(given.axes):
        places, beyond = coordinates(given, i, dims[i], scales[i], sizes[i])
        if given.method == "nearest_neighbor":
            y = y.take(nearest(given, places, dims[i]), axis)
        else:
            y = interpolated(given, y, axis, places, dims[i], scales[i])
        if beyond is not None:
            beyond = beyond.expand(*range(1, rank - axis))
            outside = beyond if outside is None else outside | beyond
    if outside is not None:
        y = outside.where(y.scalar(node.float("extrapolation_value")), y)
    return y.cast(element).value


def scales_and_sizes(
    given: Resize, dims: Sequence[Expression]
) -> tuple[list[Expression], list[Expression]]:
    """Return the scale and the new size of each axis, as f64."""
    if given.scales is None and given.sizes is None:
        raise Unsupported("scales of more than 3 dimensions")
    if given.given(given.scales):
        scales = numbers(given, given.scales)
        products = [scale * dim for scale, dim in zip(scales, dims, strict=True)]
        return scales, [product.op("floor") for product in products]
    sizes = numbers(given, given.sizes)
    scales = [size / dim for size, dim in zip(sizes, dims, strict=True)]
    if given.policy == "stretch" or not scales:
        return scales, sizes
    common, *others = scales
    for other in others:
        common = common.op("minimum" if given.policy == "not_larger" else "maximum", other)
    half = common.scalar(0.5)
    rounded = [common * dim + half for dim in dims]
    return [common] * len(dims), [size.op("floor") for size in rounded]


def numbers(given: Resize, index: int | None) -> list[Expression]:
    """Return the numbers of an input, one for each axis, as f64."""
    vector = Expression(given.node, given.node.input(index or 0)).cast(f64)
    return [vector.at(0, i) for i in range(len(given.axes))]


def coordinates(
    given: Resize, i: int, dim: Expression, scale: Expression, size: Expression
) -> tuple[Expression, Expression | None]:
    """Return the coordinates, on the old axis, of the elements of the new axis, and a mask of
    those that are outside, if the mode has a value for these."""
    x = dim.scalar(0).op("arange", size, 1)
    middle = (x + 0.5) / scale
    half_pixel = middle - 0.5
    several = size > 1
    length = scale * dim
    match given.coordinates:
        case "half_pixel":
            return half_pixel, None
        case "half_pixel_symmetric":
            cut = 1 - size / length
            return dim / 2 * cut + half_pixel, None
        case "pytorch_half_pixel":
            return several.where(half_pixel, x), None
        case "tf_half_pixel_for_nn":
            return middle, None
        case "asymmetric":
            return x / scale, None
        case _:
            pass
    last, gaps = dim - 1, length - 1
    if given.coordinates == "align_corners":
        return several.where(x * last / gaps, x), None
    if given.coordinates != "tf_crop_and_resize":
        raise Unsupported(f"coordinate_transformation_mode '{given.coordinates}'")
    roi = Expression(given.node, given.node.input(given.roi or 0)).cast(f64)
    start, end = roi.at(0, i), roi.at(0, i + len(given.axes))
    width = (end - start) * last
    spread = start * last + x * width / gaps
    centre = (start + end) * 0.5 * last
    places = several.where(spread, x + centre)
    return places, (places < 0) | (places > last)


def nearest(given: Resize, places: Expression, dim: Expression) -> Expression:
    """Return the index of the element nearest to each coordinate."""
    match given.rounding:
        case "round_prefer_floor":
            index = (places - 0.5).op("ceil")
        case "round_prefer_ceil":
            index = (places + 0.5).op("floor")
        case "floor" | "ceil":
            index = places.op(given.rounding)
        case _:
            raise Unsupported(f"nearest_mode '{given.rounding}'")
    return clipped(index, dim)


def clipped(index: Expression, dim: Expression) -> Expression:
    """Clip indices to the range of the axis."""
    last = dim - 1
    return index.op("maximum", 0).op("minimum", last).cast(i64)


def interpolated(
    given: Resize,
    x: Expression,
    axis: int,
    places: Expression,
    dim: Expression,
    scale: Expression,
) -> Expression:
    """Return the weighted sum of the elements around each coordinate."""
    node, cubic = given.node, given.method == "cubic"
    reach, shrink = scale.scalar(2 if cubic else 1), scale.scalar(1)
    if node.bool("antialias"):
        shrink = scale.op("minimum", shrink)
    first = (-reach / shrink).op("floor") + 1
    end = 2 - first
    offsets = first.op("arange", end, 1).expand(1)
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
