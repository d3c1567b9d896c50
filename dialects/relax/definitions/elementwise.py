"""Operations on each element by itself: how they are defined, and those that select, limit and
convert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from ...tir.building import Index
from .. import elementwise as ops
from ..constant import is_integer
from ..shapes import broadcast
from ..types import tensor_type
from .numbers import (
    convert,
    greatest,
    is_float,
    least,
    maximum,
    minimum,
    signless,
    widen,
)
from .tensors import Definition, Elements, Tensor, Writer, broadcast_index

__all__ = ["ELEMENTWISE", "Scalar", "as_operation", "elementwise", "in_steps", "on_numbers"]

Scalar: TypeAlias = Callable[..., SSAValue]
"""A function of an operation, a writer and elements of the operands: the element of the result."""


def elementwise(scalar: Scalar) -> Definition:
    """The definition of an operation that computes each element of those at its place, after
    broadcasting."""

    def define(op: Operation, w: Writer, *operands: Tensor) -> Tensor:
        shape = operands[0].shape
        for operand in operands:
            shape = broadcast(shape, operand.shape)
            signless(operand.element)

        def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
            elements = [w.read(t, broadcast_index(w, index, t.shape)) for t in operands]
            return scalar(op, w, *elements)

        return Elements(shape, signless(tensor_type(op.results[0]).element_type), compute)

    return define


def in_steps(scalar: Scalar) -> Definition:
    """The definition of an operation that computes each element by itself, f16 in f32 and i1 as
    integers; what `scalar` gives is rounded to the type of the result."""

    def rounded(op: Operation, w: Writer, *elements: SSAValue) -> SSAValue:
        result = scalar(op, w, *(widen(w, element) for element in elements))
        return convert(w, result, tensor_type(op.results[0]).element_type)

    return elementwise(rounded)


def on_numbers(function: Scalar) -> Definition:
    """The definition of an operation that is computed so by a function of its operands alone."""

    def scalar(_: Operation, w: Writer, *elements: SSAValue) -> SSAValue:
        return function(w, *elements)

    return in_steps(scalar)


def as_operation(function: Callable[..., Operation]) -> Definition:
    """The definition of an operation that is one operation on numbers."""

    def scalar(w: Writer, *elements: SSAValue) -> SSAValue:
        return w.pure(function, *elements)

    return on_numbers(scalar)


def where(_: ops.WhereOp, w: Writer, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return w.pure(arith.SelectOp, condition, lhs, rhs)


def clip(op: ops.ClipOp, w: Writer, x: SSAValue) -> SSAValue:
    element = tensor_type(op.result).element_type
    low, high = op.min.value.data, op.max.value.data
    if not is_float(element):
        low, high = saturated(low, element), saturated(high, element)
    raised = maximum(w, x, w.number(low, x.type))
    return minimum(w, raised, w.number(high, x.type))


def saturated(number: float, element: Attribute) -> int:
    """The integer of a type that is next to a number, toward zero."""
    if number in (inf, -inf):
        return int(greatest(element) if number > 0 else least(element))
    return int(min(max(int(number), least(element)), greatest(element)))


# Conversions


def astype(op: ops.AstypeOp, w: Writer, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    match is_float(x.type), is_float(target):
        case True, True:
            return convert(w, x, target)
        case True, False:
            return to_integer(w, widen(w, x), target)
        case False, True:
            return w.pure(arith.SIToFPOp, widen(w, x), target_type=target)
        case _ if target == i1:
            return w.pure(arith.CmpiOp, x, w.number(0, x.type), arg="ne")
        case _:
            return convert(w, x, target)


def to_integer(w: Writer, x: SSAValue, target: Attribute) -> SSAValue:
    """The integer next toward zero, at most the bounds of its type; 0 for NaN. What is out of them
    must not reach arith.fptosi."""
    assert is_integer(target)
    if target == i1:
        return w.pure(arith.CmpfOp, x, w.number(0.0, x.type), arg="une")
    low, high = least(target), greatest(target)
    limit = w.number(float(high + 1), x.type)  # a power of 2: exact
    above = w.pure(arith.CmpfOp, x, limit, arg="oge")
    below = w.pure(arith.CmpfOp, x, w.number(float(low), x.type), arg="olt")
    nan = w.pure(arith.CmpfOp, x, x, arg="uno")
    outside = w.pure(arith.OrIOp, w.pure(arith.OrIOp, above, below), nan)
    inside = w.pure(arith.SelectOp, outside, w.number(0.0, x.type), x)
    whole = w.pure(arith.FPToSIOp, inside, target_type=target)
    whole = w.pure(arith.SelectOp, above, w.number(high, target), whole)
    return w.pure(arith.SelectOp, below, w.number(low, target), whole)


def reinterpret(op: ops.ReinterpretOp, w: Writer, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    return w.pure(arith.BitcastOp, x, target_type=target)


ELEMENTWISE: dict[type[Operation], Definition] = {
    ops.AstypeOp: elementwise(astype),
    ops.ClipOp: in_steps(clip),
    ops.ReinterpretOp: elementwise(reinterpret),
    ops.WhereOp: elementwise(where),
}
