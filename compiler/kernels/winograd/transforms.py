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

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..builder import KernelBuilder
from ..scalars import CONTRACT

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["POINTS", "Tile", "transform", "transform_of_data", "transform_of_sums", "weights_of"]

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
    """Return B^T x. The row of a point q has the coefficients of the product of z - r over the
    other points r; the last row has those of the product over all points."""
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

    # Of F(2x2), with the sign of its first row turned together with that of the data, G is
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
