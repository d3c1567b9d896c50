"""Operations of MLIR's dialect arith that xDSL lacks, or has for scalars or without flags alone."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self

from .arith_conversions import CONVERSIONS
from .arith_flags import ShapedOp, parse_flags, print_flags
from .extended_op import ExtendedOp, extended

__all__ = ["extend"]

# Comparisons and selections


def truth(type: Attribute) -> Attribute:
    """Return the type of a comparison of values of a type."""
    match type:
        case VectorType():
            return VectorType(i1, type.shape, type.scalable_dims)
        case TensorType():
            return TensorType(i1, type.shape, type.encoding)
        case UnrankedTensorType():
            return UnrankedTensorType(i1)
        case _:
            return i1


class CompareOp(ShapedOp, ABC):
    """A comparison of scalars, or of the elements of vectors or tensors."""

    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    PREDICATES: ClassVar[Sequence[str]]
    FLAGS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        # xDSL prints no attributes of comparisons.
        return None if attributes else super().is_plain(operands, properties, attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        predicate = parser.parse_identifier()
        if predicate not in cls.PREDICATES:
            expected = ", ".join(cls.PREDICATES)
            parser.raise_error(
                f"expected a predicate, one of {expected}, but found '{predicate}'",
                start,
                start + len(predicate),
            )
        parser.parse_punctuation(",")
        operands = _parse_operands(parser, 2)
        properties = parse_flags(parser, cls.FLAGS)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        number = IntegerAttr(cls.PREDICATES.index(predicate), i64)
        if "fastmath" in cls.FLAGS:
            properties = {"fastmath": arith.FastMathFlagsAttr("none")} | properties
        return cls.create(
            operands=parser.resolve_operands(operands, [type, type], parser.pos),
            result_types=[truth(type)],
            properties={"predicate": number} | properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.PREDICATES[self.predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_operand)
        print_flags(printer, self)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException("requires all operands to have the same type")
        if self.result.type != (expected := truth(self.lhs.type)):
            raise VerifyException(f"expected a result of {expected}, got {self.result.type}")
        if not 0 <= self.predicate.value.data < (count := len(self.PREDICATES)):
            raise VerifyException(f"its predicate is a number from 0 to {count - 1}")


def _parse_operands(parser: Parser, count: int) -> list[UnresolvedOperand]:
    """Parse a number of operands with commas between them."""
    operands = [parser.parse_unresolved_operand()]
    while len(operands) < count:
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    return operands


@irdl_op_definition
class CmpiOp(CompareOp):
    """Compare integers."""

    PLAIN: ClassVar = arith.CmpiOp
    PREDICATES: ClassVar = arith.CMPI_COMPARISON_OPERATIONS
    name = "arith.cmpi"


@irdl_op_definition
class CmpfOp(CompareOp):
    """Compare floats."""

    PLAIN: ClassVar = arith.CmpfOp
    PREDICATES: ClassVar = arith.CMPF_COMPARISON_OPERATIONS
    FLAGS: ClassVar = ("fastmath",)
    name = "arith.cmpf"

    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=arith.FastMathFlagsAttr("none"))


@irdl_op_definition
class SelectOp(ShapedOp):
    """Choose one of two values by a bit, or each element by its own bit."""

    PLAIN: ClassVar = arith.SelectOp
    name = "arith.select"

    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = _parse_operands(parser, 3)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition, type = i1, parser.parse_type()
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [condition, type, type], parser.pos),
            result_types=[type],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.result.type:
            raise VerifyException("requires its values and its result to have the same type")
        if self.cond.type not in (i1, expected := truth(self.result.type)):
            raise VerifyException(f"expected a condition of {expected}, got {self.cond.type}")


# Divisions and shifts that are known to be exact


class ExactOp(ExtendedOp, ABC):
    """A division or a shift to the right; these classes have those that leave no remainder."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    is_exact = opt_prop_def(UnitAttr, prop_name="isExact")

    traits = traits_def(NoMemoryEffect())

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        return None if "isExact" in properties else properties

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = _parse_operands(parser, 2)
        is_exact = parser.parse_optional_keyword("exact") is not None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [type, type], parser.pos),
            result_types=[type],
            properties={"isExact": UnitAttr()} if is_exact else {},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" exact")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.result.type:
            raise VerifyException("requires the same type for all operands and results")
        if not isinstance(get_element_type_or_self(self.lhs.type), IntegerType | IndexType):
            raise VerifyException(f"expected integers, got {self.lhs.type}")


@irdl_op_definition
class DivSIOp(ExactOp):
    """Divide signed integers, towards zero."""

    PLAIN: ClassVar = arith.DivSIOp
    name = "arith.divsi"


@irdl_op_definition
class DivUIOp(ExactOp):
    """Divide unsigned integers."""

    PLAIN: ClassVar = arith.DivUIOp
    name = "arith.divui"


@irdl_op_definition
class ShRSIOp(ExactOp):
    """Shift signed integers to the right."""

    PLAIN: ClassVar = arith.ShRSIOp
    name = "arith.shrsi"

    traits = traits_def(Pure())


@irdl_op_definition
class ShRUIOp(ExactOp):
    """Shift unsigned integers to the right."""

    PLAIN: ClassVar = arith.ShRUIOp
    name = "arith.shrui"

    traits = traits_def(Pure())


# Operations that xDSL has not at all


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """Compute the remainder of a division of floats, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


EXTENSION: tuple[type[Operation], ...] = (
    *CONVERSIONS,
    *(CmpiOp, CmpfOp, SelectOp, DivSIOp, DivUIOp, ShRSIOp, ShRUIOp, RemFOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect arith with the operations above."""
    return extended(dialect, EXTENSION)
