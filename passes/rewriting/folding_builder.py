"""Constants as arrays, and operations that are computed at once if their operands are constants.

The array of a fill is one number with strides 0: it takes no memory, and arithmetic keeps it so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp, TensorType, f32
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike

from ...dialects.relax.base import TensorOp
from ...dialects.relax.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from ...dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ...dialects.relax.elementwise import AstypeOp
from ...dialects.relax.permutation import TransposeOp
from ...dialects.relax.reduction import MeanOp, SumOp
from ...dialects.relax.reshape import ExpandDimsOp, ReshapeOp
from ...dialects.relax.types import Element, is_ranked, static_shape
from ...dialects.relax.unary import RsqrtOp
from ...interpreters import semantics_of
from ...interpreters.arrays import (
    Array,
    array_of,
    dense_of,
    dtype_of,
    element_of,
    fit,
    number_of,
    scalar_of,
)

__all__ = ["Calculator", "Term", "compact", "compute", "constant_of", "evaluate", "known_array"]

Term: TypeAlias = Array | SSAValue
"""A tensor: the elements themselves if they are known."""


def known_array(value: SSAValue) -> Array | None:
    """The elements of a constant; None if the value is none."""
    known = ConstantLike.get_constant_value(value)
    if known is None or not is_ranked(type := value.type):
        return None
    if is_dense(known):
        return array_of(known)
    shape = static_shape(type)
    if not is_number(known) or shape is None:
        return None
    return np.broadcast_to(scalar_of(known, element_of(type)), shape)


def constant_of(array: Array, element: Element) -> ConstantOp | FullOp:
    """The constant with these elements, rounded to the element type."""
    type = TensorType(element, array.shape)
    with np.errstate(all="ignore"):
        few = fit(compact(array), element)
    if few.size == 1 and array.size:
        return FullOp(number_of(few.reshape(()), element), type)
    return ConstantOp(dense_of(np.broadcast_to(few, array.shape), type))


def compact(array: Array) -> Array:
    """The array without the repetitions along dimensions of stride 0, which get size 1."""
    if 0 not in array.strides or not array.size:
        return array
    return array[tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)]


def compute(function: Callable[..., Array], *arrays: Array) -> Array:
    """An element-wise function of arrays; what is repeated in all of them is computed once."""
    with np.errstate(all="ignore"):
        if not any(0 in array.strides for array in arrays):
            return np.asarray(function(*arrays))
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        return np.broadcast_to(function(*map(compact, arrays)), shape)


def evaluate(op: Operation, *arrays: Array) -> Array | None:
    """Compute an element-wise operation on `arrays` in the place of its operands; None if it has no
    semantics."""
    if (functions := semantics_of(type(op))) is None:
        return None

    def run(*few: Array) -> Array:
        (value,) = _interpreter(functions).run_op(op, few)
        return np.asarray(value)

    return compute(run, *arrays)


@cache
def _interpreter(functions: type[InterpreterFunctions]) -> Interpreter:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(functions())
    return interpreter


class Calculator:
    """Inserts operations on tensors of one element type, but computes on constants at once: what is
    made of them alone becomes one constant when an operation takes it.

    It computes in f32 for f16 and bf16, as the semantics of what it takes apart does.
    """

    def __init__(self, builder: Builder, element: Element) -> None:
        self.builder = builder
        self.element = element
        self.wide: Element = f32 if isinstance(element, Float16Type | BFloat16Type) else element

    def tensor(self, value: SSAValue) -> SSAValue:
        """A tensor in the type that is computed in."""
        return self._astype(value, self.element, self.wide)

    def parameter(self, value: SSAValue) -> Term:
        """The same, the elements themselves if it is a constant."""
        array = known_array(value)
        if array is None:
            return self.tensor(value)
        dtype = dtype_of(self.wide)
        if array.dtype == dtype:
            return array
        return np.broadcast_to(compact(array).astype(dtype), array.shape)

    def number(self, number: float) -> Term:
        """A tensor of rank 0."""
        return np.asarray(number, dtype_of(self.wide))

    def result(self, term: Term) -> SSAValue:
        """A tensor in the element type again."""
        if isinstance(term, SSAValue):
            return self._astype(term, self.wide, self.element)
        return self._insert(constant_of(term, self.element))

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
        """The mean along axes, which stay with size 1."""
        return self._insert(MeanOp(self._operand(term), axis=axes, keepdims=True))

    def sum(self, term: Term, axes: Sequence[int]) -> Term:
        """The sum, likewise."""
        return self._insert(SumOp(self._operand(term), axis=axes, keepdims=True))

    def reshape(self, term: Term, shape: Sequence[int]) -> Term:
        return self._insert(ReshapeOp(self._operand(term), newshape=shape))

    def along(self, parameter: Term, axes: Sequence[int], rank: int) -> Term:
        """A tensor with its dimensions at the place of these axes of one of that rank, which it
        then broadcasts with."""
        order = sorted(range(len(axes)), key=axes.__getitem__)
        first = min(axes, default=rank)
        new = [axis - first for axis in range(first, rank) if axis not in axes]
        if not isinstance(parameter, SSAValue):
            return np.expand_dims(parameter.transpose(order), tuple(new))
        if order != [*range(len(axes))]:
            parameter = self._insert(TransposeOp(parameter, axes=order))
        return self._insert(ExpandDimsOp(parameter, axis=new)) if new else parameter

    def _apply(self, cls: type[TensorOp], function: Callable[..., Array], *terms: Term) -> Term:
        arrays = [term for term in terms if not isinstance(term, SSAValue)]
        if len(arrays) == len(terms):
            return compute(function, *arrays)
        return self._insert(cls(*map(self._operand, terms)))

    def _operand(self, term: Term) -> SSAValue:
        return term if isinstance(term, SSAValue) else self._insert(constant_of(term, self.wide))

    def _astype(self, value: SSAValue, old: Element, new: Element) -> SSAValue:
        return value if old == new else self._insert(AstypeOp(value, dtype=new))

    def _insert(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]


def _rsqrt(array: Array) -> Array:
    return 1 / np.sqrt(array)
