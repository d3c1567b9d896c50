"""Legalizations of element-wise functions of two tensors.

Operands for which an operation of arith is undefined never reach it: division by zero gives 0, the
minimum integer divided by -1 gives itself, a shift by more than the width shifts all bits out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.elementwise import binary as ops
from ....dialects.relax.types import is_integer
from ..builder import KernelBuilder, Legalization
from ..scalars import constant_of, convert, is_float, maximum, minimum, multiply, widen
from .elementwise import Scalar, as_operation, of_any_sign, on_all_numbers, on_numbers

TwoOperands = Callable[..., Operation]
"""The class of an operation of two operands."""


def arithmetic(floats: TwoOperands, integers: TwoOperands) -> Legalization:
    """Legalize to one operation for floats, and one for integers."""

    def scalar(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return b.pure(floats if is_float(lhs.type) else integers, lhs, rhs)

    return on_all_numbers(scalar)


def in_wide(function: Callable[..., SSAValue]) -> Scalar:
    """Return a function of two elements that computes f16 in f32."""

    def scalar(_: Operation, b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if is_integer(lhs.type):
            return function(b, lhs, rhs)
        return convert(b, function(b, widen(b, lhs), widen(b, rhs)), lhs.type)

    return scalar


def comparison(floats: str, integers: str) -> Legalization:
    """Legalize to a comparison, with a predicate for floats and one for integers. For unsigned
    integers, `slt` stands for `ult`."""

    def scalar(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        if is_float(lhs.type):
            return b.pure(arith.CmpfOp, lhs, rhs, arg=floats)
        return b.pure(arith.CmpiOp, lhs, rhs, arg=integers)

    def unsigned(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return b.pure(arith.CmpiOp, lhs, rhs, arg=integers.replace("s", "u"))

    return on_numbers(scalar, unsigned)


# Division


def is_zero(b: KernelBuilder, x: SSAValue) -> SSAValue:
    return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="eq")


def differ_in_sign(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return whether exactly one of two numbers is below zero."""
    if is_float(lhs.type):
        zero = b.number(0.0, lhs.type)
        signs = (b.pure(arith.CmpfOp, x, zero, arg="olt") for x in (lhs, rhs))
    else:
        zero = b.number(0, lhs.type)
        signs = (b.pure(arith.CmpiOp, x, zero, arg="slt") for x in (lhs, rhs))
    return b.pure(arith.XOrIOp, *signs)


def divisor(b: KernelBuilder, rhs: SSAValue) -> SSAValue:
    """Return `rhs`, or 1 if it is 0 or -1: a division by these may trap."""
    one = b.number(1, rhs.type)
    # rhs + 1 is 0 or 1 for -1 and 0: one unsigned comparison for both.
    above = b.pure(arith.AddiOp, rhs, one)
    special = b.pure(arith.CmpiOp, above, b.number(2, rhs.type), arg="ult")
    return b.pure(arith.SelectOp, special, one, rhs)


