"""Expansion of exponentials and related functions of f32 to arithmetic, which LLVM can vectorize.

A call of the C library computes one number at a time, and takes thirty times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...passmanager.ir.walk import walk
from .arithmetic import Arithmetic, element_of

__all__ = ["expand_math"]


class Functions(Arithmetic):
    """A builder with helpers for approximations of f32 functions."""

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """Evaluate a polynomial of x by Horner's rule; `coefficients` are two or more, that of
        the highest power first."""
        result = self.mul(x, coefficients[0])
        for coefficient in coefficients[1:-1]:
            result = self.mul(self.add(result, coefficient), x)
        return self.add(result, coefficients[-1])

    def saturated(self, x: SSAValue, bound: float, y: SSAValue) -> SSAValue:
        """Return y if -bound < x < bound, else exactly 1 or -1. An approximate 1 is not enough:
        users multiply `1 + y`, which is nearly 0, by large numbers."""
        y = self.where(x, "oge", bound, 1.0, y)
        return self.where(x, "ole", -bound, -1.0, y)

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """Clamp x to [low, high]; NaN stays NaN."""
        x = self.where(x, "olt", low, low, x)
        return self.where(x, "ogt", high, high, x)


# Functions. Polynomials and bounds are from Cephes (exp, log) and Eigen (tanh, erf).


def exp(x: SSAValue, build: Functions) -> SSAValue:
    """Compute `2^n * e^r`, where r is as close to 0 as possible. The error is at most 1 ulp, for
    denormal results too."""
    x = build.clamp(x, -104.0, 89.0)
    # Adding 1.5 * 2^23 rounds to an integer n, which is then in the low bits of the sum.
    large = 12582912.0
    shifted = build.add(build.mul(x, 1.44269504088896341), large)
    n = build.sub(shifted, large)
    r = build.sub(build.sub(x, build.mul(n, 0.693359375)), build.mul(n, -2.12194440e-4))
    coefficients = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2)
    p = build.polynomial(r, (*coefficients, 1.6666665459e-1, 5.0000001201e-1))
    y = build.add(build.add(build.mul(p, build.mul(r, r)), r), 1.0)
    # 2^n alone may overflow or underflow where the product does not: multiply by two factors.
    power = build.integer(arith.SubiOp, build.bits(shifted), 0x4B400000)
    half = build.integer(arith.ShRSIOp, power, 1)
    for part in (half, build.integer(arith.SubiOp, power, half)):
        exponent = build.integer(arith.AddiOp, part, 127)
        y = build.mul(y, build.of_bits(build.integer(arith.ShLIOp, exponent, 23), f32))
    return y


def tanh(x: SSAValue, build: Functions) -> SSAValue:
    """Compute a quotient of polynomials. The error is at most 4 ulp."""
    bounded = build.clamp(x, -7.90531110763549805, 7.90531110763549805)
    square = build.mul(bounded, bounded)
    odd = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11)
    odd = (*odd, 5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04)
    even = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03)
    above = build.mul(bounded, build.polynomial(square, (*odd, 4.89352455891786e-03)))
    y = build.div(above, build.polynomial(square, (*even, 4.89352518554385e-03)))
    y = build.where(build.mul(x, x), "olt", 1.6e-7, x, y)
    return build.saturated(x, 9.02, y)


def erf(x: SSAValue, build: Functions) -> SSAValue:
    """Compute a quotient of polynomials. The error is at most 6 ulp, except for denormal
    numbers."""
    x = build.clamp(x, -4.0, 4.0)
    square = build.mul(x, x)
    odd = (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06)
    odd = (*odd, -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03)
    even = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03)
    even = (*even, -7.37332916720468e-03, -1.42647390514189e-02)
    above = build.mul(x, build.polynomial(square, (*odd, -1.60960333262415e-02)))
    return build.saturated(x, 3.92, build.div(above, build.polynomial(square, even)))


def log(x: SSAValue, build: Functions) -> SSAValue:
    """Compute `log(m) + n * log(2)`, where m is close to 1. The error is at most 1 ulp, for
    denormal arguments too."""
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
    y = build.where(x, "oeq", float("inf"), x, y)
    y = build.where(x, "oeq", 0.0, float("-inf"), y)
    return build.where(x, "ult", 0.0, float("nan"), y)


EXPANSIONS: dict[type[Operation], Callable[[SSAValue, Functions], SSAValue]] = {
    math.ErfOp: erf,
    math.ExpOp: exp,
    math.LogOp: log,
    math.TanhOp: tanh,
}


def expand_math(module: ModuleOp) -> None:
    """Replace `math.exp`, `log`, `tanh` and `erf` on f32 and vectors of f32 by arithmetic, and
    `math.fpowi` by `math.powf`: LLVM would call `__powisf2`, which is not in the C library.

    The result is valid for MLIR, but xDSL 0.74 cannot verify the comparisons of vectors in it.
    """
    for op in [*walk(module)]:
        if isinstance(op, math.FPowIOp):
            build = Arithmetic(op)
            exponent = build.convert(arith.SIToFPOp, op.rhs, element_of(op.lhs.type))
            Rewriter.replace_op(op, [], [build.insert(math.PowFOp(op.lhs, exponent))])
        elif type(op) in EXPANSIONS and element_of(op.results[0].type) == f32:
            result = EXPANSIONS[type(op)](op.operands[0], Functions(op))
            Rewriter.replace_op(op, [], [result])
