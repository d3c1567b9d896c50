"""Arcsine, arccosine and arctangent. Polynomials are minimax approximations by the Remez algorithm,
with the coefficients rounded one after the other."""

from __future__ import annotations

from math import pi

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from .builder import MathBuilder

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


def _asin_of_half(build: MathBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return whether |x| > 1/2, and asin(s) as a sum of s and a rest. If |x| > 1/2, s is
    sqrt((1 - |x|) / 2), so that asin(s) is half of acos(|x|); else s is x."""
    size = build.abs(x)
    is_large = build.compare(size, "ogt", 0.5)
    half = build.mul(build.sub(build.number(1.0, x), size), 0.5)
    square = build.select(is_large, half, build.mul(x, x))
    s = build.select(is_large, build.sqrt(half), x)
    return is_large, s, build.mul(s, build.mul(square, build.polynomial(square, ASIN)))


def asin(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Return `pi/2 - acos(x)` for large x. The error is at most 1.4 ulp."""
    is_large, s, rest = _asin_of_half(build, x)
    # Subtracting from pi/4 first gives smaller numbers, and so smaller rounding errors.
    far = build.sub(build.number(pi / 4, x), build.add(s, s))
    far = build.sub(far, build.sub(build.add(rest, rest), PI_2_REST))
    far = build.add(far, pi / 4)
    return build.select(is_large, build.copysign(far, x), build.add(s, rest))


def acos(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Return `pi/2 - asin(x)` for small x. The error is at most 1.2 ulp."""
    is_large, s, rest = _asin_of_half(build, x)
    y = build.add(s, rest)
    twice = build.add(y, y)
    opposite = build.sub(build.number(pi, x), build.sub(twice, 2 * PI_2_REST))
    far = build.where(x, "olt", 0.0, opposite, twice)
    near = build.sub(build.number(pi / 2, x), build.sub(y, PI_2_REST))
    return build.select(is_large, far, near)


def _atan_of_fraction(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Return atan(x) for |x| <= 1."""
    square = build.mul(x, x)
    p = build.mul(square, build.polynomial(square, ATAN))
    return build.add(x, build.mul(x, p))


def atan(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Return `pi/2 - atan(1 / x)` for x > 1. The error is at most 1.6 ulp."""
    size = build.abs(x)
    is_large = build.compare(size, "ogt", 1.0)
    inverse = build.div(build.number(1.0, x), size)
    y = _atan_of_fraction(build, build.select(is_large, inverse, size))
    far = build.sub(build.number(pi / 2, x), build.sub(y, PI_2_REST))
    return build.copysign(build.select(is_large, far, y), x)


def atan2(build: MathBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """Return the angle of (x, y): `atan(|y| / |x|)` or `pi/2 - atan(|x| / |y|)` in the first
    quadrant, reflected into the others. The error is at most 1.6 ulp."""
    height, width = build.abs(y), build.abs(x)
    steep = build.compare(height, "ogt", width)
    above, below = build.select(steep, width, height), build.select(steep, height, width)
    # 0 / 0 is 0, and inf / inf is 1.
    same = build.where(below, "oeq", 0.0, 0.0, build.number(1.0, x))
    equal = build.compare(above, "oeq", below)
    angle = _atan_of_fraction(build, build.select(equal, same, build.div(above, below)))
    # base - angle or base + angle, where the base is 0, pi/2 or pi
    left = build.compare_integers(build.bits(x), "slt", 0)
    is_minus = build.integer(arith.XOrIOp, steep, left)
    signed = build.select(is_minus, build.neg(angle), angle)
    zero = build.number(0.0, x)
    base = build.select(steep, pi / 2, build.select(left, pi, zero))
    rest = build.select(steep, PI_2_REST, build.select(left, 2 * PI_2_REST, zero))
    return build.copysign(build.add(base, build.add(signed, rest)), y)
