"""Logarithms, and the inverse hyperbolic functions, which are logarithms too."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log2, nan
from math import log as log_of

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64

from .arithmetic import Lanes
from .polynomials import copysign, polynomial, sqrt


def log(x: Lanes) -> Lanes:
    """Compute `log(m) + n * log(2)`, where m is close to 1. The error is at most 0.9 ulp, for
    denormal arguments too. The polynomial is from Cephes (logf)."""
    tiny = 1.17549435e-38
    normal = x.where("olt", tiny, x * 8388608.0, x)
    bits = normal.bits() - 0x3F3504F3  # the bits of sqrt(1/2)
    n = bits.integer(arith.ShRSIOp, 23).convert(arith.SIToFPOp, f32)
    n = x.where("olt", tiny, n - 23.0, n)
    fraction = bits & 0x7FFFFF
    m = (fraction + 0x3F3504F3).of_bits(f32)
    r = m - 1.0
    square = r * r
    coefficients = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1)
    coefficients = (*coefficients, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1)
    p = polynomial(r, (*coefficients, -2.4999993993e-1, 3.3333331174e-1))
    y = p * r * square
    y = y + n * -2.12194440e-4 - square * 0.5
    y = r + y + n * 0.693359375
    return _with_limits(x, y)


def _with_limits(x: Lanes, y: Lanes) -> Lanes:
    """Return the logarithm y of x; for x = infinity and x <= 0, where y is wrong, the limit or
    NaN."""
    y = x.where("oeq", inf, x, y)
    y = x.where("oeq", 0.0, -inf, y)
    return x.where("ult", 0.0, nan, y)


# In f64. Rounded to f32, the results have an error of at most 0.52 ulp.

ATANH = (0.23582293043662578, 0.28537301524270675, 0.4000033529361483, 0.6666666564504065)
"""(2 * atanh(s) / s - 2) / s^2 as a function of s^2: a minimax approximation by the Remez
algorithm for |s| <= 3 - sqrt(8). The error of atanh(s) is 2^-37."""
ROOT = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2)."""
EXPONENT_0 = 0x3FF << 52
INTEGERS = 0x433 << 52
"""The bits of 2^52; or-ing the bits of a small integer adds it."""


def _logarithm(base: float) -> Callable[[Lanes], Lanes]:
    """Return the logarithm to a base in f64, of normal numbers."""
    of_e, of_2 = 1 / log_of(base), 1 / log2(base)

    def logarithm(x: Lanes) -> Lanes:
        """Compute `n * log(2) + 2 * atanh((m - 1) / (m + 1))` for `x = 2^n * m`, where m is
        between sqrt(1/2) and sqrt(2)."""
        bits = x.bits() + (EXPONENT_0 - ROOT)
        biased = bits >> 52
        # Not every processor converts integers of 64 bits.
        n = (biased | INTEGERS).of_bits(f64)
        n = n - (2.0**52 + 0x3FF)
        fraction = bits & (1 << 52) - 1
        m = (fraction + ROOT).of_bits(f64)
        s = (m - 1.0) / (m + 1.0)
        square = s * s
        p = square * polynomial(square, ATANH) + 2.0
        y = s * p * of_e
        return _with_limits(x, n * of_2 + y)

    return logarithm


log_in_f64, log2_in_f64, log10_in_f64 = map(_logarithm, (2.718281828459045, 2.0, 10.0))


def log1p(x: Lanes) -> Lanes:
    """Compute `log(1 + x)`, or x if it is so small that both are the same f32. The sum is exact
    for other x below 2^52."""
    return _small(x, 2.0**-26, log_in_f64(x + 1.0))


def asinh(x: Lanes) -> Lanes:
    """Compute `log(|x| + sqrt(x^2 + 1))`."""
    size = abs(x)
    root = sqrt(x * x + 1.0)
    y = copysign(log_in_f64(size + root), x)
    return _small(x, 2.0**-14, y)


def acosh(x: Lanes) -> Lanes:
    """Compute `log(x + sqrt(x^2 - 1))`."""
    root = sqrt(x * x - 1.0)
    y = log_in_f64(x + root)
    return x.where("ult", 1.0, nan, y)


def atanh(x: Lanes) -> Lanes:
    """Compute `log((1 + x) / (1 - x)) / 2`."""
    one = x.number(1.0)
    quotient = (one + x) / (one - x)
    return _small(x, 2.0**-14, log_in_f64(quotient) * 0.5)


def _small(x: Lanes, bound: float, y: Lanes) -> Lanes:
    """Return x if |x| is below the bound, else y."""
    return abs(x).where("olt", bound, x, y)
