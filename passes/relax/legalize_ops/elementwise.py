"""Operations on each element by itself: how they are defined, and those that select, limit and
convert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import elementwise as ops
from ....dialects.relax.constant import is_integer
from ....dialects.relax.shapes import broadcast
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .scalars import (
    convert,
    greatest,
    is_float,
    least,
    maximum,
    minimum,
    signless,
    step_type,
    widen,
)

__all__ = ["ELEMENTWISE", "Scalar", "as_operation", "elementwise", "in_steps", "on_numbers"]

Scalar: TypeAlias = Callable[..., SSAValue]
"""A function of an operation, a writer and elements of the operands: the element of the result."""


def elementwise(scalar: Scalar) -> Legalization:
    """The definition of an operation that computes each element of those at its place, after
    broadcasting."""

    def define(op: Operation, b: KernelBuilder, *operands: Tensor) -> Tensor:
        shape = operands[0].shape
        for operand in operands:
            shape = broadcast(shape, operand.shape)
            signless(operand.element)

        def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            elements = [b.read(t, broadcast_index(b, index, t.shape)) for t in operands]
            return scalar(op, b, *elements)

        return Elements(shape, signless(tensor_type(op.results[0]).element_type), compute)

    return define


def in_steps(scalar: Scalar) -> Legalization:
    """The definition of an operation that computes each element by itself, f16 in f32 and i1 as
    integers; what `scalar` gives is rounded to the type of the result."""

    def rounded(op: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        result = scalar(op, b, *(widen(b, element) for element in elements))
        return convert(b, result, tensor_type(op.results[0]).element_type)

    return elementwise(rounded)


def on_numbers(function: Scalar) -> Legalization:
    """The definition of an operation that is computed so by a function of its operands alone."""

    def scalar(_: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        return function(b, *elements)

    return in_steps(scalar)


def as_operation(function: Callable[..., Operation]) -> Legalization:
    """The definition of an operation that is one operation on numbers."""

    def scalar(b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        return b.pure(function, *elements)

    return on_numbers(scalar)


def where(
    _: ops.WhereOp, b: KernelBuilder, condition: SSAValue, lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    return b.pure(arith.SelectOp, condition, lhs, rhs)


def clip(op: ops.ClipOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    element = tensor_type(op.result).element_type
    low, high = op.min, op.max
    if not is_float(element):
        low, high = saturated(low, element), saturated(high, element)
    raised = maximum(b, x, b.number(low, x.type))
    return minimum(b, raised, b.number(high, x.type))


def saturated(number: float, element: Attribute) -> int:
    """The integer of a type that is next to a number, toward zero."""
    if number in (inf, -inf):
        return int(greatest(element) if number > 0 else least(element))
    return int(min(max(int(number), least(element)), greatest(element)))


# Conversions


def astype(op: ops.AstypeOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    match is_float(x.type), is_float(target):
        case True, True:
            return convert(b, x, target)
        case True, False:
            return to_integer(b, widen(b, x), target)
        case False, True:
            number = b.pure(arith.SIToFPOp, widen(b, x), target_type=step_type(target))
            return convert(b, number, target)
        case _ if target == i1:
            return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
        case _:
            return convert(b, x, target)


def to_integer(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """The integer next toward zero, at most the bounds of its type; 0 for NaN. What is out of them
    must not reach arith.fptosi."""
    assert is_integer(target)
    if target == i1:
        return b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="une")
    low, high = least(target), greatest(target)
    limit = b.number(float(high + 1), x.type)  # a power of 2: exact
    above = b.pure(arith.CmpfOp, x, limit, arg="oge")
    below = b.pure(arith.CmpfOp, x, b.number(float(low), x.type), arg="olt")
    nan = b.pure(arith.CmpfOp, x, x, arg="uno")
    outside = b.pure(arith.OrIOp, b.pure(arith.OrIOp, above, below), nan)
    inside = b.pure(arith.SelectOp, outside, b.number(0.0, x.type), x)
    whole = b.pure(arith.FPToSIOp, inside, target_type=target)
    whole = b.pure(arith.SelectOp, above, b.number(high, target), whole)
    return b.pure(arith.SelectOp, below, b.number(low, target), whole)


def reinterpret(op: ops.ReinterpretOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    return b.pure(arith.BitcastOp, x, target_type=target)


ELEMENTWISE: dict[type[Operation], Legalization] = {
    ops.AstypeOp: elementwise(astype),
    ops.ClipOp: in_steps(clip),
    ops.ReinterpretOp: elementwise(reinterpret),
    ops.WhereOp: elementwise(where),
}
