"""Arithmetic on values with Python's operators, for converters that are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from .....dialects.relax.attributes import PropertyValue
from .....dialects.relax.shapes import Shape
from .....dialects.relax.types import Element
from ....interpreters.arrays import Array
from ..node import Node

__all__ = [
    "Expression",
    "Operand",
    "constant",
    "extent_along",
    "indices",
    "inputs",
    "size_along",
    "total",
]


class Expression:
    """A value of a node; operators on it create operations. A number beside it is a scalar of its
    element type, and shapes broadcast."""

    def __init__(self, node: Node, value: SSAValue) -> None:
        self.node = node
        self.value = value

    # Operations

    def op(self, name: str, *others: Operand, **properties: PropertyValue) -> Expression:
        """Create the operation `relax.<name>` on this value and others."""
        operands = [self.value, *map(self.operand, others)]
        return Expression(self.node, self.node.op(name, *operands, **properties))

    def operand(self, other: Operand) -> SSAValue:
        """Return an operand as a value."""
        if isinstance(other, Expression):
            return other.value
        return other if isinstance(other, SSAValue) else self.node.like(other, self.value)

    def scalar(self, number: float) -> Expression:
        """Return a scalar with the element type of this value."""
        return Expression(self.node, self.node.like(number, self.value))

    def __add__(self, other: Operand) -> Expression:
        return self.op("add", other)

    def __sub__(self, other: Operand) -> Expression:
        return self.op("subtract", other)

    def __mul__(self, other: Operand) -> Expression:
        return self.op("multiply", other)

    def __truediv__(self, other: Operand) -> Expression:
        return self.op("divide", other)

    def __floordiv__(self, other: Operand) -> Expression:
        return self.op("floor_divide", other)

    def __mod__(self, other: Operand) -> Expression:
        return self.op("floor_mod", other)

    def __matmul__(self, other: Operand) -> Expression:
        return self.op("matmul", other)

    def __radd__(self, number: float) -> Expression:
        return self.scalar(number) + self

    def __rsub__(self, number: float) -> Expression:
        return self.scalar(number) - self

    def __rmul__(self, number: float) -> Expression:
        return self.scalar(number) * self

    def __rtruediv__(self, number: float) -> Expression:
        return self.scalar(number) / self

    def __neg__(self) -> Expression:
        return self.op("negative")

    def __lt__(self, other: Operand) -> Expression:
        return self.op("less", other)

    def __le__(self, other: Operand) -> Expression:
        return self.op("less_equal", other)

    def __gt__(self, other: Operand) -> Expression:
        return self.op("greater", other)

    def __ge__(self, other: Operand) -> Expression:
        return self.op("greater_equal", other)

    def equals(self, other: Operand) -> Expression:
        """Compare element by element; `==` is identity, as expressions are hashable."""
        return self.op("equal", other)

    def __and__(self, other: Operand) -> Expression:
        return self.op("logical_and", other)

    def __or__(self, other: Operand) -> Expression:
        return self.op("logical_or", other)

    def __invert__(self) -> Expression:
        return self.op("logical_not")

    def where(self, then: Operand, otherwise: Operand) -> Expression:
        """Select elements by this condition; at least one of the operands is a value."""
        known = next(v for v in (then, otherwise) if not isinstance(v, int | float))
        like = known if isinstance(known, Expression) else Expression(self.node, known)
        return self.op("where", like.operand(then), like.operand(otherwise))

    def clipped(self, low: float, high: float | Expression) -> Expression:
        """Clip to an interval, whose end may be computed."""
        if isinstance(high, Expression):
            return self.op("maximum", low).op("minimum", high)
        return self.op("clip", min=low, max=float(high))

    # Types and shapes

    @property
    def element(self) -> Element:
        return self.node.element(self.value)

    @property
    def shape(self) -> Shape:
        """The shape, with unknown dimensions; Unsupported if the rank is unknown."""
        return self.node.shape(self.value)

    @property
    def rank(self) -> int:
        return len(self.shape)

    def cast(self, element: Element) -> Expression:
        return Expression(self.node, self.node.cast(self.value, element))

    def reshape(self, *shape: int) -> Expression:
        return self.op("reshape", newshape=list(shape))

    def transpose(self, *axes: int) -> Expression:
        return self.op("transpose", axes=list(axes))

    def expand(self, *axes: int) -> Expression:
        """Insert dimensions of size 1, at these axes of the result."""
        return self.op("expand_dims", axis=list(axes)) if axes else self

    def squeeze(self, *axes: int) -> Expression:
        return self.op("squeeze", axis=list(axes))

    def broadcast(self, *shape: int) -> Expression:
        return self if self.shape == shape else self.op("broadcast_to", shape=list(shape))

    def slice(self, axis: int, start: int, end: int) -> Expression:
        """Return the elements from `start` to `end` (excluded) along an axis."""
        axis = self.node.axis(axis, self.value)
        if start == 0 and self.shape[axis] == end != DYNAMIC_INDEX:
            return self
        return self.op("strided_slice", axes=[axis], begin=[start], end=[end])

    def at(self, axis: int, index: int) -> Expression:
        """Return the elements at one index along an axis, which is dropped."""
        place = self.node.full(index, i64)
        return self.op("take", place, axis=axis, mode="wrap")

    def take(self, places: Operand, axis: int) -> Expression:
        """Return the slices at places along an axis, which are in range."""
        return self.op("take", places, axis=axis, mode="clip")

    def sum(self, *axes: int, keepdims: bool = False) -> Expression:
        return self.op("sum", axis=list(axes), keepdims=keepdims)

    def max(self, *axes: int, keepdims: bool = False) -> Expression:
        return self.op("max", axis=list(axes), keepdims=keepdims)

    def mean(self, *axes: int, keepdims: bool = False) -> Expression:
        return self.op("mean", axis=list(axes), keepdims=keepdims)

    def concat(self, *others: Expression, axis: int) -> Expression:
        return self.op("concatenate", *others, axis=axis)

    def polynomial(self, first: float, *coefficients: float) -> Expression:
        """Evaluate a polynomial by Horner's scheme, given its coefficients from the highest power
        down."""
        value = self.scalar(first)
        for coefficient in coefficients:
            value = value * self + coefficient
        return value


Operand = Expression | SSAValue | float


def inputs(node: Node, *places: int) -> list[Expression]:
    """Return inputs of a node as expressions, by default all; Unsupported if one is absent."""
    return [Expression(node, node.input(i)) for i in places or range(len(node.inputs))]


def total(terms: Sequence[Expression]) -> Expression:
    """Return the sum of at least one term."""
    return reduce(lambda a, b: a + b, terms)


def constant(node: Node, array: Array, element: Element) -> Expression:
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
