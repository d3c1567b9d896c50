"""Sine, cosine and tangent, computed in f64. Rounded to f32, the results have an error of at most
0.52 ulp, for large arguments too.

Arguments are reduced to `x = n * pi/2 + r` with |r| <= pi/4. Polynomials are minimax approximations
by the Remez algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ldexp, pi
from typing import TypeAlias

from xdsl.dialects.builtin import f64

from .arithmetic import Lanes
from .polynomials import copysign, nearest, polynomial, rarely, sqrt, without

SIN = (2.7183116575813633e-06, -0.0001983933485305075, 0.008333329385941434, -0.16666666641626965)
"""(sin(r) / r - 1) / r^2 as a function of r^2; the error of sin(r) is 2^-37."""
COS = (2.4438451503580277e-05, -0.0013887367515000243, 0.041666646866428805, -0.5)
"""(cos(r) - 1) / r^2 as a function of r^2; the error of cos(r) is 2^-32."""

PI_2 = 0x1921FB54442D18469898CC51701B839A252049C1
"""floor(pi/2 * 2^156)"""
FACTORS = (ldexp(PI_2 >> 128, -28), ldexp(PI_2 & ((1 << 128) - 1), -156))
"""pi/2 in two parts. The first has 29 bits, so its product with an integer below 2^24 is exact."""
LARGE = 2.0**24
TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163AB
"""floor(2/pi * 2^224)"""
DIGITS = 29
"""The bits of 2/pi in one part: the product with the 24 bits of an f32 is exact in f64."""
PARTS = tuple(
    ldexp((TWO_OVER_PI >> 224 - DIGITS * i) % (1 << DIGITS), -DIGITS * i) for i in range(1, 8)
)
WINDOW = 4
"""The number of parts that one argument is multiplied by."""

Reduced: TypeAlias = tuple[Lanes, Lanes]
"""r, and an integer with the low bits of n."""


def _reduce(x: Lanes) -> Reduced:
    """Reduce an argument of at most LARGE (Cody and Waite). If n is not 0, |r| is at least 2^-30
    (for all numbers of f32), and its error at most 2^-57."""
    n, bits = nearest(x * (2 / pi))
    return without(x, n, FACTORS), bits


def _reduce_large(x: Lanes) -> Reduced:
    """Reduce an argument above LARGE (Payne and Hanek): only the last two bits of the integer part
    of x * 2/pi matter.

    If |x| >= 2^54, its product with the first part of 2/pi is a multiple of 4, and is left out; if
    |x| >= 2^83, also that with the second, and so on. The products with the parts that follow are
    exact, and four of them have all bits down to 2^-62.
    """
    size = abs(x)
    window = [x.number(part) for part in PARTS[:WINDOW]]
    for first in range(1, len(PARTS) - WINDOW + 1):
        beyond = size.compare("oge", 2.0 ** (25 + DIGITS * first))
        window = [beyond.select(PARTS[first + i], part) for i, part in enumerate(window)]
    first, *rest = (x * part for part in window)
    # The product may have 54 bits before the point: keep those that are in the sum below.
    eights = 1.5 * 2.0**55
    total = first - (first + eights - eights)
    errors: list[Lanes] = []
    for term in rest:
        total, error = _two_sum(total, term)
        errors.append(error)
    n, bits = nearest(total)
    r = total - n
    for error in errors:
        r = r + error
    return r * (pi / 2), bits


def _two_sum(a: Lanes, b: Lanes) -> tuple[Lanes, Lanes]:
    """Return the sum and its rounding error (Knuth)."""
    total = a + b
    added = total - a
    error = a - (total - added) + (b - added)
    return total, error


Function: TypeAlias = Callable[[Lanes, Lanes], Lanes]
"""A function of r and n."""


def _periodic(function: Function) -> Callable[[Lanes], Lanes]:
    """Return a function of x, given as a function of r and n."""

    def compute(x: Lanes) -> Lanes:
        return rarely(
            abs(x).compare("ogt", LARGE),
            lambda x: function(*_reduce_large(x)),
            x,
            function(*_reduce(x)),
        )

    return compute


def _sine_cosine(r: Lanes) -> tuple[Lanes, Lanes]:
    square = r * r
    sine = square * polynomial(square, SIN) + 1.0
    cosine = square * polynomial(square, COS) + 1.0
    return r * sine, cosine


def _is_odd(n: Lanes) -> Lanes:
    return (n & 1).compare("ne", 0)


def _sin(r: Lanes, n: Lanes) -> Lanes:
    """Return sin(r), cos(r), -sin(r) or -cos(r) for n = 0, 1, 2, 3."""
    sine, cosine = _sine_cosine(r)
    y = _is_odd(n).select(cosine, sine)
    sign = (n & 2) << 62
    return (y.bits() ^ sign).of_bits(f64)


def _cos(r: Lanes, n: Lanes) -> Lanes:
    """Return `sin(r + (n + 1) * pi/2)`."""
    return _sin(r, n + 1)


def _tan(r: Lanes, n: Lanes) -> Lanes:
    """Return `sin(r) / cos(r)` for even n, `-cos(r) / sin(r)` for odd n."""
    sine, cosine = _sine_cosine(r)
    odd = _is_odd(n)
    above = odd.select(-cosine, sine)
    return above / odd.select(sine, cosine)


sin, cos, tan = map(_periodic, (_sin, _cos, _tan))


# Arcsine, arccosine and arctangent. Polynomials are minimax approximations by the Remez algorithm,
# with the coefficients rounded one after the other.


ASIN = (0.0422198251, 0.0241481233, 0.0454766601, 0.0749524906, 0.166667536)
"""(asin(x) / x - 1) / x^2 as a function of x^2 for x <= 1/2; the error of asin(x) is 2^-27."""
ATAN = (
    -0.00181873341,
    0.0110290246,
    -0.0313945226,
    0.058178097,
    -0.084164612,
    0.109566577,
    -0.142650917,
    0.199986264,
    -0.333333015,
)
"""(atan(x) / x - 1) / x^2 as a function of x^2 for x <= 1; the error of atan(x) is 2^-28."""
PI_2_REST = -4.37113883e-8
"""pi/2 - f32(pi/2)"""


def _asin_of_half(x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """Return whether |x| > 1/2, and asin(s) as a sum of s and a rest. If |x| > 1/2, s is
    sqrt((1 - |x|) / 2), so that asin(s) is half of acos(|x|); else s is x."""
    size = abs(x)
    is_large = size.compare("ogt", 0.5)
    half = (x.number(1.0) - size) * 0.5
    square = is_large.select(half, x * x)
    s = is_large.select(sqrt(half), x)
    return is_large, s, s * (square * polynomial(square, ASIN))


def asin(x: Lanes) -> Lanes:
    """Return `pi/2 - acos(x)` for large x. The error is at most 1.4 ulp."""
    is_large, s, rest = _asin_of_half(x)
    # Subtracting from pi/4 first gives smaller numbers, and so smaller rounding errors.
    far = x.number(pi / 4) - (s + s)
    far = far - (rest + rest - PI_2_REST)
    far = far + pi / 4
    return is_large.select(copysign(far, x), s + rest)


def acos(x: Lanes) -> Lanes:
    """Return `pi/2 - asin(x)` for small x. The error is at most 1.2 ulp."""
    is_large, s, rest = _asin_of_half(x)
    y = s + rest
    twice = y + y
    opposite = x.number(pi) - (twice - 2 * PI_2_REST)
    far = x.where("olt", 0.0, opposite, twice)
    near = x.number(pi / 2) - (y - PI_2_REST)
    return is_large.select(far, near)


def _atan_of_fraction(x: Lanes) -> Lanes:
    """Return atan(x) for |x| <= 1."""
    square = x * x
    p = square * polynomial(square, ATAN)
    return x + x * p


def atan(x: Lanes) -> Lanes:
    """Return `pi/2 - atan(1 / x)` for x > 1. The error is at most 1.6 ulp."""
    size = abs(x)
    is_large = size.compare("ogt", 1.0)
    inverse = x.number(1.0) / size
    y = _atan_of_fraction(is_large.select(inverse, size))
    far = x.number(pi / 2) - (y - PI_2_REST)
    return copysign(is_large.select(far, y), x)


def atan2(y: Lanes, x: Lanes) -> Lanes:
    """Return the angle of (x, y): `atan(|y| / |x|)` or `pi/2 - atan(|x| / |y|)` in the first
    quadrant, reflected into the others. The error is at most 1.6 ulp."""
    height, width = abs(y), abs(x)
    steep = height.compare("ogt", width)
    above, below = steep.select(width, height), steep.select(height, width)
    # 0 / 0 is 0, and inf / inf is 1.
    same = below.where("oeq", 0.0, 0.0, x.number(1.0))
    equal = above.compare("oeq", below)
    angle = _atan_of_fraction(equal.select(same, above / below))
    # base - angle or base + angle, where the base is 0, pi/2 or pi
    left = x.bits().compare("slt", 0)
    is_minus = steep ^ left
    signed = is_minus.select(-angle, angle)
    zero = x.number(0.0)
    base = steep.select(pi / 2, left.select(pi, zero))
    rest = steep.select(PI_2_REST, left.select(2 * PI_2_REST, zero))
    return copysign(base + (signed + rest), y)
