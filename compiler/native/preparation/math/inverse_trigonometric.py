"""Arcsine, arccosine and arctangent. Polynomials are minimax approximations by the Remez algorithm,
with the coefficients rounded one after the other."""

from __future__ import annotations

from math import pi

from ..arithmetic import Lanes
from .builder import copysign, polynomial, sqrt

__all__ = ["acos", "asin", "atan", "atan2"]

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
