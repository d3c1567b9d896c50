"""Legalizations of element-wise functions of one tensor."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.elementwise import unary as ops
from ..builder import KernelBuilder, Legalization
from ..scalars import exponential, is_float, maximum, minimum, multiply
from .elementwise import as_operation, on_all_numbers, on_numbers


def rounding(function: Callable[..., Operation]) -> Legalization:
    """Legalize a rounding function, which is the identity on integers."""

    def scalar(b: KernelBuilder, x: SSAValue) -> SSAValue:
        return b.pure(function, x) if is_float(x.type) else x

    return on_all_numbers(scalar)


def absolute(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return b.pure(math.AbsFOp if is_float(x.type) else math.AbsIOp, x)


def negative(b: KernelBuilder, x: SSAValue) -> SSAValue:
    if is_float(x.type):
        return b.pure(arith.NegfOp, x)
    return b.pure(arith.SubiOp, b.number(0, x.type), x)


def sign(b: KernelBuilder, x: SSAValue) -> SSAValue:
    """Return -1, 0 or 1; NaN for NaN, and 0 for -0."""
    one, minus_one = b.number(1, x.type), b.number(-1, x.type)
    if not is_float(x.type):
        return minimum(b, maximum(b, x, minus_one), one)
    zero = b.number(0.0, x.type)
    # All comparisons with NaN are false: `x` itself is left.
    result = b.pure(arith.SelectOp, b.pure(arith.CmpfOp, x, zero, arg="oeq"), zero, x)
    result = b.pure(arith.SelectOp, b.pure(arith.CmpfOp, x, zero, arg="ogt"), one, result)
    return b.pure(arith.SelectOp, b.pure(arith.CmpfOp, x, zero, arg="olt"), minus_one, result)


def unchanged(_: KernelBuilder, x: SSAValue) -> SSAValue:
    return x


def unsigned_sign(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return b.pure(arith.MinUIOp, x, b.number(1, x.type))


def square(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return multiply(b, x, x)


def rsqrt(b: KernelBuilder, x: SSAValue) -> SSAValue:
    # Not an estimate such as rsqrtps of x86, which has 12 bits and another value on each processor.
    return b.pure(arith.DivfOp, b.number(1.0, x.type), b.pure(math.SqrtOp, x))


def sigmoid(b: KernelBuilder, x: SSAValue) -> SSAValue:
    """Return 1 / (1 + exp(-x))."""
    one = b.number(1.0, x.type)
    # No branch on the sign of x: for -100, exp(100) is infinite in f32, and 1 / inf is 0.
    power = exponential(b, b.pure(arith.NegfOp, x))
    return b.pure(arith.DivfOp, one, b.pure(arith.AddfOp, one, power))


def is_nan(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return b.pure(arith.CmpfOp, x, x, arg="uno")


def against_infinity(predicate: str) -> Legalization:
    """Legalize to a comparison of the absolute value with infinity."""

    def scalar(b: KernelBuilder, x: SSAValue) -> SSAValue:
        return b.pure(arith.CmpfOp, b.pure(math.AbsFOp, x), b.number(inf, x.type), arg=predicate)

    return on_numbers(scalar)


def invert(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return b.pure(arith.XOrIOp, x, b.number(-1, x.type))


def as_math(*classes: type[Operation]) -> dict[type[Operation], Legalization]:
    """Legalize each operation to the operation of `math` whose class has the same name."""
    return {cls: as_operation(getattr(math, cls.__name__)) for cls in classes}


UNARY: dict[type[Operation], Legalization] = {
    **as_math(ops.AcosOp, ops.AcoshOp, ops.AsinOp, ops.AsinhOp, ops.AtanOp, ops.AtanhOp),
    **as_math(ops.CosOp, ops.CoshOp, ops.SinOp, ops.SinhOp, ops.TanOp, ops.TanhOp),
    **as_math(ops.ErfOp, ops.ExpOp, ops.Log1pOp, ops.Log2Op, ops.LogOp, ops.SqrtOp),
    ops.AbsOp: on_numbers(absolute, unchanged),
    ops.BitwiseNotOp: on_all_numbers(invert),
    ops.CeilOp: rounding(math.CeilOp),
    ops.Expm1Op: as_operation(math.ExpM1Op),
    ops.FloorOp: rounding(math.FloorOp),
    ops.IsFiniteOp: against_infinity("olt"),
    ops.IsInfOp: against_infinity("oeq"),
    ops.IsNanOp: on_numbers(is_nan),
    ops.LogicalNotOp: on_numbers(invert),
    ops.NegativeOp: on_all_numbers(negative),
    ops.RoundOp: rounding(math.RoundEvenOp),
    ops.RsqrtOp: on_numbers(rsqrt),
    ops.SigmoidOp: on_numbers(sigmoid),
    ops.SignOp: on_numbers(sign, unsigned_sign),
    ops.SquareOp: on_all_numbers(square),
    ops.TruncOp: rounding(math.TruncOp),
}
