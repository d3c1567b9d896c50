"""FoldingBuilder: builds operations, and computes those on constants at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Operation, SSAValue

from ...compiler.interpreters.arrays import Array, dtype_of
from ...dialects.numbers import Function, Term
from ...dialects.relax.base import TensorOp
from ...dialects.relax.data.permutation import TransposeOp
from ...dialects.relax.data.reshape import ExpandDimsOp, ReshapeOp
from ...dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from ...dialects.relax.elementwise.elementwise import AstypeOp
from ...dialects.relax.elementwise.unary import RsqrtOp
from ...dialects.relax.reduction.reduction import MeanOp, SumOp
from ...dialects.relax.types import Element
from ..constants.arrays import Known, compute, constant_of, known

__all__ = ["Folded", "FoldingBuilder"]


class Folded(Term["Folded | float", "Folded"]):
    """A tensor: its elements if they are known, else an SSA value. A number stands for a tensor of
    rank 0."""

    def __init__(self, folder: FoldingBuilder, tensor: Known | SSAValue) -> None:
        self.folder = folder
        self.tensor = tensor

    def apply(self, function: Function, a: Folded | float, b: Folded | float) -> Folded:
        cls, compute = FUNCTIONS[function]
        return self.folder.apply(cls, compute, a, b)


Folded.partners = (Folded, float, int)
FUNCTIONS: Mapping[Function, tuple[type[TensorOp], Callable[..., Array]]] = {
    "add": (AddOp, np.add),
    "sub": (SubtractOp, np.subtract),
    "mul": (MultiplyOp, np.multiply),
}


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

    def tensor(self, value: SSAValue) -> Folded:
        """Return `value` in the type of the computation."""
        return Folded(self, self._astype(value, self.element, self.wide))

    def parameter(self, value: SSAValue) -> Folded:
        """Return `value` in the type of the computation, known if it is a constant."""
        if (elements := known(value)) is None:
            return self.tensor(value)
        array = elements.array.astype(dtype_of(self.wide), copy=False)
        return Folded(self, Known(array, elements.shape))

    def number(self, number: float) -> Folded:
        """Return `number` as a tensor of rank 0."""
        return Folded(self, Known(np.asarray(number, dtype_of(self.wide)), ()))

    def result(self, term: Folded) -> SSAValue:
        """Return `term` converted back to the element type, as an SSA value."""
        if isinstance(term.tensor, Known):
            return self._insert(constant_of(term.tensor, self.element))
        return self._astype(term.tensor, self.wide, self.element)

    def maximum(self, lhs: Folded, rhs: Folded | float) -> Folded:
        return self.apply(MaximumOp, np.maximum, lhs, rhs)

    def rsqrt(self, term: Folded) -> Folded:
        return self.apply(RsqrtOp, _rsqrt, term)

    def mean(self, term: Folded, axes: Sequence[int]) -> Folded:
        """Build the mean over `axes`, which stay with size 1."""
        # Not folded, unlike the others: only data is reduced, and where that is constant,
        # `fold-constant` evaluates the whole operation.
        return Folded(self, self._insert(MeanOp(self._operand(term), axis=axes, keepdims=True)))

    def sum(self, term: Folded, axes: Sequence[int]) -> Folded:
        """Build the sum over `axes`, which stay with size 1."""
        return Folded(self, self._insert(SumOp(self._operand(term), axis=axes, keepdims=True)))

    def reshape(self, term: Folded, shape: Sequence[int]) -> Folded:
        return Folded(self, self._insert(ReshapeOp(self._operand(term), newshape=shape)))

    def broadcast_along(self, term: Folded, axes: Sequence[int], rank: int) -> Folded:
        """Transpose and reshape `term` to broadcast with a tensor of rank `rank`: its
        dimensions become the dimensions `axes` of that tensor."""
        # Axes (3, 1) of rank 4: the parameter is transposed, then gets a dimension of 1 between.
        order = sorted(range(len(axes)), key=axes.__getitem__)
        first = min(axes, default=rank)
        new = [axis - first for axis in range(first, rank) if axis not in axes]
        parameter = term.tensor
        if isinstance(parameter, Known):
            return Folded(self, _broadcast_along(parameter, order, new))
        if order != [*range(len(axes))]:
            parameter = self._insert(TransposeOp(parameter, axes=order))
        return Folded(self, self._insert(ExpandDimsOp(parameter, axis=new)) if new else parameter)

    def apply(
        self, cls: type[TensorOp], function: Callable[..., Array], *terms: Folded | float
    ) -> Folded:
        """Compute a function of known tensors, or build the operation."""
        tensors = [term if isinstance(term, Folded) else self.number(term) for term in terms]
        elements = [term.tensor for term in tensors if isinstance(term.tensor, Known)]
        if len(elements) == len(tensors):
            return Folded(self, compute(function, *elements))
        return Folded(self, self._insert(cls(*map(self._operand, tensors))))

    def _operand(self, term: Folded) -> SSAValue:
        if isinstance(term.tensor, Known):
            return self._insert(constant_of(term.tensor, self.wide))
        return term.tensor

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
