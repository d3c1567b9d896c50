"""Functions on f64 by those that a GPU has: roots, exponentials, logarithms and arctangents."""

from __future__ import annotations

from math import inf, log, log10, nan, sqrt

from xdsl.dialects import math
from xdsl.ir import Operation

from . import polynomials
from .arithmetic import Lanes
from .exponential import log1p_of_f64
from .polynomials import copysign

LARGE = 2.0**28
"""x^2 and x^2 + 1 are the same number from here on, and it overflows far from here."""


def _call(op: type[Operation], *operands: Lanes) -> Lanes:
    first = operands[0]
    new = op.create(operands=[x.value for x in operands], result_types=[first.type])
    return first.insert(new)


def erf(x: Lanes) -> Lanes:
    """Compute the series 2 / sqrt(pi) * x * e^(-x^2) * sum((2 x^2)^n / (2n + 1)!!), whose terms are
    positive. It is 1 from 6 on."""
    bound = polynomials.clamp(x, -6.0, 6.0)
    square = bound * bound
    total = x.number(1.0)
    for n in range(140, 0, -1):
        total = total * square * (2.0 / (2 * n + 1)) + 1.0
    return bound * _call(math.ExpOp, -square) * total * (2 / sqrt(3.141592653589793))


def asin(x: Lanes) -> Lanes:
    return _call(math.Atan2Op, x, _leg(x))


def acos(x: Lanes) -> Lanes:
    return _call(math.Atan2Op, _leg(x), x)


def _leg(x: Lanes) -> Lanes:
    return polynomials.sqrt((x.number(1.0) - x) * (x + 1.0))


def asinh(x: Lanes) -> Lanes:
    """Compute `log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))`, which does not cancel near 0."""
    size = abs(x)
    square = size * size
    near = log1p_of_f64(size + square / (polynomials.sqrt(square + 1.0) + 1.0))
    return copysign(_of_large(size, near), x)


def acosh(x: Lanes) -> Lanes:
    """Compute `log1p(t + sqrt(t^2 + 2t))` for t = x - 1."""
    t = x - 1.0
    near = log1p_of_f64(t + polynomials.sqrt(t * t + t * 2.0))
    return x.where("ult", 1.0, nan, _of_large(x, near))


def _of_large(x: Lanes, near: Lanes) -> Lanes:
    """Return log(2x) for a large x, else `near`."""
    return x.where("ogt", LARGE, _call(math.LogOp, x) + log(2), near)


def atanh(x: Lanes) -> Lanes:
    """Compute `log1p(2 |x| / (1 - |x|)) / 2` with the sign of x."""
    size = abs(x)
    quotient = (size + size) / (x.number(1.0) - size)
    return copysign(log1p_of_f64(quotient) * 0.5, x)


def cbrt(x: Lanes) -> Lanes:
    """Compute `2^(log2(|x|) / 3)`, and improve it by a step of Newton's."""
    size = abs(x)
    root = _call(math.Exp2Op, _call(math.Log2Op, size) * (1 / 3))
    better = root - (root - size / (root * root)) * (1 / 3)
    better = size.where("oeq", 0.0, size, better)
    return copysign(size.where("oeq", inf, size, better), x)


def log10_of_f64(x: Lanes) -> Lanes:
    return _call(math.LogOp, x) * log10(2.718281828459045)
