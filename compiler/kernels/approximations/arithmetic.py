"""Arithmetic on scalars and on vectors, with Python's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.arith_types import element_of, is_vector, with_element
from ....dialects.numbers import Function, Term

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])

BitFunction: TypeAlias = Literal["and", "or", "xor", "shl", "shr"]

FLOATS: Mapping[str, Callable[..., Operation]] = {
    "add": partial(arith.AddfOp, flags=CONTRACT),
    "sub": partial(arith.SubfOp, flags=CONTRACT),
    "mul": partial(arith.MulfOp, flags=CONTRACT),
    "div": arith.DivfOp,
}
INTEGERS: Mapping[str, Callable[..., Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "shl": arith.ShLIOp,
    "shr": arith.ShRUIOp,
}


class Lanes(Term["Lanes | float", "Lanes"]):
    """A scalar, or the lanes of a vector. Operators insert operations before `at`, with its
    location.

    A Python number stands for a constant of the type of the other operand. Sums and products of
    floats may be contracted to a fused multiply-add. `>>` shifts zeros in.
    """

    def __init__(self, at: Operation, value: SSAValue) -> None:
        self.at = at
        self.value = value

    @property
    def type(self) -> Attribute:
        return self.value.type

    def apply(self, function: Function | BitFunction, a: Any, b: Any) -> Lanes:
        functions = FLOATS if isinstance(element_of(self.type), AnyFloat) else INTEGERS
        operands = (x if isinstance(x, Lanes) else self.number(x) for x in (a, b))
        return self.insert(functions[function](*(x.value for x in operands)))

    def __and__(self, other: Lanes | int) -> Lanes:
        return self.apply("and", self, other)

    def __or__(self, other: Lanes | int) -> Lanes:
        return self.apply("or", self, other)

    def __xor__(self, other: Lanes | int) -> Lanes:
        return self.apply("xor", self, other)

    def __lshift__(self, other: Lanes | int) -> Lanes:
        return self.apply("shl", self, other)

    def __rshift__(self, other: Lanes | int) -> Lanes:
        return self.apply("shr", self, other)

    def __neg__(self) -> Lanes:
        return self.insert(arith.NegfOp(self.value))

    def __abs__(self) -> Lanes:
        return self.insert(math.AbsFOp(self.value))

    def integer(self, op: Callable[[SSAValue, SSAValue], Operation], other: Lanes | int) -> Lanes:
        """Insert an operation `op` on two integers."""
        return self.insert(op(self.value, self._like(other).value))

    def compare(self, predicate: str, other: Lanes | float) -> Lanes:
        """Compare floats, or integers, by a predicate of `arith.cmpf` or `arith.cmpi`."""
        is_float = isinstance(element_of(self.type), AnyFloat)
        compare = arith.CmpfOp if is_float else arith.CmpiOp
        op = compare(self.value, self._like(other).value, predicate)
        # xDSL 0.74 gives a comparison of vectors the result type i1.
        Rewriter.replace_value_with_new_type(op.result, with_element(self.type, i1))
        return self.insert(op)

    def select(self, yes: Lanes | float, no: Lanes) -> Lanes:
        """Return `yes` where this condition holds, else `no`."""
        return self.insert(arith.SelectOp(self.value, no._like(yes).value, no.value))

    def where(self, predicate: str, bound: float, yes: Lanes | float, no: Lanes) -> Lanes:
        """Return `yes` where this float compares with `bound`, else `no`."""
        return self.compare(predicate, bound).select(yes, no)

    def bits(self) -> Lanes:
        """Reinterpret floats as integers of the same width."""
        element = element_of(self.type)
        assert isinstance(element, AnyFloat)
        return self.convert(arith.BitcastOp, IntegerType(element.bitwidth))

    def of_bits(self, element: AnyFloat) -> Lanes:
        """Reinterpret integers as floats of type `element`."""
        return self.convert(arith.BitcastOp, element)

    def convert(self, op: type[Operation], element: Attribute) -> Lanes:
        """Insert a conversion `op` of a scalar, or of each lane, to `element`."""
        type = with_element(self.type, element)
        return self.insert(op.create(operands=[self.value], result_types=[type]))

    def insert(self, op: Operation) -> Lanes:
        """Insert `op`, which has one result, and return the result."""
        op.location = self.at.location
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        return Lanes(self.at, op.results[0])

    def _like(self, x: Lanes | float) -> Lanes:
        return x if isinstance(x, Lanes) else self.number(x)

    def number(self, x: float) -> Lanes:
        """Insert a constant of the same type."""
        return self.constant(x, self.type)

    def constant(self, x: float, type: Attribute) -> Lanes:
        """Insert a constant of a type; of a vector, all lanes are `x`."""
        element = element_of(type)
        if isinstance(element, IntegerType):
            number = IntegerAttr(int(x), element.bitwidth)
        else:
            assert isinstance(element, AnyFloat)
            number = FloatAttr(x, element)
        if not is_vector(type):
            return self.insert(arith.ConstantOp(number))
        return self.insert(
            arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [number.value.data]))  # pyright: ignore
        )


Lanes.partners = (Lanes, int, float)
