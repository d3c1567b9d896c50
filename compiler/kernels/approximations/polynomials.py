"""What approximations of functions have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import f32, f64, i1

from ....dialects.arith_types import element_of, is_vector
from .arithmetic import Lanes

EXPONENT_OF_1 = 127
"""The exponent of 1 in the bits of an f32."""


def sqrt(x: Lanes) -> Lanes:
    return x.insert(math.SqrtOp(x.value))


def copysign(x: Lanes, sign: Lanes) -> Lanes:
    return x.insert(math.CopySignOp(x.value, sign.value))


def clamp(x: Lanes, low: float, high: float) -> Lanes:
    """Clamp x to [low, high]; NaN stays NaN."""
    x = x.where("olt", low, low, x)
    return x.where("ogt", high, high, x)


def polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """Evaluate a polynomial of x by Horner's rule; `coefficients` are two or more, that of the
    highest power first."""
    result = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        result = (result + coefficient) * x
    return result + coefficients[-1]


def nearest(x: Lanes, bias: int = 0) -> tuple[Lanes, Lanes]:
    """Return the integer n nearest to x as a float, and an integer with the low bits of `n + bias`.

    Adding 1.5 * 2^23 to an f32 rounds it to an integer, which is then in the low 22 bits of the
    sum; of an f64, with 1.5 * 2^52, in the low 51 bits. |x| must be below 2^22 or 2^51.
    """
    large = 1.5 * 2.0 ** (23 if element_of(x.type) == f32 else 52) + bias
    shifted = x + large
    return shifted - large, shifted.bits()


def without(x: Lanes, n: Lanes, parts: Sequence[float]) -> Lanes:
    """Return `x - n * sum(parts)` (Cody and Waite). All parts but the last have so few digits that
    their product with n is exact."""
    for part in parts:
        x = x - n * part
    return x


def power_of_2(n: Lanes) -> Lanes:
    """Return 2^n in f64, a normal number, for an integer that need only be right in its low
    bits."""
    return ((n << 52) + (0x3FF << 52)).of_bits(f64)


def with_exponent(bits: Lanes) -> Lanes:
    """Return the power of 2 in f32 with the biased exponent in the low bits of an integer: 0 for
    the exponent 0, infinity for 255."""
    return (bits << 23).of_bits(f32)


def rarely(condition: Lanes, rare: Callable[[Lanes], Lanes], x: Lanes, usual: Lanes) -> Lanes:
    """Return `rare(x)` where the condition holds, else `usual`. A scalar or a vector of one
    dimension branches around the computation of `rare` if no lane needs it."""
    some = condition
    if is_vector(condition.type):
        if len(condition.type.get_shape()) != 1:
            return condition.select(rare(x), usual)
        kind = vector.CombiningKindAttr(vector.CombiningKindFlag.OR)
        some = condition.insert(
            vector.ReductionOp.create(
                operands=[condition.value], result_types=[i1], properties={"kind": kind}
            )
        )
    end, otherwise = scf.YieldOp(usual.value), scf.YieldOp(usual.value)
    result = x.insert(scf.IfOp(some.value, [usual.type], [end], [otherwise]))
    end.location = otherwise.location = x.at.location
    inside, then, usually = (Lanes(end, each.value) for each in (x, condition, usual))
    end.operands[0] = then.select(rare(inside), usually).value
    return result


Expansion: TypeAlias = Callable[..., Lanes]
"""A function of the operands that returns the result."""


def greater(x: Lanes, y: Lanes) -> Lanes:
    """Return the maximum, or x if one of the numbers is NaN: one instruction on x86."""
    return y.compare("ogt", x).select(y, x)


def in_f64(function: Expansion) -> Expansion:
    """Return an expansion on f32 that computes `function` on f64 and rounds the result."""

    def expand(*operands: Lanes) -> Lanes:
        wide = [x.convert(arith.ExtFOp, f64) for x in operands]
        return function(*wide).convert(arith.TruncFOp, f32)

    return expand
