"""Exponential and hyperbolic functions.

Arguments are reduced to `x = n * log(2) + r` with |r| <= log(2) / 2. Polynomials are minimax
approximations by the Remez algorithm, with the coefficients rounded one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e, inf, log, log2, nan

from xdsl.dialects import math
from xdsl.dialects.builtin import f32

from .arithmetic import Lanes
from .logarithm import log2_in_f64
from .polynomials import (
    EXPONENT_OF_1,
    clamp,
    copysign,
    nearest,
    polynomial,
    power_of_2,
    with_exponent,
    without,
)

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


# Powers and roots, computed in f64 by logarithms to base 2 and powers of 2. Rounded to f32, the
# results have an error of at most 0.52 ulp.


def cbrt(x: Lanes) -> Lanes:
    """Compute `2^(log2(|x|) / 3)` with the sign of x."""
    exponent = log2_in_f64(abs(x)) * (1 / 3)
    return copysign(exp2_in_f64(exponent), x)


def powf(x: Lanes, y: Lanes) -> Lanes:
    """Compute `2^(y * log2(|x|))`, with the special cases of IEEE 754 `pow`."""
    # For all x but 1 and -1, the result overflows or underflows long before y gets there: finite,
    # it does not make NaN of log2(1) = 0. Numbers beyond 2^24 are even integers, as 2^40 is.
    exponent = clamp(y, -(2.0**40), 2.0**40)
    result = exp2_in_f64(exponent * log2_in_f64(abs(x)))
    n, bits = nearest(exponent)
    # An odd integer keeps the sign of x.
    even = (bits & 1).compare("eq", 0)
    fractional = n.compare("une", exponent)
    is_even = even | fractional
    signed = is_even.select(result, copysign(result, x))
    # A finite negative number has only integer powers.
    finite = x.compare("ogt", float("-inf"))
    below = x.compare("olt", 0.0) & finite
    invalid = below & fractional
    signed = invalid.select(nan, signed)
    # These hold for NaN, too.
    signed = x.where("oeq", 1.0, 1.0, signed)
    return y.where("oeq", 0.0, 1.0, signed)


# The error function.


NEAR = (-0.000636421435, 0.00506047159, -0.0268089697, 0.112829052, -0.376125932, 0.128379166)
"""erf(x) / x - 1 as a function of x^2 for x <= 0.85; the error of erf(x) is 2^-27."""
FAR = (0.000311209064, -0.00465863943, 0.0330882519, -0.151961178, -0.917072237, -1.62812412)
"""log2(1 - erf(x)) / x for 0.85 <= x <= 3.92; the error of erf(x) is 2^-28."""
EXP2 = (0.00133712322, 0.00967271999, 0.0555039197, 0.240222216, 0.693147182)
"""(2^r - 1) / r for |r| <= 1/2; the error of 2^r is 2^-23."""


def erf(x: Lanes) -> Lanes:
    """Compute an odd polynomial near 0, and far from it `1 - 2^p(|x|)`. The error is at most
    1.8 ulp. The polynomials are minimax approximations by the Remez algorithm."""
    size = abs(x)
    square = x * x
    near = size + size * polynomial(square, NEAR)
    exponent = size * polynomial(size, FAR)
    n, bits = nearest(exponent, EXPONENT_OF_1)
    r = exponent - n
    rest = r * polynomial(r, EXP2) + 1.0
    one = x.number(1.0)
    far = one - with_exponent(bits) * rest
    # The result rounds to 1. An approximate 1 is not enough: users multiply `1 + erf(x)`, which is
    # nearly 0, by large numbers.
    far = size.where("ogt", 3.919, one, far)
    return copysign(size.where("olt", 0.85, near, far), x)


# expm1 and log1p of f64 by W. Kahan's formulas: `exp(x) - 1` and `log(1 + x)`, as MLIR would
# compute them, cancel near 0. The error is at most 4 ulp if the C library rounds `exp` and `log`
# well.


def expm1_of_f64(x: Lanes) -> Lanes:
    """Compute `(u - 1) * (x / log(u))` for `u = exp(x)`: the rounding error of u cancels."""
    u = x.insert(math.ExpOp(x.value))
    difference = u - 1.0
    y = difference * (x / u.insert(math.LogOp(u.value)))
    y = u.where("oeq", 1.0, x, y)
    is_limit = difference.compare("oeq", -1.0) | u.compare("oeq", inf)
    return is_limit.select(difference, y)


def log1p_of_f64(x: Lanes) -> Lanes:
    """Compute `log(u) * (x / (u - 1))` for `u = 1 + x`: the rounding error of u cancels."""
    u = x + 1.0
    y = u.insert(math.LogOp(u.value)) * (x / (u - 1.0))
    is_limit = u.compare("oeq", 1.0) | u.compare("oeq", inf)
    return is_limit.select(x, y)
