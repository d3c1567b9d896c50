"""Powers and roots, computed in f64 by logarithms to base 2 and powers of 2. Rounded to f32, the
results have an error of at most 0.52 ulp."""

from __future__ import annotations

from math import nan

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from .builder import MathBuilder
from .exponential import exp2_in_f64
from .logarithm import log2_in_f64

__all__ = ["cbrt", "powf"]


def cbrt(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `2^(log2(|x|) / 3)` with the sign of x."""
    exponent = build.mul(log2_in_f64(build, build.abs(x)), 1 / 3)
    return build.copysign(exp2_in_f64(build, exponent), x)


def powf(build: MathBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Compute `2^(y * log2(|x|))`, with the special cases of IEEE 754 `pow`."""
    # For all x but 1 and -1, the result overflows or underflows long before y gets there: finite,
    # it does not make NaN of log2(1) = 0. Numbers beyond 2^24 are even integers, as 2^40 is.
    exponent = build.clamp(y, -(2.0**40), 2.0**40)
    result = exp2_in_f64(build, build.mul(exponent, log2_in_f64(build, build.abs(x))))
    n, bits = build.nearest(exponent)
    # An odd integer keeps the sign of x.
    even = build.compare_integers(build.integer(arith.AndIOp, bits, 1), "eq", 0)
    fractional = build.compare(n, "une", exponent)
    is_even = build.integer(arith.OrIOp, even, fractional)
    signed = build.select(is_even, result, build.copysign(result, x))
    # A finite negative number has only integer powers.
    finite = build.compare(x, "ogt", float("-inf"))
    below = build.integer(arith.AndIOp, build.compare(x, "olt", 0.0), finite)
    invalid = build.integer(arith.AndIOp, below, fractional)
    signed = build.select(invalid, nan, signed)
    # These hold for NaN, too.
    signed = build.where(x, "oeq", 1.0, 1.0, signed)
    return build.where(y, "oeq", 0.0, 1.0, signed)
