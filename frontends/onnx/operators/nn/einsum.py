"""Einsum: of two operands it is mostly a product of matrices, which has tiles and packed operands;
all else is `relax.einsum`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from .....dialects.relax.contraction.subscripts import Subscripts
from .....dialects.relax.types import shape_of
from ...node import Node

__all__ = ["einsum"]


def einsum(node: Node) -> Sequence[SSAValue]:
    subscripts = node.string("equation").replace(" ", "")
    operands = node.all_inputs()
    if (factors := Factors.of(node, subscripts, operands)) is not None:
        return [product(node, factors, *operands)]
    return [node.op("einsum", *operands, subscripts=subscripts)]


@dataclass(frozen=True)
class Factors:
    """Two operands, whose dimensions have names, of a product of matrices: in `bqd,bkd->bqk`, b is
    the batch, q the rows, k the columns, and d the terms of the sums."""

    lhs: Sequence[str]
    rhs: Sequence[str]
    out: Sequence[str]
    sizes: dict[str, int]

    @classmethod
    def of(cls, node: Node, subscripts: str, operands: Sequence[SSAValue]) -> Factors | None:
        """Return the factors; None if there is another number of operands, if one sums up or
        repeats a dimension by itself, if the terms are not known or broadcast, or if dimensions
        would have to be merged that are not known."""
        shapes = [shape_of(node.type(operand)) for operand in operands]
        try:
            parsed = Subscripts.parse(subscripts)
        except VerifyException:
            return None  # the operation says what is wrong
        if len(shapes) != 2 or len(parsed.terms) != 2 or None in shapes:
            return None
        known = [shape for shape in shapes if shape is not None]
        lhs, rhs = (parsed.dimensions(t, len(s)) for t, s in zip(parsed.terms, known, strict=True))
        rank = len({name for name in (*lhs, *rhs) if name[0] == "."})
        out = parsed.dimensions(parsed.output, len(parsed.output) - ("." in parsed.output) + rank)
        if (len(lhs), len(rhs)) != tuple(map(len, known)):
            return None
        sizes = dict(zip(lhs, known[0], strict=True))
        other = dict(zip(rhs, known[1], strict=True))
        factors = cls(lhs, rhs, out, other | sizes)
        alone = {name for name in {*lhs} ^ {*rhs} if name not in out}
        if alone or len(sizes) < len(lhs) or len(other) < len(rhs) or not factors.terms:
            return None
        if any(sizes[name] < 1 or sizes[name] != other[name] for name in factors.terms):
            return None
        merged = [group for group in factors.merged if len(group) > 1]
        return None if any(factors.sizes[n] < 1 for group in merged for n in group) else factors

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
    def terms(self) -> list[str]:
        return [name for name in self.lhs if name in self.rhs and name not in self.out]

    @property
    def merged(self) -> Sequence[Sequence[str]]:
        """The groups of dimensions that are one dimension of a matrix. Without a batch, rows of any
        rank are multiplied by one matrix."""
        return (self.rows if self.batch else (), self.columns, self.terms)

    def extents(self, names: Sequence[str]) -> list[int]:
        """Return sizes for `newshape`, -1 for one that is not known."""
        return [max(self.sizes[name], -1) for name in names]

    def extent(self, names: Sequence[str]) -> list[int]:
        """Return the size of the dimension into which a group is merged: 1 if it is empty and there
        is a batch; without one, a vector has no rows or columns."""
        if not names and not self.batch:
            return []
        return self.extents(names) if len(names) == 1 else [prod(self.extents(names))]


def product(node: Node, factors: Factors, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the product as `relax.matmul` of transposed and reshaped operands."""
    batch, rows, columns, terms = factors.batch, factors.rows, factors.columns, factors.terms
    merges_rows = bool(batch) and len(rows) != 1
    ahead = [0] * len(batch)  # dimensions that stay
    kept = [0] * (len(batch) + (0 if merges_rows else len(rows)))
    a = arranged(node, lhs, factors.lhs, [*batch, *rows, *terms])
    b = arranged(node, rhs, factors.rhs, [*batch, *terms, *columns])
    if merges_rows or len(terms) > 1:
        middle = factors.extent(rows) if merges_rows else []
        a = node.op("reshape", a, newshape=[*kept, *middle, *factors.extent(terms)])
    if len(terms) > 1 or len(columns) > 1 or (batch and not columns):
        newshape = [*ahead, *factors.extent(terms), *factors.extent(columns)]
        b = node.op("reshape", b, newshape=newshape)
    y = node.op("matmul", a, b)
    if merges_rows or len(columns) > 1 or (batch and not columns):
        middle = factors.extents(rows) if merges_rows else []
        y = node.op("reshape", y, newshape=[*kept, *middle, *factors.extents(columns)])
    return arranged(node, y, [*batch, *rows, *columns], factors.out)


def arranged(node: Node, x: SSAValue, names: Sequence[str], order: Sequence[str]) -> SSAValue:
    """Return a tensor whose dimensions have names with these in another order."""
    axes = [names.index(name) for name in order]
    return x if axes == sorted(axes) else node.op("transpose", x, axes=axes)
