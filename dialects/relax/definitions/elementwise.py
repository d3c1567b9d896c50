"""Operations on each element by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ...tir.building import Index
from .. import activation, binary
from ..shapes import broadcast
from ..types import tensor_type
from .tensors import Definition, Elements, Tensor, Writer, broadcast_index

__all__ = ["ELEMENTWISE", "elementwise"]

Scalar: TypeAlias = Callable[..., SSAValue]
"""A function of an operation, a writer and elements of the operands: the element of the result."""


def elementwise(scalar: Scalar) -> Definition:
    """The definition of an operation that computes each element of those at its place, after
    broadcasting."""

    def define(op: Operation, w: Writer, *operands: Tensor) -> Tensor:
        shape = operands[0].shape
        for operand in operands[1:]:
            shape = broadcast(shape, operand.shape)

        def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
            elements = [w.read(t, broadcast_index(w, index, t.shape)) for t in operands]
            return scalar(op, w, *elements)

        return Elements(shape, tensor_type(op.results[0]).element_type, compute)

    return define


def is_float(type: Attribute) -> bool:
    return not isinstance(type, IntegerType)


def arithmetic(floats: Callable[..., Operation], integers: Callable[..., Operation]) -> Definition:
    """A function of two numbers that is one operation, for floats and for integers."""

    def scalar(_: Operation, w: Writer, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return w.pure(floats if is_float(lhs.type) else integers, lhs, rhs)

    return elementwise(scalar)


def relu(_: Operation, w: Writer, x: SSAValue) -> SSAValue:
    maximum = arith.MaximumfOp if is_float(x.type) else arith.MaxSIOp
    return w.pure(maximum, x, w.number(0, x.type))


ELEMENTWISE: dict[type[Operation], Definition] = {
    activation.ReluOp: elementwise(relu),
    binary.AddOp: arithmetic(arith.AddfOp, arith.AddiOp),
    binary.SubtractOp: arithmetic(arith.SubfOp, arith.SubiOp),
    binary.MultiplyOp: arithmetic(arith.MulfOp, arith.MuliOp),
    binary.MaximumOp: arithmetic(arith.MaximumfOp, arith.MaxSIOp),
    binary.MinimumOp: arithmetic(arith.MinimumfOp, arith.MinSIOp),
}
