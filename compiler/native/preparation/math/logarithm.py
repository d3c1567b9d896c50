"""Logarithms, and the inverse hyperbolic functions, which are logarithms too."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log2, nan
from math import log as log_of

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from .builder import MathBuilder

__all__ = ["acosh", "asinh", "atanh", "log", "log1p", "log2_in_f64", "log10_in_f64"]


def log(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log(m) + n * log(2)`, where m is close to 1. The error is at most 0.9 ulp, for
    denormal arguments too. The polynomial is from Cephes (logf)."""
    least = 1.17549435e-38
    normal = build.where(x, "olt", least, build.mul(x, 8388608.0), x)
    bits = build.integer(arith.SubiOp, build.bits(normal), 0x3F3504F3)  # the bits of sqrt(1/2)
    n = build.convert(arith.SIToFPOp, build.integer(arith.ShRSIOp, bits, 23), f32)
    n = build.where(x, "olt", least, build.sub(n, 23.0), n)
    fraction = build.integer(arith.AndIOp, bits, 0x7FFFFF)
    m = build.of_bits(build.integer(arith.AddiOp, fraction, 0x3F3504F3), f32)
    r = build.sub(m, 1.0)
    square = build.mul(r, r)
    coefficients = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1)
    coefficients = (*coefficients, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1)
    p = build.polynomial(r, (*coefficients, -2.4999993993e-1, 3.3333331174e-1))
    y = build.mul(build.mul(p, r), square)
    y = build.sub(build.add(y, build.mul(n, -2.12194440e-4)), build.mul(square, 0.5))
    y = build.add(build.add(r, y), build.mul(n, 0.693359375))
    return _with_limits(build, x, y)


def _with_limits(build: MathBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the logarithm y of x; for x = infinity and x <= 0, where y is wrong, the limit or
    NaN."""
    y = build.where(x, "oeq", inf, x, y)
    y = build.where(x, "oeq", 0.0, -inf, y)
    return build.where(x, "ult", 0.0, nan, y)


# In f64. Rounded to f32, the results have an error of at most 0.52 ulp.

ATANH = (0.23582293043662578, 0.28537301524270675, 0.4000033529361483, 0.6666666564504065)
"""(2 * atanh(s) / s - 2) / s^2 as a function of s^2: a minimax approximation by the Remez
algorithm for |s| <= 3 - sqrt(8). The error of atanh(s) is 2^-37."""
ROOT = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2)."""
EXPONENT_0 = 0x3FF << 52
INTEGERS = 0x433 << 52
"""The bits of 2^52; or-ing the bits of a small integer adds it."""


def _logarithm(base: float) -> Callable[[MathBuilder, SSAValue], SSAValue]:
    """Return the logarithm to a base in f64, of normal numbers."""
    of_e, of_2 = 1 / log_of(base), 1 / log2(base)

    def logarithm(build: MathBuilder, x: SSAValue) -> SSAValue:
        """Compute `n * log(2) + 2 * atanh((m - 1) / (m + 1))` for `x = 2^n * m`, where m is
        between sqrt(1/2) and sqrt(2)."""
        bits = build.integer(arith.AddiOp, build.bits(x), EXPONENT_0 - ROOT)
        biased = build.integer(arith.ShRUIOp, bits, 52)
        # Not every processor converts integers of 64 bits.
        n = build.of_bits(build.integer(arith.OrIOp, biased, INTEGERS), f64)
        n = build.sub(n, 2.0**52 + 1023)
        fraction = build.integer(arith.AndIOp, bits, (1 << 52) - 1)
        m = build.of_bits(build.integer(arith.AddiOp, fraction, ROOT), f64)
        s = build.div(build.sub(m, 1.0), build.add(m, 1.0))
        square = build.mul(s, s)
        p = build.add(build.mul(square, build.polynomial(square, ATANH)), 2.0)
        y = build.mul(build.mul(s, p), of_e)
        return _with_limits(build, x, build.add(build.mul(n, of_2), y))

    return logarithm


log_in_f64, log2_in_f64, log10_in_f64 = map(_logarithm, (2.718281828459045, 2.0, 10.0))


def log1p(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log(1 + x)`, or x if it is so small that both are the same f32. The sum is exact
    for other x below 2^52."""
    return _small(build, x, 2.0**-26, log_in_f64(build, build.add(x, 1.0)))


def asinh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log(|x| + sqrt(x^2 + 1))`."""
    size = build.abs(x)
    root = build.sqrt(build.add(build.mul(x, x), 1.0))
    y = build.copysign(log_in_f64(build, build.add(size, root)), x)
    return _small(build, x, 2.0**-14, y)


def acosh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log(x + sqrt(x^2 - 1))`."""
    root = build.sqrt(build.sub(build.mul(x, x), 1.0))
    y = log_in_f64(build, build.add(x, root))
    return build.where(x, "ult", 1.0, nan, y)


def atanh(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log((1 + x) / (1 - x)) / 2`."""
    one = build.number(1.0, x)
    quotient = build.div(build.add(one, x), build.sub(one, x))
    return _small(build, x, 2.0**-14, build.mul(log_in_f64(build, quotient), 0.5))


def _small(build: MathBuilder, x: SSAValue, bound: float, y: SSAValue) -> SSAValue:
    """Return x if |x| is below the bound, else y."""
    return build.where(build.abs(x), "olt", bound, x, y)
