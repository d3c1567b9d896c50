"""Conversions between f32 and bf16 or f16, which are stored as their bits in i16, by integer
arithmetic.

They round to nearest, ties to even. A NaN keeps its sign and the high bits of its payload; a
narrowing conversion makes it quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, f32, f64, i16, i32

from .arithmetic import Lanes

__all__ = ["EXTEND", "TRUNCATE", "Half", "integer_to_odd", "sum_to_odd", "truncate_to_odd"]

Half: TypeAlias = BFloat16Type | Float16Type
"""A float of 16 bits, bf16 or f16."""

Conversion: TypeAlias = Callable[[Lanes], Lanes]
"""A function that builds a conversion of bits of type i16 to f32, or the reverse."""


def extend_bf16(half: Lanes) -> Lanes:
    """Extend bf16 to f32 by appending 16 zero bits: bf16 is the upper half of f32."""
    bits = half.convert(arith.ExtUIOp, i32) << 16
    return bits.of_bits(f32)


def truncate_bf16(x: Lanes) -> Lanes:
    """Round f32 to bf16: add half a unit in the last place of bf16, and drop the low 16 bits.

    If the last bit that stays is 0, one less is added, so that ties are rounded down to it. A carry
    into the exponent gives the right result, also from the maximum number to infinity.
    """
    bits = x.bits()
    upper = bits >> 16
    half_unit = (upper & 1) + 0x7FFF
    rounded = bits + half_unit >> 16
    quiet = upper | 0x40
    result = x.compare("uno", x).select(quiet, rounded)
    return result.convert(arith.TruncIOp, i16)


def extend_f16(half: Lanes) -> Lanes:
    """Extend f16 to f32 by changing the bias of the exponent from 15 to 127."""
    half = half.convert(arith.ExtUIOp, i32)
    size = half & 0x7FFF
    sign = (half ^ size) << 16
    shifted = size << 13
    normal = shifted + (127 - 15 << 23)
    # Infinity and NaN: the maximum exponent of f16, 31, becomes that of f32, 255.
    special = shifted + (255 - 31 << 23)
    # A denormal number m * 2^-24 has no implicit 1: with the exponent -14 and the digits m, f32 is
    # 2^-14 + m * 2^-24. Subtracting 2^-14 is exact.
    with_one = (shifted + (127 - 14 << 23)).of_bits(f32)
    denormal = (with_one - 2.0**-14).bits()
    result = size.compare("slt", 0x400).select(denormal, normal)
    result = size.compare("sgt", 0x7BFF).select(special, result)
    return (sign | result).of_bits(f32)


def truncate_f16(x: Lanes) -> Lanes:
    """Round f32 to f16, normal numbers as `truncate_bf16` does, and change the bias of the exponent
    from 127 to 15."""
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    sign = (bits ^ size) >> 16
    upper = size >> 13
    half_unit = (upper & 1) + 0xFFF
    bounded = size.integer(arith.MinSIOp, 127 + 16 << 23)  # 2^16 rounds to infinity
    shifted = bounded - (127 - 15 << 23)
    normal = shifted + half_unit >> 13
    # The last place of 0.5 in f32 is 2^-24, as that of a denormal f16: adding 0.5 rounds to f16,
    # and the low bits of the sum are the digits.
    sum = (size.of_bits(f32) + 0.5).bits()
    denormal = sum - (127 - 1 << 23)
    payload = upper & 0x3FF
    quiet = payload | 0x7E00
    result = size.compare("slt", 127 - 14 << 23).select(denormal, normal)
    result = size.compare("sgt", 255 << 23).select(quiet, result)
    return (sign | result).convert(arith.TruncIOp, i16)


EXTEND: Mapping[type[Half], Conversion] = {BFloat16Type: extend_bf16, Float16Type: extend_f16}
TRUNCATE: Mapping[type[Half], Conversion] = {
    BFloat16Type: truncate_bf16,
    Float16Type: truncate_f16,
}


# Rounding to odd: a number that the type holds stays; of the two neighbours of another one, take
# that whose last bit is 1. Rounding the result to nearest, to a type with at least two bits less
# precision, gives the same as rounding the exact number once (Boldo, Melquiond: Emulation of a FMA
# and correctly rounded sums, 2008).


def truncate_to_odd(x: Lanes) -> Lanes:
    """Convert f64 to f32, rounded to odd."""
    near = x.convert(arith.TruncFOp, f32)
    back = near.convert(arith.ExtFOp, f64)
    size, exact = abs(back), abs(x)
    too_large = size.compare("ogt", exact)
    return _to_odd(near, too_large, back.compare("one", x), f32)


def sum_to_odd(a: Lanes, b: Lanes) -> Lanes:
    """Add two f64, rounded to odd."""
    near = a + b
    # Knuth's TwoSum: the error of the sum is exactly representable in f64.
    rest = near - a
    error = a - (near - rest) + (b - rest)
    signs = near.bits() ^ error.bits()
    too_large = signs.compare("slt", 0)
    return _to_odd(near, too_large, error.compare("one", 0.0), f64)


def _to_odd(
    near: Lanes,
    too_large: Lanes,
    inexact: Lanes,
    element: AnyFloat,
) -> Lanes:
    """Return a number rounded to odd, given that number rounded to nearest (`near`), and whether
    that is too large in magnitude or inexact."""
    # The two neighbours are `toward_zero` and the next bit pattern; the odd one has bit 0 set.
    bits = near.bits()
    toward_zero = too_large.select(bits - 1, bits)
    odd = inexact.select(toward_zero | 1, bits)
    return odd.of_bits(element)


def integer_to_odd(x: Lanes, signed: bool) -> Lanes:
    """Round 0x40-bit integers to odd, to integers that f64 holds exactly.

    Those of a magnitude above 2^53 become multiples of 2^11, odd ones if they are inexact; others
    stay as they are.
    """
    low = x & 0x7FF
    high = x ^ low
    exact = low.compare("eq", 0)
    odd = exact.select(high, high | 0x800)
    # One unsigned comparison tests whether x is outside [-2^53, 2^53], or [0, 2^53] if unsigned.
    offset, limit = (1 << 53, 1 << 54) if signed else (0, 1 << 53)
    large = (x + offset).compare("ugt", limit)
    return large.select(odd, x)
