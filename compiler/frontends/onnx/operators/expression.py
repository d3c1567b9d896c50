"""Arithmetic on values with Python's operators, for converters that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Self, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64

from .....dialects.relax.expression import Operand, TensorExpression
from .....dialects.relax.types import Element
from ....interpreters.arrays import Array
from ..node import Converter, Node

__all__ = [
    "Expression",
    "Operand",
    "constant",
    "extent_along",
    "formula",
    "given",
    "indices",
    "inputs",
    "optional",
    "size_along",
    "total",
]


class Expression(TensorExpression[Node]):
    """A value of a node, with what converters that are formulas use."""

    @property
    def node(self) -> Node:
        """The node, which creates the operations."""
        return self.builder

    def clipped(self, low: float, high: float | Expression) -> Self:
        """Clip to an interval, whose end may be computed."""
        if isinstance(high, Expression):
            return self.op("maximum", low).op("minimum", high)
        return self.op("clip", min=low, max=float(high))

    def expand(self, *axes: int) -> Self:
        """Insert dimensions of size 1, at these axes of the result."""
        return self.op("expand_dims", axis=axes) if axes else self

    def squeeze(self, *axes: int) -> Self:
        return self.op("squeeze", axis=axes)

    def slice(self, axis: int, start: int, end: int) -> Self:
        """Return the elements from `start` to `end` (excluded) along an axis."""
        axis = self.node.axis(axis, self.value)
        if start == 0 and self.shape[axis] == end != DYNAMIC_INDEX:
            return self
        return self.op("strided_slice", axes=[axis], begin=[start], end=[end])

    def at(self, axis: int, index: int) -> Self:
        """Return the elements at one index along an axis, which is dropped."""
        place = self.node.full(index, i64)
        return self.op("take", place, axis=axis, mode="wrap")

    def take(self, places: Operand, axis: int) -> Self:
        """Return the slices at places along an axis, which are in range."""
        return self.op("take", places, axis=axis, mode="clip")

    def max(self, *axes: int, keepdims: bool = False) -> Self:
        return self.op("max", axis=axes, keepdims=keepdims)

    def mean(self, *axes: int, keepdims: bool = False) -> Self:
        return self.op("mean", axis=axes, keepdims=keepdims)

    def concat(self, *others: Expression, axis: int) -> Self:
        return self.op("concatenate", *others, axis=axis)

    def polynomial(self, first: float, *coefficients: float) -> Self:
        """Evaluate a polynomial by Horner's scheme, given its coefficients from the highest power
        down."""
        value = self.scalar(first)
        for coefficient in coefficients:
            value = value * self + coefficient
        return value


def inputs(node: Node, *places: int) -> list[Expression]:
    """Return inputs of a node as expressions, by default all; Unsupported if one is absent."""
    return [Expression(node, node.input(i)) for i in places or range(len(node.inputs))]


def optional(node: Node, index: int) -> Expression | None:
    """Return an input, or None if it is absent."""
    return Expression(node, node.input(index)) if node.has(index) else None


def given(node: Node) -> list[Expression]:
    """Return the inputs of a node that are present."""
    return [Expression(node, value) for value in node.inputs if value is not None]


Formula: TypeAlias = (
    Callable[[Expression], Expression]
    | Callable[[Expression, Expression], Expression]
    | Callable[[Expression, Expression, Expression], Expression]
)


def formula(function: Formula) -> Converter:
    """Return a converter of a function of all inputs, as expressions."""
    return lambda node: function(*inputs(node))


def total(terms: Sequence[Expression]) -> Expression:
    """Return the sum of at least one term."""
    return reduce(lambda a, b: a + b, terms)


def constant(node: Node, array: Array | Sequence[int], element: Element = i64) -> Expression:
    """Return a constant with these elements."""
    return Expression(node, node.array(array, element))


def size_along(x: Expression, axis: int) -> Expression:
    """Return the size of a dimension as a scalar i64, also of one that is not known."""
    size = x.shape[x.node.axis(axis, x.value)]
    if size != DYNAMIC_INDEX:
        return Expression(x.node, x.node.full(size, i64))
    return x.op("shape_of").at(0, x.node.axis(axis, x.value))


def extent_along(x: Expression, axis: int, element: Element) -> int | Expression:
    """Return the size of a dimension for arithmetic with values of `element`: a number, or a scalar
    of that type if it is not known."""
    size = x.shape[x.node.axis(axis, x.value)]
    return size if size != DYNAMIC_INDEX else size_along(x, axis).cast(element)


def indices(size: int | Expression, node: Node) -> Expression:
    """Return the i64 numbers from 0 to `size`, excluded; the size may be a scalar i64."""
    if isinstance(size, int):
        node.check_size(size)
        return Expression(node, node.array(np.arange(size), i64))
    zero, one = node.full(0, i64), node.full(1, i64)
    return Expression(node, node.op("arange", zero, size.value, one))
