"""The bits of floating-point numbers, also of the types that xDSL does not pack, f80 and f128; and
the text of many numbers at once, as xDSL prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
)
from xdsl.utils.bitwise_casts import convert_f32_to_u32, convert_f64_to_u64

from ...releases.floats import byte_size, pack, unpack

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


Float = Float16Type | Float32Type | Float64Type


def float_words(values: Sequence[float], type: Float) -> list[str]:
    """Return the text of each of the finite `values`, which are numbers of `type`.

    It is that of xDSL's `print_float`: six digits if they are exact, else all.
    """
    words = [f"{value:.5e}".replace("e", "0e", 1) for value in values]
    # Rounded to `type` in one call for all.
    read = type.unpack(type.pack([*map(float, words)]), len(words))
    if read == (*values,):
        return words
    return [
        word if same == value else _exact_word(value, type)
        for word, same, value in zip(words, read, values)
    ]


def _exact_word(value: float, type: Float) -> str:
    match type:
        case Float32Type():
            # 9 digits tell all f32 apart, 17 all f64.
            word = f"{value:.9g}"
            return word if "." in word else f"0x{convert_f32_to_u32(value):X}"
        case Float64Type():
            word = f"{value:.17g}"
            return word if "." in word else f"0x{convert_f64_to_u64(value):X}"
        case _:
            return repr(value)
