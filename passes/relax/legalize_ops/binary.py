"""Functions of two tensors, element by element.

What arith leaves undefined is kept from it: division by zero gives 0, the least integer divided by
-1 is itself, a shift by more than the width moves all bits out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import binary as ops
from ....dialects.relax.comparison import (
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    NotEqualOp,
)
from ....dialects.relax.logical import (
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LeftShiftOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalXorOp,
    RightShiftOp,
)
from ....dialects.relax.types import is_integer
from .elementwise import as_operation, on_numbers
from .kernel_builder import KernelBuilder, Legalization
from .scalars import convert, is_float, known, multiply

__all__ = ["BINARY", "power_of", "quotient"]

TwoOperands = Callable[..., Operation]
"""An operation of two operands."""


def arithmetic(floats: TwoOperands, integers: TwoOperands) -> Legalization:
    """A function that is one operation, for floats and for integers."""

    def scalar(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return w.pure(floats if is_float(lhs.type) else integers, lhs, rhs)

    return on_numbers(scalar)


def comparison(floats: str, integers: str) -> Legalization:
    """A comparison by one predicate or the other."""

    def scalar(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if is_float(lhs.type):
            return w.pure(arith.CmpfOp, lhs, rhs, arg=floats)
        return w.pure(arith.CmpiOp, lhs, rhs, arg=integers)

    return on_numbers(scalar)


# Division


def is_zero(w: KernelBuilder, x: SSAValue) -> SSAValue:
    return w.pure(arith.CmpiOp, x, w.number(0, x.type), arg="eq")


def differ_in_sign(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Whether one of two numbers is below zero, the other is not."""
    if is_float(lhs.type):
        zero = w.number(0.0, lhs.type)
        signs = (w.pure(arith.CmpfOp, x, zero, arg="olt") for x in (lhs, rhs))
    else:
        zero = w.number(0, lhs.type)
        signs = (w.pure(arith.CmpiOp, x, zero, arg="slt") for x in (lhs, rhs))
    return w.pure(arith.XOrIOp, *signs)


def divisor(w: KernelBuilder, rhs: SSAValue) -> SSAValue:
    """What it is safe to divide by: 1 for 0 and -1."""
    one = w.number(1, rhs.type)
    above = w.pure(arith.AddiOp, rhs, one)
    special = w.pure(arith.CmpiOp, above, w.number(2, rhs.type), arg="ult")
    return w.pure(arith.SelectOp, special, one, rhs)


