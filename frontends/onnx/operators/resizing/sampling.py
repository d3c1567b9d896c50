"""Converters of operators that read an image at fractional coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...node import Converters, Node

__all__ = ["SAMPLING"]

_METHODS = {
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

    node: Node
    size: int
    places: SSAValue
    padding: str
    corners: bool

    def number(self, value: float) -> SSAValue:
        return self.node.like(value, self.places)

    def clipped(self, places: SSAValue) -> SSAValue:
        """Clip coordinates to the image."""
        return self.node.op("clip", places, min=0.0, max=float(self.size - 1))

    def reflected(self, places: SSAValue) -> SSAValue:
        """Reflect coordinates at the borders until they are inside of the image."""
        low, high = (0.0, self.size - 1.0) if self.corners else (-0.5, self.size - 0.5)
        span = high - low
        if span == 0:
            return self.node.op("multiply", places, self.number(0))
        op = self.node.op
        shifted = op("abs", op("subtract", places, self.number(low)))
        rest = op("floor_mod", shifted, self.number(2 * span))
        rest = op("minimum", rest, op("subtract", self.number(2 * span), rest))
        return op("add", rest, self.number(low))

    def normalized(self) -> SSAValue:
        """Convert the coordinates of a grid, from -1 to 1, to element indices."""
        half = (self.size - 1) / 2 if self.corners else self.size / 2
        scaled = self.node.op("multiply", self.places, self.number(half))
        return self.node.op("add", scaled, self.number((self.size - 1) / 2))

    def taps(self, places: SSAValue, offsets: Sequence[int], weights: Sequence[SSAValue]) -> Taps:
        """Return the elements at these offsets from the rounded-down coordinates, with their
        weights."""
        base = self.node.op("floor", places)
        indices: list[SSAValue] = []
        factors: list[SSAValue] = []
        for offset, weight in zip(offsets, weights, strict=True):
            index = self.node.op("add", base, self.number(offset)) if offset else base
            index, weight = self.inside(index, weight)
            indices.append(index)
            factors.append(weight)
        return indices, factors

    def inside(self, index: SSAValue, weight: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Return an index and its weight, 0 for an index in zero padding."""
        op = self.node.op
        if self.padding == "reflection":
            index = self.reflected(index)
        elif self.padding == "zeros":
            within = op("greater_equal", index, self.number(0))
            within = op("logical_and", within, op("less", index, self.number(self.size)))
            weight = op("where", within, weight, self.number(0))
        return self.node.cast(self.clipped(index), i64), weight


Taps = tuple[list[SSAValue], list[SSAValue]]
"""The elements of an axis that a place is made of, and the weights of each."""


def grid_sample(node: Node) -> Sequence[SSAValue]:
    """Convert GridSample: the weighted sum of the elements around each coordinate; grids have x
    before y."""
    x, grid = node.input(0), node.input(1)
    method = node.choice("mode", _METHODS, "linear")
    padding, corners = node.choice("padding_mode", _PADDING, "zeros"), node.bool("align_corners")
    spatial = node.static_shape(x)[2:]
    make = {"linear": linear_taps, "cubic": cubic_taps, "nearest": nearest_taps}[method]
    axes = [
        Axis(node, size, coordinate(node, grid, len(spatial) - 1 - i), padding, corners)
        for i, size in enumerate(spatial)
    ]
    return [weighted(node, x, [make(axis) for axis in axes])]


def coordinate(node: Node, grid: SSAValue, index: int) -> SSAValue:
    """Return one component of the coordinates."""
    return node.op("take", grid, node.full(index, i64), axis=-1, mode="wrap")


def linear_taps(axis: Axis) -> Taps:
    op = axis.node.op
    places = bounded(axis)
    fraction = op("subtract", places, op("floor", places))
    return axis.taps(places, (0, 1), (op("subtract", axis.number(1), fraction), fraction))


def bounded(axis: Axis) -> SSAValue:
    """Return the coordinates, those outside mapped as the padding mode says."""
    places = axis.normalized()
    if axis.padding == "border":
        return axis.clipped(places)
    return axis.clipped(axis.reflected(places)) if axis.padding == "reflection" else places


def nearest_taps(axis: Axis) -> Taps:
    index = axis.node.op("round", bounded(axis))
    index, weight = axis.inside(index, axis.number(1))
    return [index], [weight]


def cubic_taps(axis: Axis) -> Taps:
    """Return the taps of Keys' cubic convolution, with alpha = -0.75."""
    op, alpha = axis.node.op, -0.75
    places = axis.normalized()
    fraction = op("subtract", places, op("floor", places))

    def polynomial(x: SSAValue, *coefficients: float) -> SSAValue:
        value = axis.number(coefficients[0])
        for coefficient in coefficients[1:]:
            value = op("add", op("multiply", value, x), axis.number(coefficient))
        return value

    def near(x: SSAValue) -> SSAValue:
        return polynomial(x, alpha + 2, -(alpha + 3), 0, 1)

    def far(x: SSAValue) -> SSAValue:
        return polynomial(x, alpha, -5 * alpha, 8 * alpha, -4 * alpha)

    rest = op("subtract", axis.number(1), fraction)
    after, before = op("add", fraction, axis.number(1)), op("add", rest, axis.number(1))
    weights = (far(after), near(fraction), near(rest), far(before))
    return axis.taps(places, (-1, 0, 1, 2), weights)


def weighted(node: Node, x: SSAValue, taps: Sequence[Taps]) -> SSAValue:
    """Sum over all combinations of the taps of the axes; transpose the result from [N,
    coordinates..., C]."""
    rank = node.rank(x)
    last = node.op("transpose", x, axes=[0, *range(2, rank), 1])
    terms: list[SSAValue] = []
    for choice in product(*(zip(*tap, strict=True) for tap in taps)):
        indices = node.op("stack", *(index for index, _ in choice), axis=-1)
        taken = node.op("gather_nd", last, indices, batch_dims=1)
        weight = reduce(multiplied(node), (weight for _, weight in choice))
        weight = node.cast(weight, node.element(x))
        if node.rank(weight):
            weight = node.op("expand_dims", weight, axis=[-1])
        terms.append(node.op("multiply", taken, weight))
    total = reduce(lambda a, b: node.op("add", a, b), terms)
    return node.op("transpose", total, axes=[0, rank - 1, *range(1, rank - 1)])


def multiplied(node: Node) -> Callable[[SSAValue, SSAValue], SSAValue]:
    return lambda a, b: node.op("multiply", a, b)


SAMPLING: Converters = {"GridSample": grid_sample}
