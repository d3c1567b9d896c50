"""Exponentials of f32 as arithmetic, which is vectorized as sums and products are.

A call of the C library takes one number at a time, and thirty times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import TypeIs
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    f32,
    i1,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...passmanager.ir.walk import walk

__all__ = ["expand_math"]

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


class Arithmetic:
    """Builds arithmetic before an operation, on numbers of its type: f32, or vectors of it."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self._type = op.results[0].type

    def add(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self._insert(arith.AddfOp(a, self._value(b), CONTRACT))

    def sub(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self._insert(arith.SubfOp(a, self._value(b), CONTRACT))

    def mul(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self._insert(arith.MulfOp(a, self._value(b), CONTRACT))

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._insert(arith.DivfOp(a, b))

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """That of x with these coefficients, of which there are two or more, the highest first."""
        result = self.mul(x, coefficients[0])
        for coefficient in coefficients[1:-1]:
            result = self.mul(self.add(result, coefficient), x)
        return self.add(result, coefficients[-1])

    def where(
        self, a: SSAValue, predicate: str, b: float, yes: SSAValue | float, no: SSAValue
    ) -> SSAValue:
        """`yes` where the comparison holds, else `no`."""
        compare = arith.CmpfOp(a, self._value(b), predicate)
        holds = arith.CmpfOp.create(
            operands=compare.operands,
            result_types=[self._like(i1)],
            properties=compare.properties,
        )
        return self._insert(arith.SelectOp(self._insert(holds), self._value(yes), no))

    def saturated(self, x: SSAValue, bound: float, y: SSAValue) -> SSAValue:
        """y within bounds of x, else 1 and -1: not a float near to it, as there may be a product
        of `1 + y` and something large."""
        y = self.where(x, "oge", bound, 1.0, y)
        return self.where(x, "ole", -bound, -1.0, y)

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """x within bounds; NaN stays."""
        x = self.where(x, "olt", low, low, x)
        return self.where(x, "ogt", high, high, x)

    def bits(self, x: SSAValue) -> SSAValue:
        return self._insert(arith.BitcastOp(x, self._like(i32)))

    def of_bits(self, bits: SSAValue) -> SSAValue:
        return self._insert(arith.BitcastOp(bits, self._type))

    def of_integer(self, x: SSAValue) -> SSAValue:
        """The number that an integer of 32 bits is."""
        return self._insert(arith.SIToFPOp.create(operands=[x], result_types=[self._type]))

    def integer(
        self, op: Callable[[SSAValue, SSAValue], Operation], a: SSAValue, b: SSAValue | int
    ) -> SSAValue:
        """An operation on integers of 32 bits."""
        if isinstance(b, int):
            b = self._constant(IntegerAttr(b, i32))
        return self._insert(op(a, b))

    def _value(self, x: SSAValue | float) -> SSAValue:
        return x if isinstance(x, SSAValue) else self._constant(FloatAttr(x, f32))

    def _constant(self, x: FloatAttr[Float32Type] | IntegerAttr[IntegerType]) -> SSAValue:
        if not _is_vector(self._type):
            return self._insert(arith.ConstantOp(x))
        type = self._like(x.type)
        return self._insert(
            arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [x.value.data]))  # pyright: ignore
        )

    def _like(self, element: Attribute) -> Attribute:
        """The type of as many elements of another type."""
        if not _is_vector(self._type):
            return element
        return VectorType(element, self._type.shape, self._type.scalable_dims)

    def _insert(self, op: Operation) -> SSAValue:
        op.location = self._op.location
        Rewriter.insert_op(op, InsertPoint.before(self._op))
        return op.results[0]


def _is_vector(type: Attribute) -> TypeIs[VectorType[Attribute]]:
    return isinstance(type, VectorType)


# Functions; polynomials and bounds: Cephes (exp, log), Eigen (tanh, erf).


def exp(x: SSAValue, build: Arithmetic) -> SSAValue:
    """`2^n * e^r` with r as near to 0 as it can be; correct to 1 ulp, denormal numbers too."""
    x = build.clamp(x, -104.0, 89.0)
    # In a float so large the last bit is a one: the sum is rounded, and ends with the bits of n.
    large = 12582912.0
    shifted = build.add(build.mul(x, 1.44269504088896341), large)
    n = build.sub(shifted, large)
    r = build.sub(build.sub(x, build.mul(n, 0.693359375)), build.mul(n, -2.12194440e-4))
    coefficients = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2)
    p = build.polynomial(r, (*coefficients, 1.6666665459e-1, 5.0000001201e-1))
    y = build.add(build.add(build.mul(p, build.mul(r, r)), r), 1.0)
    # 2^n may be too large or small for a float where the product is not: two factors.
    power = build.integer(arith.SubiOp, build.bits(shifted), 0x4B400000)
    half = build.integer(arith.ShRSIOp, power, 1)
    for part in (half, build.integer(arith.SubiOp, power, half)):
        exponent = build.integer(arith.AddiOp, part, 127)
        y = build.mul(y, build.of_bits(build.integer(arith.ShLIOp, exponent, 23)))
    return y


