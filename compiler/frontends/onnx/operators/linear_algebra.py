"""Converters of determinants and inverses: Gaussian elimination, unrolled over the rows."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1

from .....dialects.relax.shapes import shape_text
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant, indices

__all__ = ["LINEAR_ALGEBRA", "inverse"]

MAX_SIZE = 64
"""The largest matrix that is eliminated: each of its rows is a dozen operations."""


def square_matrix(node: Node) -> tuple[Expression, int]:
    """Return the input, a batch of square matrices, and their size."""
    x = Expression(node, node.input(0))
    rows, columns = x.shape[-2:] if x.rank >= 2 else (0, 1)
    if rows != columns or rows == DYNAMIC_INDEX:
        raise Unsupported(
            f"input of shape {shape_text(x.shape)}, expected square matrices of known size"
        )
    if not 1 <= rows <= MAX_SIZE:
        raise Unsupported(f"matrices of {rows} rows; supported are 1 to {MAX_SIZE}")
    return x, rows


def pivoted(x: Expression, size: int, k: int) -> tuple[Expression, Expression]:
    """Swap row `k` of matrices with the row from it on that has the largest element in column
    `k`; return the index of that row, [..., 1], too."""
    numbers = indices(size, x.node)
    column = x.at(-1, k).op("abs")
    place = (numbers < k).where(-1.0, column).op("argmax", axis=-1, keepdims=True)
    chosen = numbers.equals(place).expand(x.rank - 1)
    row = chosen.where(x, 0.0).sum(-2, keepdims=True)
    this = constant(x.node, np.arange(size)[:, None] == k, i1)
    swapped = chosen.where(x.slice(-2, k, k + 1), x)
    return this.where(row, swapped), place


def det(node: Node) -> Expression:
    """Compute the determinant: the product of the pivots, negated for each swap of rows."""
    x, size = square_matrix(node)
    result: Expression | None = None
    for k in range(size):
        x, place = pivoted(x, size, k)
        pivot = x.slice(-2, k, k + 1).slice(-1, k, k + 1)
        swapped = ~place.expand(-1).equals(k)
        factor = swapped.where(-pivot, pivot)
        result = factor if result is None else result * factor
        if k + 1 < size:
            divisor = pivot.equals(0.0).where(1.0, pivot)
            below = constant(node, np.arange(size)[:, None] > k, i1)
            ratio = x.slice(-1, k, k + 1) / divisor
            x = below.where(x - ratio * x.slice(-2, k, k + 1), x)
    assert result is not None
    return result.squeeze(-2, -1)


def inverse(node: Node) -> Expression:
    """Compute the inverse by Gauss-Jordan elimination of [x, identity]."""
    x, size = square_matrix(node)
    identity = constant(node, np.eye(size), x.element).broadcast(*node.static_shape(x.value))
    x = x.concat(identity, axis=-1)
    for k in range(size):
        x, _ = pivoted(x, size, k)
        row = x.slice(-2, k, k + 1) / x.slice(-2, k, k + 1).slice(-1, k, k + 1)
        this = constant(node, np.arange(size)[:, None] == k, i1)
        x = this.where(row, x - x.slice(-1, k, k + 1) * row)
    return x.slice(-1, size, 2 * size)


LINEAR_ALGEBRA: Converters = {"Det": det}
