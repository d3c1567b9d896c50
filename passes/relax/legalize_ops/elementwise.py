"""Shared form of element-wise legalizations; legalizations of selection, clipping, conversion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import elementwise as ops
from ....dialects.relax.types import is_integer, tensor_type
from ....dialects.tir.builder import Index
from .broadcast import broadcast_shape
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from .no_kernel import NoKernel
from .scalars import (
    convert,
    greatest,
    is_float,
    least,
    maximum,
    minimum,
    signless,
    signless_form,
    widen,
    with_sign,
)

__all__ = [
    "ELEMENTWISE",
    "Scalar",
    "as_operation",
    "elementwise",
    "in_steps",
    "of_any_sign",
    "on_numbers",
]

Scalar: TypeAlias = Callable[..., SSAValue]
"""A function of an operation, the builder and the elements of the operands that returns the element
of the result."""


def elementwise(scalar: Scalar) -> Legalization:
    """Legalize an operation that computes each element, after broadcasting, by `scalar`, on
    integers without explicit signedness."""
    legalize = of_any_sign(scalar)

    def checked(op: Operation, b: KernelBuilder, *operands: Tensor) -> Tensor | tuple[Tensor, ...]:
        for operand in operands:
            signless(operand.element)
        signless(tensor_type(op.results[0]).element_type)
        return legalize(op, b, *operands)

    return checked


def of_any_sign(scalar: Scalar) -> Legalization:
    """Legalize as `elementwise` an operation whose `scalar` takes and returns integers of any
    signedness."""

    def legalize(op: Operation, b: KernelBuilder, *operands: Tensor) -> Tensor:
        shape = broadcast_shape(op, b, [operand.shape for operand in operands])

        def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            elements = [b.read(t, broadcast_index(b, index, t.shape, shape)) for t in operands]
            return scalar(op, b, *elements)

        return Elements(shape, tensor_type(op.results[0]).element_type, compute)

    return legalize


def in_steps(scalar: Scalar) -> Legalization:
    """Legalize an element-wise operation that is computed in a wider type, f16 in f32 and i1 in i8,
    and rounded to the element type of the result."""

    def rounded(op: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        result = scalar(op, b, *(widen(b, element) for element in elements))
        return convert(b, result, tensor_type(op.results[0]).element_type)

    return elementwise(rounded)


def on_numbers(function: Scalar) -> Legalization:
    """Legalize as `in_steps` an operation that depends on its operands alone."""

    def scalar(_: Operation, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
        return function(b, *elements)

    return in_steps(scalar)


def as_operation(function: Callable[..., Operation]) -> Legalization:
    """Legalize an element-wise operation to one operation on scalars."""

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
    """Return `number` truncated toward zero and clipped to the range of `element`."""
    if number in (inf, -inf):
        return int(greatest(element) if number > 0 else least(element))
    return int(min(max(int(number), least(element)), greatest(element)))


# Conversions


def astype(op: ops.AstypeOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    if is_integer(x.type) and signless_form(x.type) != x.type:
        if target == i1:
            x = with_sign(b, x, signless_form(x.type))
            return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
        return convert(b, x, target)
    if is_integer(target) and signless_form(target) != target:
        if not is_float(x.type):
            return convert(b, x, target)
        return to_explicit(b, widen(b, x), target)
    match is_float(x.type), is_float(target):
        case True, True:
            return convert(b, x, target)
        case True, False:
            return to_integer(b, widen(b, x), target)
        case False, True:
            return b.pure(arith.SIToFPOp, widen(b, x), target_type=target)
        case _ if target == i1:
            return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
        case _:
            return convert(b, x, target)


def to_integer(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Return `x` truncated toward zero and clipped to the range of `target`; 0 for NaN.

    Numbers out of range must not reach arith.fptosi, whose result is poison then.
    """
    assert is_integer(target)
    if target == i1:
        return b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="une")
    low, high = least(target), greatest(target)
    limit = b.number(float(high + 1), x.type)  # a power of 2, so exact
    above = b.pure(arith.CmpfOp, x, limit, arg="oge")
    below = b.pure(arith.CmpfOp, x, b.number(float(low), x.type), arg="olt")
    nan = b.pure(arith.CmpfOp, x, x, arg="uno")
    outside = b.pure(arith.OrIOp, b.pure(arith.OrIOp, above, below), nan)
    inside = b.pure(arith.SelectOp, outside, b.number(0.0, x.type), x)
    whole = b.pure(arith.FPToSIOp, inside, target_type=target)
    whole = b.pure(arith.SelectOp, above, b.number(high, target), whole)
    return b.pure(arith.SelectOp, below, b.number(low, target), whole)


def to_explicit(b: KernelBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Return `x` truncated toward zero and clipped to the range of `target`, an integer type with a
    signedness; 0 for NaN."""
    assert is_integer(target)
    if target.bitwidth > 32:
        raise NoKernel(f"kernels do not convert floats to {target}")
    wide = to_integer(b, x, i64)
    raised = maximum(b, wide, b.number(least(target), i64))
    return convert(b, minimum(b, raised, b.number(greatest(target), i64)), target)


def reinterpret(op: ops.ReinterpretOp, b: KernelBuilder, x: SSAValue) -> SSAValue:
    target = tensor_type(op.result).element_type
    if x.type == target:
        return x
    return b.pure(arith.BitcastOp, x, target_type=target)


ELEMENTWISE: dict[type[Operation], Legalization] = {
    ops.AstypeOp: of_any_sign(astype),
    ops.ClipOp: in_steps(clip),
    ops.ReinterpretOp: elementwise(reinterpret),
    ops.WhereOp: elementwise(where),
}