def tanh(x: SSAValue, build: Arithmetic) -> SSAValue:
    """A quotient of polynomials; correct to 4 ulp."""
    bounded = build.clamp(x, -7.90531110763549805, 7.90531110763549805)
    square = build.mul(bounded, bounded)
    odd = (-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11)
    odd = (*odd, 5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04)
    even = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03)
    above = build.mul(bounded, build.polynomial(square, (*odd, 4.89352455891786e-03)))
    y = build.div(above, build.polynomial(square, (*even, 4.89352518554385e-03)))
    y = build.where(build.mul(x, x), "olt", 1.6e-7, x, y)
    return build.saturated(x, 9.02, y)


def erf(x: SSAValue, build: Arithmetic) -> SSAValue:
    """A quotient of polynomials; correct to 6 ulp, but of denormal numbers."""
    x = build.clamp(x, -4.0, 4.0)
    square = build.mul(x, x)
    odd = (-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06)
    odd = (*odd, -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03)
    even = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03)
    even = (*even, -7.37332916720468e-03, -1.42647390514189e-02)
    above = build.mul(x, build.polynomial(square, (*odd, -1.60960333262415e-02)))
    return build.saturated(x, 3.92, build.div(above, build.polynomial(square, even)))


def log(x: SSAValue, build: Arithmetic) -> SSAValue:
    """`log(m) + n * log(2)` with m near to 1; correct to 1 ulp, of denormal numbers too."""
    least = 1.17549435e-38
    normal = build.where(x, "olt", least, build.mul(x, 8388608.0), x)
    bits = build.integer(arith.SubiOp, build.bits(normal), 0x3F3504F3)  # of the root of 1/2
    n = build.of_integer(build.integer(arith.ShRSIOp, bits, 23))
    n = build.where(x, "olt", least, build.sub(n, 23.0), n)
    fraction = build.integer(arith.AndIOp, bits, 0x7FFFFF)
    m = build.of_bits(build.integer(arith.AddiOp, fraction, 0x3F3504F3))
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


EXPANSIONS: dict[type[Operation], Callable[[SSAValue, Arithmetic], SSAValue]] = {
    math.ErfOp: erf,
    math.ExpOp: exp,
    math.LogOp: log,
    math.TanhOp: tanh,
}


def expand_math(module: ModuleOp) -> int:
    """Replace `math.exp`, `log`, `tanh` and `erf` of f32 and of vectors of it by arithmetic; how
    many there were.

    The result is for MLIR: xDSL 0.74 has no comparisons of vectors, and does not verify it.
    """
    ops = [op for op in walk(module) if type(op) in EXPANSIONS and _is_f32(op.results[0].type)]
    for op in ops:
        result = EXPANSIONS[type(op)](op.operands[0], Arithmetic(op))
        Rewriter.replace_op(op, [], [result])
    return len(ops)


def _is_f32(type: Attribute) -> bool:
    return (type.element_type if _is_vector(type) else type) == f32
