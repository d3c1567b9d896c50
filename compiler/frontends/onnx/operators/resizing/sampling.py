"""Converters of operators that read an image at fractional coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import mul

from xdsl.dialects.builtin import i64

from ...node import Converters, Node
from ..expression import Expression, extent_along, inputs, total

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
    method = node.choice("mode", _METHODS, "linear")
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
