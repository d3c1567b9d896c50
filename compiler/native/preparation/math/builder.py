"""A builder with what approximations of functions have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import f32, f64, i1
from xdsl.ir import SSAValue

from .....dialects.vector_types import element_of, is_vector
from ..arithmetic import Arithmetic

__all__ = ["EXPONENT_OF_1", "Expansion", "MathBuilder", "greater", "in_f64"]


EXPONENT_OF_1 = 127
"""The exponent of 1 in the bits of an f32."""


class MathBuilder(Arithmetic):
    """A builder of polynomials, argument reductions, and code for rare arguments."""

    def number(self, x: float, like: SSAValue) -> SSAValue:
        """Return a constant of the type of `like`."""
        return self._value(x, like)

    def abs(self, x: SSAValue) -> SSAValue:
        return self.insert(math.AbsFOp(x))

    def neg(self, x: SSAValue) -> SSAValue:
        return self.insert(arith.NegfOp(x))

    def sqrt(self, x: SSAValue) -> SSAValue:
        return self.insert(math.SqrtOp(x))

    def copysign(self, x: SSAValue, sign: SSAValue) -> SSAValue:
        return self.insert(math.CopySignOp(x, sign))

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """Clamp x to [low, high]; NaN stays NaN."""
        x = self.where(x, "olt", low, low, x)
        return self.where(x, "ogt", high, high, x)

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """Evaluate a polynomial of x by Horner's rule; `coefficients` are two or more, that of
        the highest power first."""
        result = self.mul(x, coefficients[0])
        for coefficient in coefficients[1:-1]:
            result = self.mul(self.add(result, coefficient), x)
        return self.add(result, coefficients[-1])

    def nearest(self, x: SSAValue, bias: int = 0) -> tuple[SSAValue, SSAValue]:
        """Return the integer n nearest to x as a float, and an integer with the low bits of
        `n + bias`.

        Adding 1.5 * 2^23 to an f32 rounds it to an integer, which is then in the low 22 bits of
        the sum; of an f64, with 1.5 * 2^52, in the low 51 bits. |x| must be below 2^22 or 2^51.
        """
        large = 1.5 * 2.0 ** _fraction_bits(x) + bias
        shifted = self.add(x, large)
        return self.sub(shifted, large), self.bits(shifted)

    def without(self, x: SSAValue, n: SSAValue, parts: Sequence[float]) -> SSAValue:
        """Return `x - n * sum(parts)` (Cody and Waite). All parts but the last have so few digits
        that their product with n is exact."""
        for part in parts:
            x = self.sub(x, self.mul(n, part))
        return x

    def power_of_2(self, n: SSAValue) -> SSAValue:
        """Return 2^n in f64, a normal number, for an integer that need only be right in its low
        bits."""
        exponent = self.integer(arith.ShLIOp, n, 52)
        return self.of_bits(self.integer(arith.AddiOp, exponent, 0x3FF << 52), f64)

    def with_exponent(self, bits: SSAValue) -> SSAValue:
        """Return the power of 2 in f32 with the biased exponent in the low bits of an integer: 0
        for the exponent 0, infinity for 255."""
        return self.of_bits(self.integer(arith.ShLIOp, bits, 23), f32)

    def rarely(
        self, condition: SSAValue, rare: Callable[[MathBuilder], SSAValue], usual: SSAValue
    ) -> SSAValue:
        """Return `rare` where the condition holds, else `usual`. A scalar or a vector of one
        dimension branches around the computation of `rare` if no lane needs it."""
        some = condition
        if is_vector(condition.type):
            if len(condition.type.get_shape()) != 1:
                return self.select(condition, rare(self), usual)
            kind = vector.CombiningKindAttr(vector.CombiningKindFlag.OR)
            some = self.insert(
                vector.ReductionOp.create(
                    operands=[condition], result_types=[i1], properties={"kind": kind}
                )
            )
        end, otherwise = scf.YieldOp(usual), scf.YieldOp(usual)
        result = self.insert(scf.IfOp(some, [usual.type], [end], [otherwise]))
        end.location = otherwise.location = self._op.location
        build = MathBuilder(end)
        end.operands[0] = build.select(condition, rare(build), usual)
        return result


def _fraction_bits(x: SSAValue) -> int:
    """Return the bits of the fraction of an f32 or f64."""
    return 23 if element_of(x.type) == f32 else 52


Expansion: TypeAlias = Callable[..., SSAValue]
"""A function of a builder and of the operands that returns the result."""


def greater(build: MathBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Return the maximum, or x if one of the numbers is NaN: one instruction on x86."""
    return build.select(build.compare(y, "ogt", x), y, x)


def in_f64(function: Expansion) -> Expansion:
    """Return an expansion on f32 that computes `function` on f64 and rounds the result."""

    def expand(build: MathBuilder, *operands: SSAValue) -> SSAValue:
        wide = [build.convert(arith.ExtFOp, x, f64) for x in operands]
        return build.convert(arith.TruncFOp, function(build, *wide), f32)

    return expand
