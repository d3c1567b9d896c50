"""Converters of Einsum, and of determinants and inverses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from .....dialects.relax.contraction.linear_algebra import Subscripts
from .....dialects.relax.shapes import shape_text
from .....dialects.relax.types import shape_of
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant, indices

# Converters of determinants and inverses: Gaussian elimination, unrolled over the rows.


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


# The converter of Einsum: to `relax.matmul` if it is a product of two matrices, or of two batches
# of them, as that kernel is tiled and packs its operands; else to `relax.einsum`.


def einsum(node: Node) -> SSAValue:
    return summation(node, node.string("equation").replace(" ", ""), *node.all_inputs())


def summation(node: Node, subscripts: str, *operands: SSAValue) -> SSAValue:
    """Return the Einstein summation `subscripts` of operands."""
    if (dimensions := MatmulDimensions.of(node, subscripts, operands)) is not None:
        return product(node, dimensions, *operands)
    return node.op("einsum", *operands, subscripts=subscripts)


@dataclass(frozen=True)
class MatmulDimensions:
    """The names of the dimensions of two operands and their matrix product, and their sizes.

    In `bqd,bkd->bqk`, b is the batch, q the rows, k the columns, and d is contracted.
    """

    lhs: Sequence[str]
    rhs: Sequence[str]
    out: Sequence[str]
    sizes: dict[str, int]

    @classmethod
    def of(
        cls, node: Node, subscripts: str, operands: Sequence[SSAValue]
    ) -> MatmulDimensions | None:
        """Return the dimensions, or None if `relax.matmul` cannot express the summation.

        It cannot if there are not two operands, if a letter occurs twice in an operand, or in one
        operand and nowhere else, if nothing is contracted, if the sizes of a contracted dimension
        are unknown, different or 0, or if a dimension that would have to be merged is unknown or 0.
        """
        shapes = [shape_of(node.type(operand)) for operand in operands]
        try:
            parsed = Subscripts.parse(subscripts)
        except VerifyException:
            return None  # the verifier of `relax.einsum` says what is wrong
        if len(shapes) != 2 or len(parsed.terms) != 2 or None in shapes:
            return None
        known = [shape for shape in shapes if shape is not None]
        lhs, rhs = (parsed.dimensions(t, len(s)) for t, s in zip(parsed.terms, known, strict=True))
        ellipsis = len({name for name in (*lhs, *rhs) if name[0] == "."})
        rank = len(parsed.output) - ("." in parsed.output) + ellipsis
        out = parsed.dimensions(parsed.output, rank)
        if (len(lhs), len(rhs)) != tuple(map(len, known)):
            return None
        sizes = dict(zip(lhs, known[0], strict=True))
        other = dict(zip(rhs, known[1], strict=True))
        found = cls(lhs, rhs, out, other | sizes)
        summed = {name for name in {*lhs} ^ {*rhs} if name not in out}
        repeats = len(sizes) < len(lhs) or len(other) < len(rhs)
        if summed or repeats or not found.contracted:
            return None
        if any(sizes[name] < 1 or sizes[name] != other[name] for name in found.contracted):
            return None
        merged = [group for group in found.groups if len(group) > 1]
        return None if any(found.sizes[name] < 1 for group in merged for name in group) else found

    @property
    def batch(self) -> list[str]:
        return [name for name in self.out if name in self.lhs and name in self.rhs]

    @property
    def rows(self) -> list[str]:
        return [name for name in self.out if name in self.lhs and name not in self.rhs]

    @property
    def columns(self) -> list[str]:
        return [name for name in self.out if name in self.rhs and name not in self.lhs]

    @property
    def contracted(self) -> list[str]:
        return [name for name in self.lhs if name in self.rhs and name not in self.out]

    @property
    def groups(self) -> Sequence[Sequence[str]]:
        """The groups of dimensions that are merged, each into one dimension of a matrix.

        The rows are only if there is a batch: else matmul takes an lhs of any rank.
        """
        return (self.rows if self.batch else (), self.columns, self.contracted)

    def sizes_of(self, names: Sequence[str]) -> list[int]:
        """Return sizes for `newshape`, -1 for one that is not known."""
        return [max(self.sizes[name], -1) for name in names]

    def merged(self, names: Sequence[str]) -> list[int]:
        """Return the size, for `newshape`, of the dimension into which a group is merged.

        An empty group gives a dimension of size 1 if there is a batch; else none, as matmul then
        takes a vector.
        """
        if not names and not self.batch:
            return []
        return self.sizes_of(names) if len(names) == 1 else [prod(self.sizes_of(names))]


def product(node: Node, dimensions: MatmulDimensions, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the product as `relax.matmul` of transposed and reshaped operands."""
    batch, rows, columns = dimensions.batch, dimensions.rows, dimensions.columns
    contracted, merged, sizes_of = dimensions.contracted, dimensions.merged, dimensions.sizes_of
    merges_rows = bool(batch) and len(rows) != 1
    # In `newshape`, 0 keeps the size of the dimension at the same position.
    kept_batch = [0] * len(batch)
    kept = kept_batch if merges_rows else [0] * (len(batch) + len(rows))
    a = transposed(node, lhs, dimensions.lhs, [*batch, *rows, *contracted])
    b = transposed(node, rhs, dimensions.rhs, [*batch, *contracted, *columns])
    if merges_rows or len(contracted) > 1:
        middle = merged(rows) if merges_rows else []
        a = node.op("reshape", a, newshape=[*kept, *middle, *merged(contracted)])
    if len(contracted) > 1 or len(columns) > 1 or (batch and not columns):
        b = node.op("reshape", b, newshape=[*kept_batch, *merged(contracted), *merged(columns)])
    y = node.op("matmul", a, b)
    if merges_rows or len(columns) > 1 or (batch and not columns):
        middle = sizes_of(rows) if merges_rows else []
        y = node.op("reshape", y, newshape=[*kept, *middle, *sizes_of(columns)])
    return transposed(node, y, [*batch, *rows, *columns], dimensions.out)


def transposed(node: Node, x: SSAValue, names: Sequence[str], order: Sequence[str]) -> SSAValue:
    """Return `x`, whose dimensions are `names`, with the dimensions in this order."""
    axes = [names.index(name) for name in order]
    return x if axes == sorted(axes) else node.op("transpose", x, axes=axes)