def quotient(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The quotient of integers, truncated toward zero."""
    if known(rhs) not in (None, 0, -1):
        return w.pure(arith.DivSIOp, lhs, rhs)
    minus_one = w.pure(arith.CmpiOp, rhs, w.number(-1, rhs.type), arg="eq")
    zero = w.number(0, lhs.type)
    result = w.pure(arith.DivSIOp, lhs, divisor(w, rhs))
    result = w.pure(arith.SelectOp, minus_one, w.pure(arith.SubiOp, zero, lhs), result)
    return w.pure(arith.SelectOp, is_zero(w, rhs), zero, result)


def remainder(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The remainder of a quotient truncated toward zero."""
    if is_float(lhs.type):
        return float_remainder(w, lhs, rhs)
    if known(rhs) in (None, 0, -1):
        rhs = divisor(w, rhs)
    return w.pure(arith.RemSIOp, lhs, rhs)


STEP = 28
"""Bits of a quotient of two f32 that are computed at once: its product with f32 is exact in f64."""


def float_remainder(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The exact remainder of f32: what is left of `lhs` when multiples of `rhs` are subtracted, the
    largest first."""
    if lhs.type != f32:
        raise NotImplementedError("remainders of f64, for which arith has no operation")
    x = w.pure(math.AbsFOp, convert(w, lhs, f64))
    y = w.pure(math.AbsFOp, convert(w, rhs, f64))
    left = w.alloc((1,), f64, "local")
    w.store(x, left, [0])
    first = multiply(w, y, w.number(2.0**STEP, f64))
    with w.when([w.pure(arith.CmpfOp, x, first, arg="oge")]):
        for step in reversed(range(1, 10)):  # f32 / f32 < 2 ** 277
            unit = multiply(w, y, w.number(2.0 ** (STEP * step), f64))
            w.store(without_multiples(w, w.load(left, [0]), unit), left, [0])
    rest = without_multiples(w, w.load(left, [0]), y)
    infinite = w.pure(arith.CmpfOp, y, w.number(float("inf"), f64), arg="oeq")
    finite = w.pure(arith.CmpfOp, x, w.number(float("inf"), f64), arg="olt")
    rest = w.pure(arith.SelectOp, w.all([infinite, finite]), x, rest)
    return w.pure(math.CopySignOp, convert(w, rest, f32), lhs)


def without_multiples(w: KernelBuilder, x: SSAValue, unit: SSAValue) -> SSAValue:
    """What is left of x, less than 2 ** STEP units, without whole units."""
    count = w.pure(math.TruncOp, w.pure(arith.DivfOp, x, unit))
    rest = w.pure(arith.SubfOp, x, multiply(w, count, unit))
    # The quotient may have been rounded up to a whole number.
    below = w.pure(arith.CmpfOp, rest, w.number(0.0, f64), arg="olt")
    return w.pure(arith.SelectOp, below, w.pure(arith.AddfOp, rest, unit), rest)


def divide(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return w.pure(arith.DivfOp, lhs, rhs) if is_float(lhs.type) else quotient(w, lhs, rhs)


def mod(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return remainder(w, lhs, rhs)


def floor_mod(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The remainder, with the sign of the divisor."""
    rest = remainder(w, lhs, rhs)
    differ = differ_in_sign(w, rest, rhs)
    if not is_float(lhs.type):
        # n mod 0 is n - n for arith.remsi of the divisor 1, so 0.
        exact = is_zero(w, rest)
        moved = w.pure(arith.AddiOp, rest, rhs)
        return w.pure(arith.SelectOp, exact, rest, w.pure(arith.SelectOp, differ, moved, rest))
    zero = w.number(0.0, rest.type)
    moved = w.pure(arith.SelectOp, differ, w.pure(arith.AddfOp, rest, rhs), rest)
    exact = w.pure(arith.CmpfOp, rest, zero, arg="oeq")
    return w.pure(arith.SelectOp, exact, w.pure(math.CopySignOp, zero, rhs), moved)


def floor_divide(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The quotient rounded down; of floats, computed of the exact remainder, as numpy does."""
    rest = remainder(w, lhs, rhs)
    differ = differ_in_sign(w, rest, rhs)
    if not is_float(lhs.type):
        down = w.pure(arith.SelectOp, is_zero(w, rest), w.number(False, differ.type), differ)
        return w.pure(arith.SubiOp, quotient(w, lhs, rhs), convert(w, down, lhs.type))
    zero, one = w.number(0.0, lhs.type), w.number(1.0, lhs.type)
    plain = w.pure(arith.DivfOp, lhs, rhs)
    whole = w.pure(arith.DivfOp, w.pure(arith.SubfOp, lhs, rest), rhs)
    down = w.all([differ, w.pure(arith.CmpfOp, rest, zero, arg="une")])
    whole = w.pure(arith.SelectOp, down, w.pure(arith.SubfOp, whole, one), whole)
    floor = w.pure(math.FloorOp, whole)
    above = w.pure(arith.SubfOp, whole, floor)
    over = w.pure(arith.CmpfOp, above, w.number(0.5, lhs.type), arg="ogt")
    result = w.pure(arith.SelectOp, over, w.pure(arith.AddfOp, floor, one), floor)
    none = w.pure(arith.CmpfOp, whole, zero, arg="oeq")
    result = w.pure(arith.SelectOp, none, w.pure(math.CopySignOp, zero, plain), result)
    by_zero = w.pure(arith.CmpfOp, rhs, zero, arg="oeq")
    return w.pure(arith.SelectOp, by_zero, plain, result)


# Powers


def power(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    if is_float(lhs.type):
        exponent = known(rhs)
        return w.pure(math.PowFOp, lhs, rhs) if exponent is None else power_of(w, lhs, exponent)
    return integer_power(w, lhs, rhs)


def power_of(w: KernelBuilder, base: SSAValue, exponent: float) -> SSAValue:
    """A float to a power that is known."""
    match exponent:
        case 1:
            return base
        case 2:
            return multiply(w, base, base)
        case 3:
            return multiply(w, multiply(w, base, base), base)
        case -1:
            return w.pure(arith.DivfOp, w.number(1.0, base.type), base)
        case _:
            return w.pure(math.PowFOp, base, w.number(exponent, base.type))


def integer_power(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """By squares, one for each bit of the exponent; the inverse truncated toward zero if that is
    negative."""
    type = lhs.type
    assert is_integer(type)
    zero, one = w.number(0, type), w.number(1, type)
    exponent = known(rhs)
    if exponent is not None and exponent >= 0:
        return known_power(w, lhs, int(exponent))
    result, square = w.alloc((1,), type, "local"), w.alloc((1,), type, "local")
    w.store(one, result, [0])
    w.store(lhs, square, [0])
    with w.loop(type.bitwidth - 1) as bit:
        place = convert(w, w.index(bit), type)
        here = w.pure(arith.AndIOp, w.pure(arith.ShRSIOp, rhs, place), one)
        base, value = w.load(square, [0]), w.load(result, [0])
        value = w.pure(arith.SelectOp, is_zero(w, here), value, multiply(w, value, base))
        w.store(value, result, [0])
        w.store(multiply(w, base, base), square, [0])
    odd = w.pure(arith.CmpiOp, w.pure(arith.AndIOp, rhs, one), zero, arg="ne")
    is_unit = w.pure(arith.CmpiOp, w.pure(math.AbsIOp, lhs), one, arg="eq")
    inverse = w.pure(arith.SelectOp, is_unit, w.pure(arith.SelectOp, odd, lhs, one), zero)
    negative = w.pure(arith.CmpiOp, rhs, zero, arg="slt")
    return w.pure(arith.SelectOp, negative, inverse, w.load(result, [0]))


def known_power(w: KernelBuilder, base: SSAValue, exponent: int) -> SSAValue:
    """An integer to a power that is not negative."""
    result: SSAValue | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else multiply(w, result, base)
        exponent >>= 1
        if exponent:
            base = multiply(w, base, base)
    return w.number(1, base.type) if result is None else result


def log_add_exp(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    distance = w.pure(math.AbsFOp, w.pure(arith.SubfOp, lhs, rhs))
    power = w.pure(math.ExpOp, w.pure(arith.NegfOp, distance))
    greater = w.pure(arith.MaximumfOp, lhs, rhs)
    result = w.pure(arith.AddfOp, greater, w.pure(math.Log1pOp, power))
    # Of two that are infinite, there is no distance.
    twice = w.pure(arith.AddfOp, lhs, w.number(log(2), lhs.type))
    equal = w.pure(arith.CmpfOp, lhs, rhs, arg="oeq")
    return w.pure(arith.SelectOp, equal, twice, result)


# Shifts


def fits(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> tuple[int, SSAValue]:
    """The number of bits, and whether a shift is by less."""
    type = lhs.type
    assert is_integer(type)
    width = type.bitwidth
    return width, w.pure(arith.CmpiOp, rhs, w.number(width, rhs.type), arg="ult")


def left_shift(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    zero = w.number(0, lhs.type)
    _, inside = fits(w, lhs, rhs)
    moved = w.pure(arith.ShLIOp, lhs, w.pure(arith.SelectOp, inside, rhs, zero))
    return w.pure(arith.SelectOp, inside, moved, zero)


def right_shift(w: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    width, inside = fits(w, lhs, rhs)
    places = w.pure(arith.SelectOp, inside, rhs, w.number(width - 1, rhs.type))
    return w.pure(arith.ShRSIOp, lhs, places)


BINARY: dict[type[Operation], Legalization] = {
    ops.AddOp: arithmetic(arith.AddfOp, arith.AddiOp),
    ops.Atan2Op: as_operation(math.Atan2Op),
    BitwiseAndOp: as_operation(arith.AndIOp),
    BitwiseOrOp: as_operation(arith.OrIOp),
    BitwiseXorOp: as_operation(arith.XOrIOp),
    ops.DivideOp: on_numbers(divide),
    EqualOp: comparison("oeq", "eq"),
    ops.FloorDivideOp: on_numbers(floor_divide),
    ops.FloorModOp: on_numbers(floor_mod),
    GreaterEqualOp: comparison("oge", "sge"),
    GreaterOp: comparison("ogt", "sgt"),
    LeftShiftOp: on_numbers(left_shift),
    LessEqualOp: comparison("ole", "sle"),
    LessOp: comparison("olt", "slt"),
    ops.LogAddExpOp: on_numbers(log_add_exp),
    LogicalAndOp: as_operation(arith.AndIOp),
    LogicalOrOp: as_operation(arith.OrIOp),
    LogicalXorOp: as_operation(arith.XOrIOp),
    ops.MaximumOp: arithmetic(arith.MaximumfOp, arith.MaxSIOp),
    ops.MinimumOp: arithmetic(arith.MinimumfOp, arith.MinSIOp),
    ops.ModOp: on_numbers(mod),
    ops.MultiplyOp: arithmetic(arith.MulfOp, arith.MuliOp),
    NotEqualOp: comparison("une", "ne"),
    ops.PowerOp: on_numbers(power),
    RightShiftOp: on_numbers(right_shift),
    ops.SubtractOp: arithmetic(arith.SubfOp, arith.SubiOp),
}
