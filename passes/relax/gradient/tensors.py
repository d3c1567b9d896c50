"""Tensors under construction: arithmetic on SSA values that inserts operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Self, TypeAlias

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from ....compiler.interpreters.arrays import Array, element_of
from ....dialects.relax.attributes import PropertyValue
from ....dialects.relax.expression import TensorExpression, operations
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import Element, is_tensor, shape_of, static_shape, tensor_type
from ...arrays import Known, constant_of

__all__ = ["Rule", "Tensors", "Traced"]


@dataclass(frozen=True)
class Tensors:
    """A builder of operations on tensors."""

    builder: Builder

    def of(self, value: SSAValue) -> Traced:
        """Return `value` as a tensor that can be computed with."""
        return Traced(self, value)

    def op(self, name: str, *operands: SSAValue, **properties: PropertyValue) -> SSAValue:
        """Insert the operation `relax.<name>` and return its first result."""
        op = operations()[name](*operands, result_types=None, location=None, **properties)
        return self.builder.insert(op).results[0]

    def full(self, value: float, element: Element, shape: Shape = ()) -> SSAValue:
        """Insert a fill; without `shape`, a scalar."""
        fill = Known(np.asarray(value, np.float64), shape)
        return self.builder.insert(constant_of(fill, element)).result

    def constant(self, array: Array, element: Element) -> Traced:
        """Insert a constant with these elements."""
        known = Known(array, array.shape)
        return self.of(self.builder.insert(constant_of(known, element)).result)

    def integers(self, array: Array) -> Traced:
        """Insert a constant of i64, such as indices."""
        return self.constant(array.astype(np.int64), i64)

    def zeros(self, type: Attribute) -> Traced:
        """Insert a fill of zeros; NotDifferentiable if the shape of `type` is unknown."""
        shape = known_shape(type)
        assert is_tensor(type)
        return self.of(self.full(0.0, element_of(type), shape))

    def shape(self, value: SSAValue) -> Shape:
        """Return the shape; NotDifferentiable if it is not known."""
        return known_shape(value.type)

    def rank(self, value: SSAValue) -> int:
        """Return the rank; NotDifferentiable if it is not known."""
        if (shape := shape_of(tensor_type(value))) is None:
            raise NotDifferentiable(f"the rank of {value.type} is not known: {BIND}")
        return len(shape)


class Traced(TensorExpression[Tensors]):
    """A tensor in a gradient rule: an operand, a result, an adjoint, or computed from these."""

    def reshape(self, *shape: int) -> Self:
        """Return the tensor in another known shape."""
        if static_shape(self.value.type) == shape:
            return self
        return self.op("reshape", newshape=shape, allowzero=0 in shape)

    def swapped(self) -> Self:
        """Return the matrices of the last two dimensions, transposed."""
        rank = self.rank
        return self.transpose(*range(rank - 2), rank - 1, rank - 2)

    def pad(self, widths: Sequence[tuple[int, int]]) -> Self:
        """Add zeros before and after each dimension; a negative width removes elements."""
        if not any(map(any, widths)):
            return self
        return self.op("nn.pad", pad_width=[width for pair in widths for width in pair])

    def contract(self, axis: int, matrix: Array) -> Traced:
        """Return the products of a constant matrix with the vectors along an axis."""
        shape = self.shape
        rows = self.builder.constant(matrix, self.element)
        # Without a reshape along the last axis, where the vectors are rows.
        if axis == len(shape) - 1:
            return self @ rows.transpose(1, 0)
        flat = self.reshape(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
        return (rows @ flat).reshape(*shape[:axis], matrix.shape[0], *shape[axis + 1 :])

    def slice(self, axis: int, start: int, stop: int) -> Self:
        """Return the elements from `start` to `stop` along an axis."""
        if (start, stop) == (0, self.shape[axis]):
            return self
        return self.op("strided_slice", begin=[start], end=[stop], axes=[axis])

    def sum_to(self, value: SSAValue) -> Self:
        """Return the adjoint of `value`, which was broadcast to the shape of this tensor."""
        shape, own = known_shape(value.type), self.shape
        # Numpy's broadcasting, reversed: new leading dimensions, and those that were 1, are summed
        # over.
        new = len(own) - len(shape)
        axes = [i + new for i, size in enumerate(shape) if size == 1 != own[i + new]]
        return self.sum(*range(new), *axes).reshape(*shape)


BIND = "bind-shapes gives unknown dimensions their sizes"


def known_shape(type: Attribute) -> Shape:
    """Return the shape of a tensor type; NotDifferentiable if it is not known."""
    if (shape := static_shape(type)) is None:
        raise NotDifferentiable(f"the gradient needs the sizes of {type}: {BIND}")
    return shape


Rule: TypeAlias = Callable[..., "Sequence[Traced | None]"]
"""Inserts the vector-Jacobian product of an operation and returns the adjoint of each operand; None
stands for zero. The arguments are the operation, a builder, and the adjoint of each result."""
