"""Powers and roots, computed in f64 by logarithms to base 2 and powers of 2. Rounded to f32, the
results have an error of at most 0.52 ulp."""

from __future__ import annotations

from math import nan

from ..arithmetic import Lanes
from .builder import clamp, copysign, nearest
from .exponential import exp2_in_f64
from .logarithm import log2_in_f64

__all__ = ["cbrt", "powf"]


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
