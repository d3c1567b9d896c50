"""Exponential and hyperbolic functions.

Arguments are reduced to `x = n * log(2) + r` with |r| <= log(2) / 2. Polynomials are minimax
approximations by the Remez algorithm, with the coefficients rounded one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log, log2

from xdsl.dialects.builtin import f32

from ..arithmetic import Lanes
from .builder import (
    EXPONENT_OF_1,
    clamp,
    copysign,
    nearest,
    polynomial,
    power_of_2,
    with_exponent,
    without,
)

__all__ = ["cosh", "exp", "exp2", "exp2_in_f64", "exp_of_normal", "expm1", "sinh", "tanh"]

LN2 = (0.693359375, -2.12194440e-4)
"""log(2) in two parts; the first has 10 digits."""
EXP = (0.00139204308, 0.00836934149, 0.041666586, 0.166665152, 0.5, 1.0, 1.0)
"""e^r; the error is 2^-28."""
TANH_ABOVE = (0.000106581974, 0.0278886072, 0.9375)
TANH_BELOW = (2.28174463e-06, 0.00225717016, 0.212027147, 1.875)
"""tanh(x / 2) / x as a quotient of functions of x^2 for |x| <= 9, by the Remez algorithm with the
weight 1 / cosh(x): the error of tanh(x) is 2^-26. Products of the first terms, 15/16 and 15/8, are
a little below a power of 2, where rounding errors are smallest."""
TANH_BOUND = 8.732348
"""tanh(x) is 1 from here on, to 1 ulp."""
SINH = (0.0001990496065068147, 0.008333288954677566, 0.1666666675454991)
"""(sinh(r) / r - 1) / r^2 as a function of r^2; the error of sinh(r) is 2^-37."""
COSH = (0.0013935404639216025, 0.04166645948056415, 0.5)
"""(cosh(r) - 1) / r^2 as a function of r^2; the error of cosh(r) is 2^-33."""


def exp(x: Lanes) -> Lanes:
    """Compute `2^n * e^r`. The error is at most 1.2 ulp, for denormal results too."""
    n, bits = nearest((x := clamp(x, -104.0, 89.0)) * log2(e), 2 * EXPONENT_OF_1)
    return _scaled(without(x, n, LN2), bits)


def exp_of_normal(x: Lanes) -> Lanes:
    """Compute `2^n * e^r`, which is 0 if n is -127, and infinite if n is 128: the exponents of 0
    and of infinity. The error of other results is at most 1.2 ulp."""
    n, bits = nearest((x := clamp(x, -88.0, 89.0)) * log2(e), EXPONENT_OF_1)
    y = polynomial(without(x, n, LN2), EXP)
    return y * with_exponent(bits)


def exp2(x: Lanes) -> Lanes:
    """Compute `2^n * e^(r * log(2))`. The error is at most 1.2 ulp, for denormal results too."""
    n, bits = nearest((x := clamp(x, -151.0, 129.0)), 2 * EXPONENT_OF_1)
    return _scaled((x - n) * log(2), bits)


def _scaled(r: Lanes, bits: Lanes) -> Lanes:
    """Return `2^n * e^r`, given the low bits of n + 254. As 2^n need not be a normal number, the
    factors are `2^floor(n/2)` and `2^ceil(n/2)`: only the last product rounds or overflows."""
    y = polynomial(r, EXP)
    low = (bits & -2) << 22
    high = (bits << 23) - low
    return y * low.of_bits(f32) * high.of_bits(f32)


def tanh(x: Lanes) -> Lanes:
    """Compute `2ab / (a^2 + b^2)` for `tanh(x / 2) = a / b`. The error is at most 4 ulp; errors of
    a and b hardly matter far from 0, where a and b are nearly the same."""
    x = clamp(x, -TANH_BOUND, TANH_BOUND)
    square = x * x
    a = x * polynomial(square, TANH_ABOVE)
    b = polynomial(square, TANH_BELOW)
    y = (a + a) * b / (a * a + b * b)
    # Far from 0 the result is exactly 1: users multiply `1 + tanh(x)`, which is nearly 0, by large
    # numbers. The quotient for the bound is 1 or slightly more.
    return clamp(y, -1.0, 1.0)


# In f64. Rounded to f32, the results have an error of at most 0.52 ulp.


@dataclass(frozen=True)
class Parts:
    """The parts of `e^(n * log(2) + r)` in f64."""

    power: Lanes
    """2^n"""
    half_inverse: Lanes
    """2^-n / 2"""
    sinh: Lanes
    """sinh(r)"""
    cosh_1: Lanes
    """cosh(r) - 1"""


def _parts(r: Lanes, n: Lanes) -> Parts:
    """Return the parts for r, and the low bits of n."""
    square = r * r
    odd = square * polynomial(square, SINH)
    return Parts(
        power_of_2(n),
        power_of_2(n ^ -1),
        r + r * odd,
        square * polynomial(square, COSH),
    )


def _parts_of_exp(x: Lanes) -> Parts:
    """Return the parts of e^x; results for |x| > 90 are 0 or infinite in f32."""
    x = clamp(x, -90.0, 90.0)
    n, bits = nearest(x * log2(e))
    return _parts(without(x, n, [log(2)]), bits)


def expm1(x: Lanes) -> Lanes:
    """Compute `2^n * (e^r - 1) + (2^n - 1)`."""
    parts = _parts_of_exp(x)
    y = parts.power * (parts.sinh + parts.cosh_1)
    return copysign(y + (parts.power - 1.0), x)


def sinh(x: Lanes) -> Lanes:
    """Compute `sinh(r) * cosh(n * log(2)) + cosh(r) * sinh(n * log(2))`."""
    parts = _parts_of_exp(x)
    half = parts.power * 0.5
    y = (parts.cosh_1 + 1.0) * (half - parts.half_inverse)
    y = parts.sinh * (half + parts.half_inverse) + y
    return copysign(y, x)


def cosh(x: Lanes) -> Lanes:
    """Compute `cosh(r) * cosh(n * log(2)) + sinh(r) * sinh(n * log(2))`."""
    parts = _parts_of_exp(x)
    half = parts.power * 0.5
    y = parts.sinh * (half - parts.half_inverse)
    one = parts.cosh_1 + 1.0
    return one * (half + parts.half_inverse) + y


def exp2_in_f64(x: Lanes) -> Lanes:
    """Return 2^x with a relative error of 2^-33; 2^-200 or 2^200 beyond these."""
    x = clamp(x, -200.0, 200.0)
    n, bits = nearest(x)
    parts = _parts((x - n) * log(2), bits)
    y = parts.sinh + parts.cosh_1 + 1.0
    return parts.power * y
