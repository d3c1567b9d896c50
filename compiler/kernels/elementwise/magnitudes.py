"""Bounds of numbers that a kernel computes, from the operations that it has written for them."""

from __future__ import annotations

from math import ceil, inf, isnan, log2

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from ....dialects.relax.types import is_integer

__all__ = ["magnitude"]

DEPTH = 12
"""The operations that are looked through, one after the other."""
ROUNDING = 1 + 2.0**-10
"""The factor that makes up for the rounding of a float operation, also of f16. Kernels compute bf16
in f32."""


def magnitude(value: SSAValue, depth: int = DEPTH) -> float:
    """Return a number that the absolute value of an integer or a float does not exceed; infinity
    for a float without a known bound, which may also be NaN.

    With `%b` of type i8, `arith.mulf (arith.sitofp %b), 2.0` is at most 256.
    """
    type = value.type
    most = 2.0**type.bitwidth if is_integer(type) else inf
    # Both operands are followed, so the time is up to 2^DEPTH steps for a chain in which each
    # operation uses the one before it twice. Without a bound, long chains would take exponential
    # time.
    if not depth:
        return most

    def of(operand: SSAValue) -> float:
        return magnitude(operand, depth - 1)

    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() | FloatAttr() as number):
            found = abs(number.value.data)
        case arith.SIToFPOp(input=x):
            # 2^31 - 1 is 2^31 as f32. Powers of two are exact: rounding does not pass them.
            found = min((number := of(x)) * ROUNDING, power_of_two(number))
        case arith.ExtSIOp(input=x) | arith.ExtUIOp(input=x):
            found = of(x)
        case arith.AddfOp(lhs=a, rhs=b) | arith.SubfOp(lhs=a, rhs=b):
            found = (of(a) + of(b)) * ROUNDING
        case arith.AddiOp(lhs=a, rhs=b) | arith.SubiOp(lhs=a, rhs=b):
            found = of(a) + of(b)
        case arith.MulfOp(lhs=a, rhs=b):
            found = of(a) * of(b) * ROUNDING
        case arith.MuliOp(lhs=a, rhs=b):
            found = of(a) * of(b)
        case math.RoundEvenOp(operand=x) | math.FloorOp(operand=x) | math.CeilOp(operand=x):
            found = of(x) + 1
        case arith.SelectOp(lhs=a, rhs=b):
            found = max(of(a), of(b))
        case _:
            return most
    return most if isnan(found) else min(found, most)


def power_of_two(number: float) -> float:
    """Return the minimum power of two that `number`, which is not negative, does not exceed."""
    return 2.0 ** ceil(log2(number)) if number else 0.0
