"""Conversions between bf16 or f16, held as their bits in i16, and f32, in integer arithmetic.

They round to nearest, ties to even. A NaN keeps its sign and the high bits of its payload; where it
is rounded, it becomes quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, f32, f64, i16, i32
from xdsl.ir import SSAValue

from .arithmetic import Arithmetic

__all__ = ["EXTEND", "TRUNCATE", "Half", "keep_odd", "sum_to_odd", "truncate_to_odd"]

Half: TypeAlias = BFloat16Type | Float16Type

Conversion: TypeAlias = Callable[[Arithmetic, SSAValue], SSAValue]


def extend_bf16(build: Arithmetic, half: SSAValue) -> SSAValue:
    """Append 16 zeros: bf16 is the upper half of f32."""
    bits = build.integer(arith.ShLIOp, build.convert(arith.ExtUIOp, half, i32), 16)
    return build.of_bits(bits, f32)


def truncate_bf16(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Add half a unit in the last place, or just less than that if the last bit is 0, and cut off
    16 bits; a carry into the exponent is right, also from the greatest number to infinity."""
    bits = build.bits(x)
    upper = build.integer(arith.ShRUIOp, bits, 16)
    half = build.integer(arith.AddiOp, build.integer(arith.AndIOp, upper, 1), 0x7FFF)
    rounded = build.integer(arith.ShRUIOp, build.integer(arith.AddiOp, bits, half), 16)
    quiet = build.integer(arith.OrIOp, upper, 0x40)
    result = build.select(build.compare(x, "uno", x), quiet, rounded)
    return build.convert(arith.TruncIOp, result, i16)


def extend_f16(build: Arithmetic, half: SSAValue) -> SSAValue:
    """Change the bias of the exponent from 15 to 127."""
    half = build.convert(arith.ExtUIOp, half, i32)
    size = build.integer(arith.AndIOp, half, 0x7FFF)
    sign = build.integer(arith.ShLIOp, build.integer(arith.XOrIOp, half, size), 16)
    shifted = build.integer(arith.ShLIOp, size, 13)
    normal = build.integer(arith.AddiOp, shifted, 127 - 15 << 23)
    special = build.integer(arith.AddiOp, shifted, 255 - 31 << 23)
    # A denormal number has no leading 1: with one it is normal, and the difference exact.
    with_one = build.of_bits(build.integer(arith.AddiOp, shifted, 127 - 14 << 23), f32)
    denormal = build.bits(build.sub(with_one, 2.0**-14))
    result = build.select(build.compare_integers(size, "slt", 0x400), denormal, normal)
    result = build.select(build.compare_integers(size, "sgt", 0x7BFF), special, result)
    return build.of_bits(build.integer(arith.OrIOp, sign, result), f32)


def truncate_f16(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Round as `truncate_bf16` does, and change the bias of the exponent from 127 to 15."""
    bits = build.bits(x)
    size = build.integer(arith.AndIOp, bits, 0x7FFFFFFF)
    sign = build.integer(arith.ShRUIOp, build.integer(arith.XOrIOp, bits, size), 16)
    upper = build.integer(arith.ShRUIOp, size, 13)
    half = build.integer(arith.AddiOp, build.integer(arith.AndIOp, upper, 1), 0xFFF)
    bounded = build.integer(arith.MinSIOp, size, 127 + 16 << 23)  # 2^16, which becomes infinity
    shifted = build.integer(arith.SubiOp, bounded, 127 - 15 << 23)
    normal = build.integer(arith.ShRUIOp, build.integer(arith.AddiOp, shifted, half), 13)
    # The last bit of 0.5 and of denormal numbers is 2^-24: the sum is rounded as these are.
    sum = build.bits(build.add(build.of_bits(size, f32), 0.5))
    denormal = build.integer(arith.SubiOp, sum, 127 - 1 << 23)
    payload = build.integer(arith.AndIOp, upper, 0x3FF)
    quiet = build.integer(arith.OrIOp, payload, 0x7E00)
    result = build.select(build.compare_integers(size, "slt", 127 - 14 << 23), denormal, normal)
    result = build.select(build.compare_integers(size, "sgt", 255 << 23), quiet, result)
    return build.convert(arith.TruncIOp, build.integer(arith.OrIOp, sign, result), i16)


EXTEND: Mapping[type[Half], Conversion] = {BFloat16Type: extend_bf16, Float16Type: extend_f16}
TRUNCATE: Mapping[type[Half], Conversion] = {
    BFloat16Type: truncate_bf16,
    Float16Type: truncate_f16,
}


# Rounding to odd: toward zero, and if that is not exact, to the neighbor with an odd last bit.
# Rounded again, to a type with at least two digits less, the result is that of the exact number
# (Boldo, Melquiond: Emulation of a FMA and correctly rounded sums, 2008).


def truncate_to_odd(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Return f64 as f32, rounded to odd."""
    near = build.convert(arith.TruncFOp, x, f32)
    back = build.convert(arith.ExtFOp, near, f64)
    size, exact = (build.insert(math.AbsFOp(number)) for number in (back, x))
    too_large = build.compare(size, "ogt", exact)
    return _to_odd(build, near, too_large, build.compare(back, "one", x), f32)


def sum_to_odd(build: Arithmetic, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return a sum of f64, rounded to odd."""
    near = build.add(a, b)
    # The error of the sum is a f64 itself: Knuth's TwoSum.
    rest = build.sub(near, a)
    error = build.add(build.sub(a, build.sub(near, rest)), build.sub(b, rest))
    signs = build.integer(arith.XOrIOp, build.bits(near), build.bits(error))
    too_large = build.compare_integers(signs, "slt", 0)
    return _to_odd(build, near, too_large, build.compare(error, "one", 0.0), f64)


def _to_odd(
    build: Arithmetic,
    near: SSAValue,
    too_large: SSAValue,
    inexact: SSAValue,
    element: AnyFloat,
) -> SSAValue:
    """Return, for a number rounded to nearest, what rounding to odd gives."""
    bits = build.bits(near)
    toward_zero = build.select(too_large, build.integer(arith.SubiOp, bits, 1), bits)
    odd = build.select(inexact, build.integer(arith.OrIOp, toward_zero, 1), bits)
    return build.of_bits(odd, element)


def keep_odd(build: Arithmetic, x: SSAValue, signed: bool) -> SSAValue:
    """Return integers of 64 bits as ones that f64 holds exactly: those that it does not are rounded
    to an odd multiple of 2^11."""
    low = build.integer(arith.AndIOp, x, 0x7FF)
    high = build.integer(arith.XOrIOp, x, low)
    exact = build.compare_integers(low, "eq", 0)
    odd = build.select(exact, high, build.integer(arith.OrIOp, high, 0x800))
    # x is large if it is not in [-2^53, 2^53], or [0, 2^53]: one unsigned comparison.
    offset, limit = (1 << 53, 1 << 54) if signed else (0, 1 << 53)
    large = build.compare_integers(build.integer(arith.AddiOp, x, offset), "ugt", limit)
    return build.select(large, odd, x)
