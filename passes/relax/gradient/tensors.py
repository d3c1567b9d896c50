"""Tensors under construction: arithmetic on SSA values that inserts operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from ....compiler.interpreters.arrays import Array, element_of
from ....dialects.relax.attributes import PropertyValue, properties_of
from ....dialects.relax.base import TensorOp
from ....dialects.relax.contraction.linear_algebra import MatmulOp
from ....dialects.relax.data.permutation import TransposeOp
from ....dialects.relax.data.reshape import ReshapeOp
from ....dialects.relax.data.strided_slice import StridedSliceOp
from ....dialects.relax.elementwise.binary import (
    AddOp,
    DivideOp,
    EqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    MultiplyOp,
    SubtractOp,
)
from ....dialects.relax.elementwise.broadcast import BroadcastToOp
from ....dialects.relax.elementwise.elementwise import AstypeOp, WhereOp
from ....dialects.relax.elementwise.unary import NegativeOp
from ....dialects.relax.interfaces import NotDifferentiable
from ....dialects.relax.reduction.nn import PadOp
from ....dialects.relax.reduction.reduction import SumOp
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import Element, is_tensor, shape_of, static_shape
from ....passmanager.fast.creation import set_results
from ...constants.arrays import Known, constant_of

__all__ = ["Rule", "Tensor", "Tensors"]


@dataclass(frozen=True)
class Tensors:
    """A builder of operations on tensors."""

    builder: Builder

    def of(self, value: SSAValue) -> Tensor:
        """Return `value` as a tensor that can be computed with."""
        return Tensor(self, value)

    def apply(
        self, cls: type[TensorOp], *operands: Tensor | SSAValue, **properties: PropertyValue
    ) -> Tensor:
        """Insert an operation of class `cls` and return its first result."""
        values = [v.value if isinstance(v, Tensor) else v for v in operands]
        op = cls.create(operands=values, properties=properties_of(cls, properties))
        set_results(op, op.inferred_types())
        return self.of(self.builder.insert(op).results[0])

    def full(self, number: float, element: Element, shape: Shape = ()) -> Tensor:
        """Insert a fill; without `shape`, a scalar."""
        fill = Known(np.asarray(number, np.float64), tuple(shape))
        return self.of(self.builder.insert(constant_of(fill, element)).result)

    def constant(self, array: Array, element: Element) -> Tensor:
        """Insert a constant with these elements."""
        known = Known(array, array.shape)
        return self.of(self.builder.insert(constant_of(known, element)).result)

    def integers(self, array: Array) -> Tensor:
        """Insert a constant of i64, such as indices."""
        return self.constant(array.astype(np.int64), i64)

    def zeros(self, type: Attribute) -> Tensor:
        """Insert a fill of zeros; NotDifferentiable if the shape of `type` is unknown."""
        shape = known_shape(type)
        assert is_tensor(type)
        return self.full(0.0, element_of(type), shape)

    def where(self, condition: Tensor, a: Tensor | float, b: Tensor | float) -> Tensor:
        """Select elements of `a` where the condition holds, else of `b`; one must be a tensor."""
        like = a if isinstance(a, Tensor) else b
        assert isinstance(like, Tensor)
        return self.apply(WhereOp, condition, like.like(a), like.like(b))


@dataclass(frozen=True, eq=False)
class Tensor:
    """An SSA value with arithmetic; numbers become scalars of its element type."""

    tensors: Tensors
    value: SSAValue

    @property
    def shape(self) -> Shape:
        """Return the shape; NotDifferentiable if it is not known."""
        return known_shape(self.value.type)

    @property
    def rank(self) -> int:
        """Return the rank; NotDifferentiable if it is not known."""
        type = self.value.type
        shape = shape_of(type) if is_tensor(type) else None
        if shape is None:
            raise NotDifferentiable(f"the rank of {type} is not known: {BIND}")
        return len(shape)

    @property
    def element(self) -> Element:
        type = self.value.type
        assert is_tensor(type)
        return element_of(type)

    def like(self, other: Tensor | float) -> Tensor:
        """Return `other`, a number as a scalar of this element type."""
        return other if isinstance(other, Tensor) else self.tensors.full(other, self.element)

    def apply(self, cls: type[TensorOp], *others: Tensor, **properties: PropertyValue) -> Tensor:
        """Insert an operation with this tensor as the first operand."""
        return self.tensors.apply(cls, self, *others, **properties)

    def __add__(self, other: Tensor | float) -> Tensor:
        return self.apply(AddOp, self.like(other))

    def __radd__(self, other: float) -> Tensor:
        return self.like(other) + self

    def __sub__(self, other: Tensor | float) -> Tensor:
        return self.apply(SubtractOp, self.like(other))

    def __rsub__(self, other: float) -> Tensor:
        return self.like(other) - self

    def __mul__(self, other: Tensor | float) -> Tensor:
        return self.apply(MultiplyOp, self.like(other))

    def __rmul__(self, other: float) -> Tensor:
        return self * other

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self.apply(DivideOp, self.like(other))

    def __rtruediv__(self, other: float) -> Tensor:
        return self.like(other) / self

    def __neg__(self) -> Tensor:
        return self.apply(NegativeOp)

    def __matmul__(self, other: Tensor) -> Tensor:
        return self.apply(MatmulOp, other)

    def equals(self, other: Tensor | float) -> Tensor:
        return self.apply(EqualOp, self.like(other))

    def __lt__(self, other: Tensor | float) -> Tensor:
        return self.apply(LessOp, self.like(other))

    def __le__(self, other: Tensor | float) -> Tensor:
        return self.apply(LessEqualOp, self.like(other))

    def __gt__(self, other: Tensor | float) -> Tensor:
        return self.apply(GreaterOp, self.like(other))

    def sum(self, axes: Sequence[int], keepdims: bool = False) -> Tensor:
        return self.apply(SumOp, axis=axes, keepdims=keepdims) if axes else self

    def reshape(self, shape: Sequence[int]) -> Tensor:
        """Return the tensor in another known shape."""
        if static_shape(self.value.type) == (shape := tuple(shape)):
            return self
        return self.apply(ReshapeOp, newshape=shape, allowzero=0 in shape)

    def transpose(self, axes: Sequence[int]) -> Tensor:
        return self if [*axes] == [*range(len(axes))] else self.apply(TransposeOp, axes=[*axes])

    def swapped(self) -> Tensor:
        """Return the matrices of the last two dimensions, transposed."""
        rank = self.rank
        return self.transpose([*range(rank - 2), rank - 1, rank - 2])

    def broadcast_to(self, shape: Shape) -> Tensor:
        return self if self.shape == shape else self.apply(BroadcastToOp, shape=shape)

    def pad(self, widths: Sequence[tuple[int, int]]) -> Tensor:
        """Add zeros before and after each dimension; a negative width removes elements."""
        if not any(map(any, widths)):
            return self
        return self.apply(PadOp, pad_width=[width for pair in widths for width in pair])

    def contract(self, axis: int, matrix: Array) -> Tensor:
        """Return the products of a constant matrix with the vectors along an axis."""
        shape = self.shape
        rows = self.tensors.constant(matrix, self.element)
        # Without a reshape along the last axis, where the vectors are rows.
        if axis == len(shape) - 1:
            return self @ rows.transpose([1, 0])
        flat = self.reshape((prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])))
        return (rows @ flat).reshape((*shape[:axis], matrix.shape[0], *shape[axis + 1 :]))

    def cut(self, axis: int, start: int, stop: int) -> Tensor:
        """Return the elements from `start` to `stop` along an axis."""
        if (start, stop) == (0, self.shape[axis]):
            return self
        return self.apply(StridedSliceOp, begin=[start], end=[stop], axes=[axis])

    def astype(self, element: Attribute) -> Tensor:
        return self if self.element == element else self.apply(AstypeOp, dtype=element)

    def sum_to(self, value: SSAValue) -> Tensor:
        """Return the adjoint of `value`, which was broadcast to the shape of this tensor."""
        shape, own = known_shape(value.type), self.shape
        # Numpy's broadcasting, reversed: new leading dimensions, and those that were 1, are summed
        # over.
        new = len(own) - len(shape)
        axes = [i + new for i, size in enumerate(shape) if size == 1 != own[i + new]]
        return self.sum([*range(new), *axes]).reshape(shape)


BIND = "bind-shapes gives unknown dimensions their sizes"


def known_shape(type: Attribute) -> Shape:
    """Return the shape of a tensor type; NotDifferentiable if it is not known."""
    if (shape := static_shape(type)) is None:
        raise NotDifferentiable(f"the gradient needs the sizes of {type}: {BIND}")
    return shape


Rule: TypeAlias = Callable[..., Sequence[Tensor | None]]
"""Inserts the vector-Jacobian product of an operation and returns the adjoint of each operand; None
stands for zero. The arguments are the operation, a builder, and the adjoint of each result."""