def quotient(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the quotient of integers, truncated toward zero."""
    if constant_of(rhs) not in (None, 0, -1):
        return b.pure(arith.DivSIOp, lhs, rhs)
    # x86 traps for the minimum integer / -1, and arith.divsi is undefined; 0 - x wraps around
    # instead, which is right for all x.
    minus_one = b.pure(arith.CmpiOp, rhs, b.number(-1, rhs.type), arg="eq")
    zero = b.number(0, lhs.type)
    result = b.pure(arith.DivSIOp, lhs, divisor(b, rhs))
    result = b.pure(arith.SelectOp, minus_one, b.pure(arith.SubiOp, zero, lhs), result)
    return b.pure(arith.SelectOp, is_zero(b, rhs), zero, result)


def remainder(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the remainder of the quotient that is truncated toward zero."""
    if is_float(lhs.type):
        return float_remainder(b, lhs, rhs)
    if constant_of(rhs) in (None, 0, -1):
        rhs = divisor(b, rhs)
    return b.pure(arith.RemSIOp, lhs, rhs)


def unsigned_divisor(b: KernelBuilder, rhs: SSAValue) -> SSAValue:
    """Return `rhs`, or 1 if it is 0."""
    if constant_of(rhs) not in (None, 0):
        return rhs
    return b.pure(arith.SelectOp, is_zero(b, rhs), b.number(1, rhs.type), rhs)


def unsigned_quotient(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the quotient of unsigned integers, rounded down; a division by 0 gives 0."""
    result = b.pure(arith.DivUIOp, lhs, unsigned_divisor(b, rhs))
    return b.pure(arith.SelectOp, is_zero(b, rhs), b.number(0, lhs.type), result)


def unsigned_remainder(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the remainder of unsigned integers; a division by 0 gives 0."""
    return b.pure(arith.RemUIOp, lhs, unsigned_divisor(b, rhs))


STEP = 28
"""The bits of an f32 quotient that are computed at once: the product of an integer of 28 bits and
an f32 significand of 24 bits is exact in the 53 bits of an f64."""


def float_remainder(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the exact remainder of two f32, by long division with digits of STEP bits: multiples
    of `rhs` are subtracted from `lhs`, the largest first."""
    if lhs.type == f64:
        return wide_remainder(b, lhs, rhs)
    x = b.pure(math.AbsFOp, convert(b, lhs, f64))
    y = b.pure(math.AbsFOp, convert(b, rhs, f64))
    left = b.variable(x)
    first = multiply(b, y, b.number(2.0**STEP, f64))
    with b.when([b.pure(arith.CmpfOp, x, first, arg="oge")]):
        for step in reversed(range(1, 10)):  # f32 / f32 < 2 ** 277
            unit = multiply(b, y, b.number(2.0 ** (STEP * step), f64))
            b.store(without_multiples(b, b.load(left, [0]), unit), left, [0])
    rest = without_multiples(b, b.load(left, [0]), y)
    infinite = b.pure(arith.CmpfOp, y, b.number(float("inf"), f64), arg="oeq")
    finite = b.pure(arith.CmpfOp, x, b.number(float("inf"), f64), arg="olt")
    rest = b.pure(arith.SelectOp, b.all([infinite, finite]), x, rest)
    return b.pure(math.CopySignOp, convert(b, rest, f32), lhs)


WIDE_STEP = 52
"""The bits of an f64 quotient that are computed at once: an integer of this many bits is exact in
f64."""


def wide_remainder(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the exact remainder of two f64, by the method of `float_remainder`.

    The difference of `x` and a multiple of a unit is less than the unit, and a multiple of its last
    place. So a fused operation computes it without rounding.
    """
    x, y = b.pure(math.AbsFOp, lhs), b.pure(math.AbsFOp, rhs)
    infinity = b.number(float("inf"), f64)
    left = b.variable(x)
    first = multiply(b, y, b.number(2.0**WIDE_STEP, f64))
    with b.when([b.pure(arith.CmpfOp, x, first, arg="oge")]):
        units = [y]
        # 52 * 41 = 2132 bits. The largest units overflow to infinity, and are skipped: no f64 has
        # them.
        for _ in range(40):  # f64 / f64 < 2 ** 2098
            units.append(multiply(b, units[-1], b.number(2.0**WIDE_STEP, f64)))
        for unit in reversed(units[1:]):
            here = b.load(left, [0])
            is_finite = b.pure(arith.CmpfOp, unit, infinity, arg="olt")
            rest = without_multiples(b, here, unit, fused=True)
            b.store(b.pure(arith.SelectOp, is_finite, rest, here), left, [0])
    rest = without_multiples(b, b.load(left, [0]), y, fused=True)
    infinite = b.pure(arith.CmpfOp, y, infinity, arg="oeq")
    finite = b.pure(arith.CmpfOp, x, infinity, arg="olt")
    rest = b.pure(arith.SelectOp, b.all([infinite, finite]), x, rest)
    return b.pure(math.CopySignOp, rest, lhs)


def without_multiples(
    b: KernelBuilder, x: SSAValue, unit: SSAValue, *, fused: bool = False
) -> SSAValue:
    """Return `x` mod `unit`. `x` is less than 2 ** STEP units, or with `fused`, than 2 ** WIDE_STEP
    units."""
    count = b.pure(math.TruncOp, b.pure(arith.DivfOp, x, unit))
    if fused:
        rest = b.pure(math.FmaOp, b.pure(arith.NegfOp, count), unit, x)
    else:
        rest = b.pure(arith.SubfOp, x, multiply(b, count, unit))
    # The quotient may have been rounded up to an integer.
    below = b.pure(arith.CmpfOp, rest, b.number(0.0, f64), arg="olt")
    return b.pure(arith.SelectOp, below, b.pure(arith.AddfOp, rest, unit), rest)


def divide(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return b.pure(arith.DivfOp, lhs, rhs) if is_float(lhs.type) else quotient(b, lhs, rhs)


def mod(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return remainder(b, lhs, rhs)


def floor_mod(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the remainder with the sign of the divisor."""
    rest = remainder(b, lhs, rhs)
    differ = differ_in_sign(b, rest, rhs)
    if not is_float(lhs.type):
        # `divisor` turned 0 into 1, so n mod 0 is 0.
        exact = is_zero(b, rest)
        moved = b.pure(arith.AddiOp, rest, rhs)
        return b.pure(arith.SelectOp, exact, rest, b.pure(arith.SelectOp, differ, moved, rest))
    zero = b.number(0.0, rest.type)
    moved = b.pure(arith.SelectOp, differ, b.pure(arith.AddfOp, rest, rhs), rest)
    exact = b.pure(arith.CmpfOp, rest, zero, arg="oeq")
    return b.pure(arith.SelectOp, exact, b.pure(math.CopySignOp, zero, rhs), moved)


def floor_divide(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the quotient rounded down; for floats from the exact remainder, as numpy does."""
    rest = remainder(b, lhs, rhs)
    differ = differ_in_sign(b, rest, rhs)
    if not is_float(lhs.type):
        down = b.pure(arith.SelectOp, is_zero(b, rest), b.number(False, differ.type), differ)
        return b.pure(arith.SubiOp, quotient(b, lhs, rhs), convert(b, down, lhs.type))
    zero, one = b.number(0.0, lhs.type), b.number(1.0, lhs.type)
    plain = b.pure(arith.DivfOp, lhs, rhs)
    # The steps of numpy's and CPython's floor division: floor(lhs / rhs) alone is wrong where the
    # quotient is rounded up to an integer, as 1.0 / 0.1 is 10 but 1.0 // 0.1 is 9.
    whole = b.pure(arith.DivfOp, b.pure(arith.SubfOp, lhs, rest), rhs)
    down = b.all([differ, b.pure(arith.CmpfOp, rest, zero, arg="une")])
    whole = b.pure(arith.SelectOp, down, b.pure(arith.SubfOp, whole, one), whole)
    floor = b.pure(math.FloorOp, whole)
    above = b.pure(arith.SubfOp, whole, floor)
    # (lhs - rest) / rhs is an integer except for rounding, so the nearest integer is taken, not the
    # one below.
    over = b.pure(arith.CmpfOp, above, b.number(0.5, lhs.type), arg="ogt")
    result = b.pure(arith.SelectOp, over, b.pure(arith.AddfOp, floor, one), floor)
    none = b.pure(arith.CmpfOp, whole, zero, arg="oeq")
    result = b.pure(arith.SelectOp, none, b.pure(math.CopySignOp, zero, plain), result)
    by_zero = b.pure(arith.CmpfOp, rhs, zero, arg="oeq")
    return b.pure(arith.SelectOp, by_zero, plain, result)


# Powers


def power(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    if is_float(lhs.type):
        exponent = constant_of(rhs)
        return b.pure(math.PowFOp, lhs, rhs) if exponent is None else power_of(b, lhs, exponent)
    return integer_power(b, lhs, rhs)


def power_of(b: KernelBuilder, base: SSAValue, exponent: float) -> SSAValue:
    """Return a float to the power of a constant, with the special cases of `math.powf`, as IEEE 754
    defines them; other results may differ from it in the last place."""
    match exponent:
        case 1:
            return base
        case 2:
            return multiply(b, base, base)
        case 3:
            # Two roundings, where `powf` has about one: the last place may differ.
            return multiply(b, multiply(b, base, base), base)
        case -1:
            return b.pure(arith.DivfOp, b.number(1.0, base.type), base)
        case 0.5:
            return root(b, base)
        case _:
            return b.pure(math.PowFOp, base, b.number(exponent, base.type))


def root(b: KernelBuilder, base: SSAValue) -> SSAValue:
    """Return `pow(base, 0.5)`: the square root, but 0 for -0, and inf for -inf."""
    infinity = b.number(inf, base.type)
    # -0.0 + 0.0 is 0.0, whose root is 0.0, not -0.0; other numbers do not change.
    result = b.pure(math.SqrtOp, b.pure(arith.AddfOp, base, b.number(0.0, base.type)))
    is_limit = b.pure(arith.CmpfOp, base, b.number(-inf, base.type), arg="oeq")
    return b.pure(arith.SelectOp, is_limit, infinity, result)


def integer_power(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return an integer power by repeated squaring, one iteration for each bit of the exponent.

    A negative exponent gives the inverse truncated toward zero: 0 unless `lhs` is 1 or -1.
    """
    type = lhs.type
    assert is_integer(type)
    zero, one = b.number(0, type), b.number(1, type)
    exponent = constant_of(rhs)
    if exponent is not None and exponent >= 0:
        return constant_power(b, lhs, int(exponent))
    # Without the sign bit; for negative exponents the result is not used. Products wrap around, as
    # those of numpy do.
    power = repeated_squares(b, lhs, rhs, type.bitwidth - 1)
    odd = b.pure(arith.CmpiOp, b.pure(arith.AndIOp, rhs, one), zero, arg="ne")
    is_unit = b.pure(arith.CmpiOp, b.pure(math.AbsIOp, lhs), one, arg="eq")
    inverse = b.pure(arith.SelectOp, is_unit, b.pure(arith.SelectOp, odd, lhs, one), zero)
    negative = b.pure(arith.CmpiOp, rhs, zero, arg="slt")
    return b.pure(arith.SelectOp, negative, inverse, power)


def unsigned_power(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    type = lhs.type
    assert is_integer(type)
    return repeated_squares(b, lhs, rhs, type.bitwidth)


def repeated_squares(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue, bits: int) -> SSAValue:
    """Return `lhs` to the power of the low bits of `rhs`."""
    type = lhs.type
    one = b.number(1, type)
    result, square = b.alloc((1,), type, "local"), b.alloc((1,), type, "local")
    b.store(one, result, [0])
    b.store(lhs, square, [0])
    with b.loop(bits) as bit:
        place = convert(b, b.index(bit), type)
        here = b.pure(arith.AndIOp, b.pure(arith.ShRSIOp, rhs, place), one)
        base, value = b.load(square, [0]), b.load(result, [0])
        value = b.pure(arith.SelectOp, is_zero(b, here), value, multiply(b, value, base))
        b.store(value, result, [0])
        b.store(multiply(b, base, base), square, [0])
    return b.load(result, [0])


def constant_power(b: KernelBuilder, base: SSAValue, exponent: int) -> SSAValue:
    """Return an integer to the power of a constant that is not negative."""
    result: SSAValue | None = None
    while exponent:
        if exponent & 1:
            result = base if result is None else multiply(b, result, base)
        exponent >>= 1
        if exponent:
            base = multiply(b, base, base)
    return b.number(1, base.type) if result is None else result


def log_add_exp(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    distance = b.pure(math.AbsFOp, b.pure(arith.SubfOp, lhs, rhs))
    power = b.pure(math.ExpOp, b.pure(arith.NegfOp, distance))
    # log(e^x + e^y) = max + log1p(e^-|x - y|): no power overflows, and log1p keeps small ones.
    greater = b.pure(arith.MaximumfOp, lhs, rhs)
    result = b.pure(arith.AddfOp, greater, b.pure(math.Log1pOp, power))
    # The distance of equal infinities is NaN.
    twice = b.pure(arith.AddfOp, lhs, b.number(log(2), lhs.type))
    equal = b.pure(arith.CmpfOp, lhs, rhs, arg="oeq")
    return b.pure(arith.SelectOp, equal, twice, result)


# Shifts


def fits(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> tuple[int, SSAValue]:
    """Return the bit width of `lhs`, and whether `rhs` is less than it."""
    type = lhs.type
    assert is_integer(type)
    width = type.bitwidth
    return width, b.pure(arith.CmpiOp, rhs, b.number(width, rhs.type), arg="ult")


def zero_filled(shift: TwoOperands) -> Scalar:
    """Return the function of a shift that moves zeros in. A shift by the width or more gives 0."""

    def scalar(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        zero = b.number(0, lhs.type)
        _, inside = fits(b, lhs, rhs)
        moved = b.pure(shift, lhs, b.pure(arith.SelectOp, inside, rhs, zero))
        return b.pure(arith.SelectOp, inside, moved, zero)

    return scalar


def right_shift(b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    # A shift by the width or more is poison. Here it becomes a shift by width - 1, which gives 0,
    # or -1 for a negative number.
    width, inside = fits(b, lhs, rhs)
    places = b.pure(arith.SelectOp, inside, rhs, b.number(width - 1, rhs.type))
    return b.pure(arith.ShRSIOp, lhs, places)


BINARY: dict[type[Operation], Legalization] = {
    ops.AddOp: arithmetic(arith.AddfOp, arith.AddiOp),
    ops.Atan2Op: as_operation(math.Atan2Op),
    ops.BitwiseAndOp: as_operation(arith.AndIOp, arith.AndIOp),
    ops.BitwiseOrOp: as_operation(arith.OrIOp, arith.OrIOp),
    ops.BitwiseXorOp: as_operation(arith.XOrIOp, arith.XOrIOp),
    ops.DivideOp: on_numbers(divide, unsigned_quotient),
    ops.EqualOp: comparison("oeq", "eq"),
    ops.FloorDivideOp: on_numbers(floor_divide, unsigned_quotient),
    ops.FloorModOp: on_numbers(floor_mod, unsigned_remainder),
    ops.GreaterEqualOp: comparison("oge", "sge"),
    ops.GreaterOp: comparison("ogt", "sgt"),
    ops.LeftShiftOp: on_all_numbers(zero_filled(arith.ShLIOp)),
    ops.LessEqualOp: comparison("ole", "sle"),
    ops.LessOp: comparison("olt", "slt"),
    ops.LogAddExpOp: on_numbers(log_add_exp),
    ops.LogicalAndOp: as_operation(arith.AndIOp),
    ops.LogicalOrOp: as_operation(arith.OrIOp),
    ops.LogicalXorOp: as_operation(arith.XOrIOp),
    ops.MaximumOp: of_any_sign(in_wide(maximum)),
    ops.MinimumOp: of_any_sign(in_wide(minimum)),
    ops.ModOp: on_numbers(mod, unsigned_remainder),
    ops.MultiplyOp: arithmetic(arith.MulfOp, arith.MuliOp),
    ops.NotEqualOp: comparison("une", "ne"),
    ops.PowerOp: on_numbers(power, unsigned_power),
    ops.RightShiftOp: on_numbers(right_shift, zero_filled(arith.ShRUIOp)),
    ops.SubtractOp: arithmetic(arith.SubfOp, arith.SubiOp),
}
