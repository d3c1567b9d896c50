"""FoldingBuilder: builds operations, and computes those on constants at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Operation, SSAValue

from ...compiler.interpreters.arrays import Array, dtype_of
from ...dialects.relax.base import TensorOp
from ...dialects.relax.data.permutation import TransposeOp
from ...dialects.relax.data.reshape import ExpandDimsOp, ReshapeOp
from ...dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from ...dialects.relax.elementwise.elementwise import AstypeOp
from ...dialects.relax.elementwise.unary import RsqrtOp
from ...dialects.relax.reduction.reduction import MeanOp, SumOp
from ...dialects.relax.types import Element
from ..constants.arrays import Known, compute, constant_of, known

__all__ = ["FoldingBuilder", "Term"]

Term: TypeAlias = Known | SSAValue
"""A tensor: its elements if they are known, else an SSA value."""


class FoldingBuilder:
    """Builds operations on tensors of one element type; folds operations on constants
    (MLIR: `OpBuilder::createOrFold`).

    Known elements stay so until an operation needs them as an operand; then they become one
    constant. Computes in f32 for f16 and bf16, as the semantics of the decomposed operations does.
    """

    def __init__(self, builder: Builder, element: Element) -> None:
        self.builder = builder
        self.element = element
        self.wide: Element = f32 if isinstance(element, Float16Type | BFloat16Type) else element

    def tensor(self, value: SSAValue) -> SSAValue:
        """Return `value` in the type of the computation."""
        return self._astype(value, self.element, self.wide)

    def parameter(self, value: SSAValue) -> Term:
        """Return `value` in the type of the computation, known if it is a constant."""
        if (elements := known(value)) is None:
            return self.tensor(value)
        return Known(elements.array.astype(dtype_of(self.wide), copy=False), elements.shape)

    def number(self, number: float) -> Term:
        """Return `number` as a tensor of rank 0."""
        return Known(np.asarray(number, dtype_of(self.wide)), ())

    def result(self, term: Term) -> SSAValue:
        """Return `term` converted back to the element type, as an SSA value."""
        if isinstance(term, Known):
            return self._insert(constant_of(term, self.element))
        return self._astype(term, self.wide, self.element)

    def add(self, lhs: Term, rhs: Term) -> Term:
        return self._apply(AddOp, np.add, lhs, rhs)

    def subtract(self, lhs: Term, rhs: Term) -> Term:
        return self._apply(SubtractOp, np.subtract, lhs, rhs)

    def multiply(self, lhs: Term, rhs: Term) -> Term:
        return self._apply(MultiplyOp, np.multiply, lhs, rhs)

    def maximum(self, lhs: Term, rhs: Term) -> Term:
        return self._apply(MaximumOp, np.maximum, lhs, rhs)

    def rsqrt(self, term: Term) -> Term:
        return self._apply(RsqrtOp, _rsqrt, term)

    def mean(self, term: Term, axes: Sequence[int]) -> Term:
        """Build the mean over `axes`, which stay with size 1."""
        # Not folded, unlike the others: only data is reduced, and where that is constant,
        # `fold-constant` evaluates the whole operation.
        return self._insert(MeanOp(self._operand(term), axis=axes, keepdims=True))

    def sum(self, term: Term, axes: Sequence[int]) -> Term:
        """Build the sum over `axes`, which stay with size 1."""
        return self._insert(SumOp(self._operand(term), axis=axes, keepdims=True))

    def reshape(self, term: Term, shape: Sequence[int]) -> Term:
        return self._insert(ReshapeOp(self._operand(term), newshape=shape))

    def broadcast_along(self, parameter: Term, axes: Sequence[int], rank: int) -> Term:
        """Transpose and reshape `parameter` to broadcast with a tensor of rank `rank`: its
        dimensions become the dimensions `axes` of that tensor."""
        # Axes (3, 1) of rank 4: the parameter is transposed, then gets a dimension of 1 between.
        order = sorted(range(len(axes)), key=axes.__getitem__)
        first = min(axes, default=rank)
        new = [axis - first for axis in range(first, rank) if axis not in axes]
        if isinstance(parameter, Known):
            return _broadcast_along(parameter, order, new)
        if order != [*range(len(axes))]:
            parameter = self._insert(TransposeOp(parameter, axes=order))
        return self._insert(ExpandDimsOp(parameter, axis=new)) if new else parameter

    def _apply(self, cls: type[TensorOp], function: Callable[..., Array], *terms: Term) -> Term:
        elements = [term for term in terms if isinstance(term, Known)]
        if len(elements) == len(terms):
            return compute(function, *elements)
        return self._insert(cls(*map(self._operand, terms)))

    def _operand(self, term: Term) -> SSAValue:
        if isinstance(term, Known):
            return self._insert(constant_of(term, self.wide))
        return term

    def _astype(self, value: SSAValue, old: Element, new: Element) -> SSAValue:
        return value if old == new else self._insert(AstypeOp(value, dtype=new))

    def _insert(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]


def _broadcast_along(term: Known, order: Sequence[int], new: Sequence[int]) -> Known:
    """Transpose a known tensor, and insert dimensions of size 1 that become the dimensions `new`
    of the result."""
    # Sizes (3, 5) along the axes (3, 1) of rank 4: transposed to (5, 3), then (5, 1, 3), which
    # broadcasts.
    array, sizes = term.array, iter([term.shape[axis] for axis in order])
    rank = len(order) + len(new)
    shape = tuple(1 if axis in new else next(sizes) for axis in range(rank))
    # A fill is one number for each shape: there is nothing to transpose.
    return Known(np.expand_dims(array.transpose(order), tuple(new)) if array.ndim else array, shape)


def _rsqrt(array: Array) -> Array:
    return 1 / np.sqrt(array)
