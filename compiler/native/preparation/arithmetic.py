"""A builder of arithmetic on scalars and on vectors."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
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

from ....dialects.vector_types import element_of, is_vector, with_element

__all__ = ["Arithmetic"]

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


class Arithmetic:
    """A builder that inserts operations before `op`, with the location of `op`.

    A Python number stands for a constant of the type of the other operand.
    """

    def __init__(self, op: Operation) -> None:
        self._op = op

    # Floats. Sums and products may be contracted to a fused multiply-add.

    def add(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.insert(arith.AddfOp(a, self._value(b, a), CONTRACT))

    def sub(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.insert(arith.SubfOp(a, self._value(b, a), CONTRACT))

    def mul(self, a: SSAValue, b: SSAValue | float) -> SSAValue:
        return self.insert(arith.MulfOp(a, self._value(b, a), CONTRACT))

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.DivfOp(a, b))

    def compare(self, a: SSAValue, predicate: str, b: SSAValue | float) -> SSAValue:
        """Compare floats."""
        return self._compare(arith.CmpfOp(a, self._value(b, a), predicate))

    def where(
        self, a: SSAValue, predicate: str, b: float, yes: SSAValue | float, no: SSAValue
    ) -> SSAValue:
        """Return `yes` where the floats compare as `a predicate b`, else `no`."""
        return self.select(self.compare(a, predicate, b), yes, no)

    # Integers

    def integer(
        self, op: Callable[[SSAValue, SSAValue], Operation], a: SSAValue, b: SSAValue | int
    ) -> SSAValue:
        """Insert an operation `op` on two integers."""
        return self.insert(op(a, self._value(b, a)))

    def compare_integers(self, a: SSAValue, predicate: str, b: SSAValue | int) -> SSAValue:
        """Compare integers."""
        return self._compare(arith.CmpiOp(a, self._value(b, a), predicate))

    # Both

    def select(self, condition: SSAValue, yes: SSAValue | float, no: SSAValue) -> SSAValue:
        return self.insert(arith.SelectOp(condition, self._value(yes, no), no))

    def bits(self, x: SSAValue) -> SSAValue:
        """Reinterpret floats as integers of the same width."""
        element = element_of(x.type)
        assert isinstance(element, AnyFloat)
        return self.convert(arith.BitcastOp, x, IntegerType(element.bitwidth))

    def of_bits(self, bits: SSAValue, element: AnyFloat) -> SSAValue:
        """Reinterpret integers as floats of type `element`."""
        return self.convert(arith.BitcastOp, bits, element)

    def convert(self, op: type[Operation], x: SSAValue, element: Attribute) -> SSAValue:
        """Insert a conversion `op` of a scalar, or of each lane, to `element`."""
        type = with_element(x.type, element)
        return self.insert(op.create(operands=[x], result_types=[type]))

    def insert(self, op: Operation) -> SSAValue:
        """Insert `op`, which has one result, and return the result."""
        op.location = self._op.location
        Rewriter.insert_op(op, InsertPoint.before(self._op))
        return op.results[0]

    def _compare(self, op: arith.CmpfOp | arith.CmpiOp) -> SSAValue:
        # xDSL 0.74 gives a comparison of vectors the result type i1.
        Rewriter.replace_value_with_new_type(op.result, with_element(op.lhs.type, i1))
        return self.insert(op)

    def _value(self, x: SSAValue | float, like: SSAValue) -> SSAValue:
        if isinstance(x, SSAValue):
            return x
        return self.constant(x, like.type)

    def constant(self, x: float, type: Attribute) -> SSAValue:
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
