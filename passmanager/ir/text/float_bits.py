"""The bits of floating-point numbers of the types that xDSL does not pack: f80 and f128."""

from __future__ import annotations

import math
from fractions import Fraction

from xdsl.dialects.builtin import AnyFloat, Float80Type, Float128Type

from ....compat.floats import byte_size, pack, unpack

__all__ = ["bits_of", "value_of"]

_BIAS = (1 << 14) - 1
_SPECIAL = (1 << 15) - 1
"""The exponent of infinities and NaN."""


def bits_of(value: float, type: AnyFloat) -> tuple[int, int]:
    """Return a number as bits, and how many there are; every NaN of f80 and f128 is the quiet one
    without payload.
    """
    if not isinstance(type, Float80Type | Float128Type):
        data = pack(type, (value,))
        return int.from_bytes(data, "little"), 8 * len(data)
    # Exact, in integers: f80 and f128 hold each f64, with zeros after its 52 digits.
    digits = _fraction_digits(type)
    sign = int(math.copysign(1.0, value) < 0)
    if math.isfinite(value):
        fraction, exponent = math.frexp(abs(value))  # value = fraction * 2 ** exponent
        # frexp gives a fraction from 1/2 up to 1, so that its first bit is at `digits`.
        significand = int(Fraction(fraction) * (1 << (digits + 1)))
        exponent = exponent - 1 + _BIAS if value else 0
    else:
        significand = (1 << digits) | ((1 << (digits - 1)) if math.isnan(value) else 0)
        exponent = _SPECIAL
    if isinstance(type, Float128Type):
        significand &= (1 << digits) - 1  # the first bit is implied
        return sign << 127 | exponent << 112 | significand, 128
    return sign << 79 | exponent << 64 | significand, 80


def value_of(bits: int, type: AnyFloat) -> float | None:
    """Return the number with these bits; None if there are more bits than `type` has, or if xDSL,
    which computes with f64, cannot represent it.
    """
    if not isinstance(type, Float80Type | Float128Type):
        try:
            return unpack(type, bits.to_bytes(byte_size(type), "little"), 1)[0]
        except OverflowError:
            return None
    digits = _fraction_digits(type)
    width = type.bitwidth
    if bits >> width:
        return None
    sign = -1.0 if bits >> (width - 1) else 1.0
    exponent = bits >> (width - 16) & _SPECIAL
    significand = bits & ((1 << (width - 16)) - 1)
    if exponent == _SPECIAL:
        value = math.nan if significand & ((1 << digits) - 1) else math.inf
    else:
        if isinstance(type, Float128Type) and exponent:
            significand |= 1 << digits
        # The exponent 0 is that of 1, but without the implied bit: subnormal numbers.
        exact = Fraction(significand) * Fraction(2) ** (max(exponent, 1) - _BIAS - digits)
        try:
            value = float(exact)
        except OverflowError:
            return None
        if Fraction(value) != exact:
            return None
    return math.copysign(value, sign)


def _fraction_digits(type: Float80Type | Float128Type) -> int:
    """Return the number of bits after the binary point."""
    return 63 if isinstance(type, Float80Type) else 112
