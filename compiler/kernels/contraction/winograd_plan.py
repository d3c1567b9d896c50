"""The transforms of Winograd's algorithm for convolutions of 3x3 windows, F(m x m, 3x3).

A tile of m x m outputs is computed from a tile of t x t elements of the data, t = m + 2. With W the
windows and D the data of a channel, and * multiplying element by element:

    outputs = A^T [ sum over channels of (G W G^T) * (B^T D B) ] A

t * t products take the place of 9 * m * m. The matrices follow from t - 1 points, which are 0 and
pairs of p and -p, and from infinity. The rows of p and -p have the same even terms and opposite odd
terms, so that both cost little more than one.

Sources: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016; on the choice of
points: Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ....dialects.relax.shapes import Shape
from ....dialects.relax.windows import Window
from ....dialects.target import Target
from ..builder import KernelBuilder
from ..scalars import CONTRACT
from ..tiles.cost_model import bandwidth, cycles, schedule_of
from ..tiles.schedule import ContractionOperand, Extents

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


Tile: TypeAlias = list[list[SSAValue]]
Transform: TypeAlias = Callable[
    [KernelBuilder, Sequence[SSAValue], Sequence[float]], list[SSAValue]
]

POINTS: dict[int, tuple[float, ...]] = {2: (1.0,), 4: (0.625, 1.5)}
"""The points above 0 for tiles of m x m outputs. All coefficients are exact in f32. The points 1
and 2, the usual ones of F(4x4, 3x3), have twice the error."""


def transform(b: KernelBuilder, tile: Tile, m: int, of_vector: Transform) -> Tile:
    """Return a tile of m x m outputs whose columns, and then rows, are transformed."""
    # B^T D B is B^T applied to the columns and then to the rows: 2 t transforms of vectors.
    columns = [of_vector(b, column, POINTS[m]) for column in zip(*tile, strict=True)]
    return [of_vector(b, row, POINTS[m]) for row in zip(*columns, strict=True)]


def transform_of_data(
    b: KernelBuilder, x: Sequence[SSAValue], points: Sequence[float]
) -> list[SSAValue]:
    """Return B^T x. The row of a point q has the coefficients of the product of z - r over all
    other points r. The last row has those of the product over all points."""
    # For F(2x2, 3x3), whose points are 0, 1, -1 and infinity, B^T x of four elements is
    #
    #     x2 - x0,  x1 + x2,  x2 - x1,  x3 - x1
    whole = coefficients(points)
    result = [combine(b, whole, x[0::2])]
    for p in points:
        others = coefficients(q for q in points if q != p)
        # For F(4x4) and p = 0.625, the other points have z^2 - 2.25, so even is x4 - 2.25 x2 and
        # odd is x3 - 2.25 x1: the rows of p and -p are even + p * odd and even - p * odd.
        even, odd = combine(b, others, x[2::2]), combine(b, others, x[1:-1:2])
        result += [multiply_add(b, p, odd, even), multiply_add(b, -p, odd, even)]
    return [*result, combine(b, whole, x[1::2])]


def transform_of_sums(
    b: KernelBuilder, x: Sequence[SSAValue], points: Sequence[float]
) -> list[SSAValue]:
    """Return A^T x: row k has the powers q^k of all points q, and the last row 1 for infinity."""
    zero, *pairs, infinity = x
    sums = [multiply_add(b, 1, v, u) for u, v in zip(pairs[0::2], pairs[1::2], strict=True)]
    differences = [multiply_add(b, -1, v, u) for u, v in zip(pairs[0::2], pairs[1::2], strict=True)]
    last = 2 * len(points) - 1
    result: list[SSAValue] = []
    for k in range(last + 1):
        start = zero if k == 0 else infinity if k == last else None
        parts = differences if k % 2 else sums
        result.append(combine(b, [p**k for p in points], parts, start))
    return result


def weights_of(array: Array, m: int) -> Array:
    """Return the transformed weight for tiles of m x m outputs, as t * t matrices of outputs and
    channels; it is rounded once."""
    import numpy as np

    # For F(2x2), with the sign of its first row turned together with that of the data, G is
    #
    #     -1 0 0    1/2 1/2 1/2    1/2 -1/2 1/2    0 0 1
    g = np.array(weight_transform(POINTS[m]))
    # In f64, as the divisors are not exact in f32.
    tiles = g @ array.astype(np.float64) @ g.T
    outputs, channels, *_ = array.shape
    return tiles.transpose(2, 3, 0, 1).reshape(-1, outputs, channels).astype(array.dtype)


def weight_transform(points: Sequence[float]) -> list[list[float]]:
    """Return G. The row of a point q is 1, q, q^2, divided by the product of q - r over the other
    points r."""
    rows = [[1 / coefficients(points)[0], 0, 0]]
    for p in points:
        others = coefficients(q for q in points if q != p)
        # The product of p - r over r = 0, -p and the pairs q, -q is p * 2p * the product of p^2 -
        # q^2. For -p it is the same, as two factors change their sign.
        divisor = 2 * p**2 * sum(c * p ** (2 * k) for k, c in enumerate(others))
        rows += [[1 / divisor, q / divisor, q * q / divisor] for q in (p, -p)]
    return [*rows, [0, 0, 1]]


def coefficients(points: Iterable[float]) -> list[float]:
    """Return the coefficients of the product of z - p^2 over `points`, lowest first."""
    result = [1.0]
    for p in points:
        result = [a - p * p * c for a, c in zip([0.0, *result], [*result, 0.0], strict=True)]
    return result


def combine(
    b: KernelBuilder,
    factors: Sequence[float],
    x: Sequence[SSAValue],
    start: SSAValue | None = None,
) -> SSAValue:
    """Return `start` and the sum of the products of `factors` and `x`."""
    # A factor of 1 first: it needs no product.
    for factor, value in sorted(zip(factors, x, strict=True), key=lambda pair: pair[0] != 1):
        start = multiply_add(b, factor, value, start)
    assert start is not None
    return start


def multiply_add(b: KernelBuilder, factor: float, x: SSAValue, total: SSAValue | None) -> SSAValue:
    """Return `total + factor * x`."""
    if factor == -1 and total is not None:
        return b.pure(arith.SubfOp, total, x)
    if factor != 1:
        x = b.pure(arith.MulfOp, b.number(factor, x.type), x, flags=CONTRACT)
    return x if total is None else b.pure(arith.AddfOp, total, x, flags=CONTRACT)


# The tiles and blocks of convolutions by Winograd's algorithm, chosen by the cost model.


# The costs of the algorithm in addition to the matrix products, in cycles.

TRANSFORM = 2.5
"""The cycles of transforming a vector of elements, with its load and store."""
MOVE = 1.5
"""The cycles of copying an element from a row to the phases of its columns, or back."""
EXPOSED = 0.25
"""The part of the time to read the weight that products do not hide: blocks of few tiles read it
often."""

MAX_TILES = 256
"""The most tiles of a block of several rows: products of more columns are not faster."""


@dataclass(frozen=True)
class Convolution:
    """A convolution of 3x3 windows of stride and dilation 1, in one group, of elements of f32."""

    windows: tuple[Window, Window]
    data: Shape
    """Images, channels, rows, columns."""
    outputs: int
    merged: bool
    """True if a block of the direct kernel may consist of several rows of the result."""

    @property
    def image(self) -> tuple[int, int]:
        """The rows and columns of the result."""
        (row, column), (*_, height, width) = self.windows, self.data
        return row.count(height), column.count(width)


@dataclass(frozen=True)
class WinogradPlan:
    """The extents of tiles and blocks. The tiles of a block are transformed and multiplied
    together: in few blocks, the weight is read rarely; small blocks stay in the caches."""

    convolution: Convolution
    m: int
    """The outputs of a tile, along each dimension."""
    rows: int
    columns: int
    """The tiles of a block."""
    gain: float = 0
    """The estimated time of the direct kernel, divided by that of this plan."""

    @property
    def t(self) -> int:
        """The elements of the data that a tile reads, along each dimension."""
        return self.m + 2

    @property
    def tiles(self) -> int:
        """The tiles of a block."""
        return self.rows * self.columns

    @property
    def blocks(self) -> tuple[int, int]:
        """The blocks of an image, along its rows and its columns."""
        height, width = self.convolution.image
        return -(-height // (self.rows * self.m)), -(-width // (self.columns * self.m))

    @property
    def name(self) -> str:
        return f"F({self.m}x{self.m}, 3x3)"


@cache
def best_plan(convolution: Convolution, largest: int, target: Target) -> WinogradPlan:
    """Return the plan with the lowest estimate whose tiles have at most `largest` outputs along
    each dimension."""
    plans = {plan: estimate(plan, target) for plan in candidates(convolution, largest)}
    best = min(plans, key=plans.__getitem__)
    return replace(best, gain=direct_estimate(convolution, target) / plans[best])


def candidates(convolution: Convolution, largest: int) -> Iterator[WinogradPlan]:
    """Yield the plans that are worth an estimate: blocks of equal parts of a row of tiles, or of
    whole rows."""
    # A tile of 4x4 outputs takes 36 products for 144 (a quarter), one of 2x2 16 for 36; but for 7
    # columns, two tiles of 4 compute 8, and 4x4 has about 2.6 times the rounding error of 2x2.
    # Hence the user says which tiles are allowed (`winograd`), and the estimate decides among
    # those.
    for m in (m for m in POINTS if m <= largest):
        down, across = (-(-n // m) for n in convolution.image)
        for columns in {-(-across // n) for n in (1, 2, 3, 4, 6, 8)}:
            yield WinogradPlan(convolution, m, 1, columns)
        for rows in {-(-down // n) for n in range(1, down)}:
            if rows * across <= MAX_TILES:
                yield WinogradPlan(convolution, m, rows, across)


def direct_estimate(convolution: Convolution, target: Target) -> float:
    """Return an estimate of the cycles that the direct kernel takes for an image on one core."""
    target = replace(target, cores=1)
    _, channels, *extents = convolution.data
    outputs, merged = convolution.outputs, convolution.merged
    e = Extents(outputs, *convolution.image, channels, 9, 32, merged, ContractionOperand.LHS, 3)
    copy = channels * prod(extents) / target.lanes(32)
    return cycles(schedule_of(e, target), e, target) + copy


def estimate(plan: WinogradPlan, target: Target) -> float:
    """Return an estimate of the cycles that an image takes on one core. Blocks that cores cannot
    share evenly count as more."""
    # The products are t * t small matrix products, whose time the cost model of the direct kernel
    # knows; the transforms read and write t * t matrices of the data and of the sums; the data are
    # copied into phases, and the sums back.
    blocks = -(-prod(plan.blocks) // target.cores) * target.cores
    target = replace(target, cores=1)
    convolution = plan.convolution
    outputs, image = convolution.outputs, convolution.image
    _, channels, *extents = convolution.data
    matrices = plan.t**2
    e = Extents(
        m=outputs,
        rows=1,
        columns=plan.tiles,
        inputs=channels,
        taps=1,
        bits=32,
        merged=False,
        constant=ContractionOperand.LHS,
    )
    products = matrices * cycles(schedule_of(e, target), e, target)
    weight = 4 * matrices * outputs * channels  # bytes; each block reads all of them
    reading = weight / bandwidth(weight, target)
    products = max(products, reading) + EXPOSED * reading
    elements = matrices * (channels + outputs)  # of each tile
    vectors = plan.rows * -(-plan.columns // lanes_of(plan, target.lanes(32)))
    size = 4 * elements * plan.tiles  # bytes, which are written and read
    transforms = elements * vectors * TRANSFORM + 2 * size / bandwidth(size, target)
    moves = MOVE * (channels * prod(extents) + outputs * prod(image))
    return blocks * (products + transforms) + moves


def lanes_of(plan: WinogradPlan, lanes: int) -> int:
    """Return the lanes of vectors of tiles: a power of two, at most the tiles of a row."""
    return min(lanes, 1 << plan.columns.bit_length() - 1)
