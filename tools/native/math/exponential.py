"""Exponential and hyperbolic functions.

Arguments are reduced to `x = n * log(2) + r` with |r| <= log(2) / 2. Polynomials are minimax
approximations by the Remez algorithm, with the coefficients rounded one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e, inf, log, log2

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .builder import MathBuilder

__all__ = ["cosh", "exp", "exp2", "exp2_in_f64", "expm1", "sinh", "tanh"]

LN2 = (0.693359375, -2.12194440e-4)
"""log(2) in two parts; the first has 10 digits."""
EXP = (0.00139204308, 0.00836934149, 0.041666586, 0.166665152, 0.5, 1.0, 1.0)
"""e^r; the error is 2^-28."""
EXPM1 = (0.00139176194, 0.0083670998, 0.041666612, 0.16666539, 0.5)
"""(e^r - 1 - r) / r^2; the relative error of e^r - 1 is 2^-26."""
SINH = (0.0001990496065068147, 0.008333288954677566, 0.1666666675454991)
"""(sinh(r) / r - 1) / r^2 as a function of r^2; the error of sinh(r) is 2^-37."""
COSH = (0.0013935404639216025, 0.04166645948056415, 0.5)
"""(cosh(r) - 1) / r^2 as a function of r^2; the error of cosh(r) is 2^-33."""


def exp(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `2^n * e^r`. The error is at most 1.2 ulp, for denormal results too."""
    low = build.where(x, "olt", -104.0, -104.0, x)
    n, bits = build.nearest(build.mul(low, log2(e)))
    y = _scaled(build, build.without(low, n, LN2), bits, build.compare(x, "olt", -86.0))
    return _overflowing(build, x, 88.7228317, y)


def exp2(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `2^n * e^(r * log(2))`. The error is at most 1.2 ulp, for denormal results too."""
    low = build.where(x, "olt", -151.0, -151.0, x)
    n, bits = build.nearest(low)
    r = build.mul(build.sub(low, n), log(2))
    y = _scaled(build, r, bits, build.compare(x, "olt", -124.0))
    return _overflowing(build, x, 127.999992, y)


def _scaled(build: MathBuilder, r: SSAValue, n: SSAValue, small: SSAValue) -> SSAValue:
    """Return `2^n * e^r`, given the low bits of n. If n < -124, it must be `small`."""
    y = build.polynomial(r, EXP)
    # Adding n to the exponent gives wrong bits for a denormal result: compute 2^64 times that.
    power = build.integer(arith.ShLIOp, n, 23)
    power = build.select(small, build.integer(arith.AddiOp, power, 64 << 23), power)
    y = build.of_bits(build.integer(arith.AddiOp, build.bits(y), power), f32)
    return build.select(small, build.mul(y, 2.0**-64), y)


def _overflowing(build: MathBuilder, x: SSAValue, greatest: float, y: SSAValue) -> SSAValue:
    """Return y, or infinity if x is above `greatest`, or x if it is NaN."""
    return build.where(x, "ugt", greatest, build.where(x, "olt", inf, inf, x), y)


def tanh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `q / (q + 2)`, where q is `e^|2x| - 1`. The error is at most 2.6 ulp."""
    size = build.abs(x)
    # The result rounds to 1. An approximate 1 is not enough: users multiply `1 + tanh(x)`, which
    # is nearly 0, by large numbers. For 2x = 20, q and q + 2 are the same number.
    twice = build.where(size, "ogt", 9.011, 20.0, build.add(size, size))
    n, bits = build.nearest(build.mul(twice, log2(e)))
    r = build.without(twice, n, LN2)
    q = build.add(build.mul(build.polynomial(r, EXPM1), build.mul(r, r)), r)
    power = build.power_of_2(bits, r)
    q = build.add(build.mul(power, q), build.sub(power, 1.0))
    return build.copysign(build.div(q, build.add(q, 2.0)), x)


# In f64. Rounded to f32, the results have an error of at most 0.52 ulp.


@dataclass(frozen=True)
class Parts:
    """The parts of `e^(n * log(2) + r)` in f64."""

    power: SSAValue
    """2^n"""
    half_inverse: SSAValue
    """2^-n / 2"""
    sinh: SSAValue
    """sinh(r)"""
    cosh_1: SSAValue
    """cosh(r) - 1"""


def _parts(build: MathBuilder, r: SSAValue, n: SSAValue) -> Parts:
    """Return the parts for r, and the low bits of n."""
    square = build.mul(r, r)
    odd = build.mul(square, build.polynomial(square, SINH))
    return Parts(
        build.power_of_2(n, r),
        build.power_of_2(build.integer(arith.XOrIOp, n, -1), r),
        build.add(r, build.mul(r, odd)),
        build.mul(square, build.polynomial(square, COSH)),
    )


def _parts_of_exp(build: MathBuilder, x: SSAValue) -> Parts:
    """Return the parts of e^x; results for |x| > 90 are 0 or infinite in f32."""
    x = build.clamp(x, -90.0, 90.0)
    n, bits = build.nearest(build.mul(x, log2(e)))
    return _parts(build, build.without(x, n, [log(2)]), bits)


def expm1(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `2^n * (e^r - 1) + (2^n - 1)`."""
    parts = _parts_of_exp(build, x)
    y = build.mul(parts.power, build.add(parts.sinh, parts.cosh_1))
    return build.copysign(build.add(y, build.sub(parts.power, 1.0)), x)


def sinh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `sinh(r) * cosh(n * log(2)) + cosh(r) * sinh(n * log(2))`."""
    parts = _parts_of_exp(build, x)
    half = build.mul(parts.power, 0.5)
    y = build.mul(build.add(parts.cosh_1, 1.0), build.sub(half, parts.half_inverse))
    y = build.add(build.mul(parts.sinh, build.add(half, parts.half_inverse)), y)
    return build.copysign(y, x)


def cosh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `cosh(r) * cosh(n * log(2)) + sinh(r) * sinh(n * log(2))`."""
    parts = _parts_of_exp(build, x)
    half = build.mul(parts.power, 0.5)
    y = build.mul(parts.sinh, build.sub(half, parts.half_inverse))
    one = build.add(parts.cosh_1, 1.0)
    return build.add(build.mul(one, build.add(half, parts.half_inverse)), y)


def exp2_in_f64(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Return 2^x with a relative error of 2^-33; 2^-200 or 2^200 beyond these."""
    x = build.clamp(x, -200.0, 200.0)
    n, bits = build.nearest(x)
    parts = _parts(build, build.mul(build.sub(x, n), log(2)), bits)
    y = build.add(build.add(parts.sinh, parts.cosh_1), 1.0)
    return build.mul(parts.power, y)
