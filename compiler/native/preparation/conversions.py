"""Conversions between f32 and bf16 or f16, which are stored as their bits in i16, by integer
arithmetic.

They round to nearest, ties to even. A NaN keeps its sign and the high bits of its payload; a
narrowing conversion makes it quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, f32, f64, i16, i32
from xdsl.ir import SSAValue

from .arithmetic import Arithmetic

__all__ = ["EXTEND", "TRUNCATE", "Half", "integer_to_odd", "sum_to_odd", "truncate_to_odd"]

Half: TypeAlias = BFloat16Type | Float16Type
"""A float of 16 bits, bf16 or f16."""

Conversion: TypeAlias = Callable[[Arithmetic, SSAValue], SSAValue]
"""A function that builds a conversion of bits of type i16 to f32, or the reverse."""


def extend_bf16(build: Arithmetic, half: SSAValue) -> SSAValue:
    """Extend bf16 to f32 by appending 16 zero bits: bf16 is the upper half of f32."""
    bits = build.integer(arith.ShLIOp, build.convert(arith.ExtUIOp, half, i32), 16)
    return build.of_bits(bits, f32)


def truncate_bf16(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Round f32 to bf16: add half a unit in the last place of bf16, and drop the low 16 bits.

    If the last bit that stays is 0, one less is added, so that ties are rounded down to it. A carry
    into the exponent gives the right result, also from the greatest number to infinity.
    """
    bits = build.bits(x)
    upper = build.integer(arith.ShRUIOp, bits, 16)
    half_unit = build.integer(arith.AddiOp, build.integer(arith.AndIOp, upper, 1), 0x7FFF)
    rounded = build.integer(arith.ShRUIOp, build.integer(arith.AddiOp, bits, half_unit), 16)
    quiet = build.integer(arith.OrIOp, upper, 0x40)
    result = build.select(build.compare(x, "uno", x), quiet, rounded)
    return build.convert(arith.TruncIOp, result, i16)


def extend_f16(build: Arithmetic, half: SSAValue) -> SSAValue:
    """Extend f16 to f32 by changing the bias of the exponent from 15 to 127."""
    half = build.convert(arith.ExtUIOp, half, i32)
    size = build.integer(arith.AndIOp, half, 0x7FFF)
    sign = build.integer(arith.ShLIOp, build.integer(arith.XOrIOp, half, size), 16)
    shifted = build.integer(arith.ShLIOp, size, 13)
    normal = build.integer(arith.AddiOp, shifted, 127 - 15 << 23)
    # Infinity and NaN: the greatest exponent of f16, 31, becomes that of f32, 255.
    special = build.integer(arith.AddiOp, shifted, 255 - 31 << 23)
    # A denormal number m * 2^-24 has no implicit 1: with the exponent -14 and the digits m, f32 is
    # 2^-14 + m * 2^-24. Subtracting 2^-14 is exact.
    with_one = build.of_bits(build.integer(arith.AddiOp, shifted, 127 - 14 << 23), f32)
    denormal = build.bits(build.sub(with_one, 2.0**-14))
    result = build.select(build.compare_integers(size, "slt", 0x400), denormal, normal)
    result = build.select(build.compare_integers(size, "sgt", 0x7BFF), special, result)
    return build.of_bits(build.integer(arith.OrIOp, sign, result), f32)


def truncate_f16(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Round f32 to f16, normal numbers as `truncate_bf16` does, and change the bias of the exponent
    from 127 to 15."""
    bits = build.bits(x)
    size = build.integer(arith.AndIOp, bits, 0x7FFFFFFF)
    sign = build.integer(arith.ShRUIOp, build.integer(arith.XOrIOp, bits, size), 16)
    upper = build.integer(arith.ShRUIOp, size, 13)
    half_unit = build.integer(arith.AddiOp, build.integer(arith.AndIOp, upper, 1), 0xFFF)
    bounded = build.integer(arith.MinSIOp, size, 127 + 16 << 23)  # 2^16 rounds to infinity
    shifted = build.integer(arith.SubiOp, bounded, 127 - 15 << 23)
    normal = build.integer(arith.ShRUIOp, build.integer(arith.AddiOp, shifted, half_unit), 13)
    # The last place of 0.5 in f32 is 2^-24, as that of a denormal f16: adding 0.5 rounds to f16,
    # and the low bits of the sum are the digits.
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


# Rounding to odd: a number that the type holds stays; of the two neighbours of another one, take
# that whose last bit is 1. Rounding the result to nearest, to a type with at least two bits less
# precision, gives the same as rounding the exact number once (Boldo, Melquiond: Emulation of a FMA
# and correctly rounded sums, 2008).


def truncate_to_odd(build: Arithmetic, x: SSAValue) -> SSAValue:
    """Convert f64 to f32, rounded to odd."""
    near = build.convert(arith.TruncFOp, x, f32)
    back = build.convert(arith.ExtFOp, near, f64)
    size, exact = (build.insert(math.AbsFOp(number)) for number in (back, x))
    too_large = build.compare(size, "ogt", exact)
    return _to_odd(build, near, too_large, build.compare(back, "one", x), f32)


def sum_to_odd(build: Arithmetic, a: SSAValue, b: SSAValue) -> SSAValue:
    """Add two f64, rounded to odd."""
    near = build.add(a, b)
    # Knuth's TwoSum: the error of the sum is exactly representable in f64.
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
    """Return a number rounded to odd, given that number rounded to nearest (`near`), and whether
    that is too large in magnitude or inexact."""
    # The two neighbours are `toward_zero` and the next bit pattern; the odd one has bit 0 set.
    bits = build.bits(near)
    toward_zero = build.select(too_large, build.integer(arith.SubiOp, bits, 1), bits)
    odd = build.select(inexact, build.integer(arith.OrIOp, toward_zero, 1), bits)
    return build.of_bits(odd, element)


def integer_to_odd(build: Arithmetic, x: SSAValue, signed: bool) -> SSAValue:
    """Round 64-bit integers to odd, to integers that f64 holds exactly.

    Those of a magnitude above 2^53 become multiples of 2^11, odd ones if they are inexact; others
    stay as they are.
    """
    low = build.integer(arith.AndIOp, x, 0x7FF)
    high = build.integer(arith.XOrIOp, x, low)
    exact = build.compare_integers(low, "eq", 0)
    odd = build.select(exact, high, build.integer(arith.OrIOp, high, 0x800))
    # One unsigned comparison tests whether x is outside [-2^53, 2^53], or [0, 2^53] if unsigned.
    offset, limit = (1 << 53, 1 << 54) if signed else (0, 1 << 53)
    large = build.compare_integers(build.integer(arith.AddiOp, x, offset), "ugt", limit)
    return build.select(large, odd, x)
