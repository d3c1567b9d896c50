"""MLIR's dialect index, which xDSL does not have: arithmetic on values of type index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import BoolAttr, IndexType, IndexTypeConstr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Data, Dialect, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, ConstantLike, NoMemoryEffect, OpTrait, Pure
from xdsl.utils.str_enum import StrEnum

__all__ = ["Index"]


class IndexArithmeticOp(IRDLOperation):
    """An operation on two indices."""

    lhs = operand_def(IndexType())
    rhs = operand_def(IndexType())
    result = result_def(IndexType())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        return cls.create(
            operands=[parser.resolve_operand(operand, IndexType()) for operand in operands],
            result_types=[IndexType()],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


def _define(name: str, *traits: OpTrait) -> type[Operation]:
    """Return the class of an operation on two indices."""
    title = "".join(part.capitalize() for part in name.split("_"))
    fields = {"name": f"index.{name}", "traits": traits_def(*traits), "__module__": __name__}
    return irdl_op_definition(type(f"{title}Op", (IndexArithmeticOp,), fields))


_PURE = ("shl", "shrs", "shru", "sub")
_COMMUTATIVE = ("add", "and", "maxs", "maxu", "mins", "minu", "mul", "or", "xor")
_TRAPPING = ("ceildivs", "ceildivu", "divs", "divu", "floordivs", "rems", "remu")
"""The operations whose behaviour is not defined for some values, such as a divisor of zero."""

BINARY: Sequence[type[Operation]] = (
    *(_define(name, Pure()) for name in _PURE),
    *(_define(name, Pure(), Commutative()) for name in _COMMUTATIVE),
    *(_define(name, NoMemoryEffect()) for name in _TRAPPING),
)


class IndexCastingOp(IRDLOperation):
    """A conversion between integers and indices."""

    input = operand_def(base(IntegerType) | IndexTypeConstr)
    output = result_def(base(IntegerType) | IndexTypeConstr)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"


@irdl_op_definition
class CastSOp(IndexCastingOp):
    """Convert between indices and integers, with the sign."""

    name = "index.casts"


@irdl_op_definition
class CastUOp(IndexCastingOp):
    """Convert between indices and integers, without a sign."""

    name = "index.castu"


class Predicate(StrEnum):
    """The ways in which indices are compared."""

    EQ = "eq"
    NE = "ne"
    SLT = "slt"
    SLE = "sle"
    SGT = "sgt"
    SGE = "sge"
    ULT = "ult"
    ULE = "ule"
    UGT = "ugt"
    UGE = "uge"


@irdl_attr_definition
class PredicateAttr(Data[Predicate], SpacedOpaqueSyntaxAttribute):
    """A way in which indices are compared."""

    name = "index.cmp_predicate"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Predicate:
        return parser.parse_str_enum(Predicate)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data.value)


@irdl_op_definition
class CmpOp(IRDLOperation):
    """Compare indices."""

    name = "index.cmp"

    pred = prop_def(PredicateAttr)
    lhs = operand_def(IndexType())
    rhs = operand_def(IndexType())
    result = result_def(i1)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = parser.parse_str_enum(Predicate)
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        return cls.create(
            operands=[parser.resolve_operand(operand, IndexType()) for operand in operands],
            result_types=[i1],
            properties={"pred": PredicateAttr(predicate)},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pred.data}(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SizeOfOp(IRDLOperation):
    """Return the number of bits of an index."""

    name = "index.sizeof"

    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "attr-dict"


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Return a number."""

    name = "index.constant"

    value = prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType())

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value: Attribute = IntegerAttr(parser.parse_integer(allow_boolean=False), IndexType())
        return cls.create(
            result_types=[IndexType()], properties={"value": value}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" {self.value.value.data}")


@irdl_op_definition
class BoolConstantOp(IRDLOperation):
    """Return true or false."""

    name = "index.bool.constant"

    value = prop_def(BoolAttr)
    result = result_def(i1)

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        value = BoolAttr.from_bool(parser.parse_boolean())
        return cls.create(result_types=[i1], properties={"value": value}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" true" if self.value.value.data else " false")


Index = Dialect(
    "index",
    [*BINARY, BoolConstantOp, CastSOp, CastUOp, CmpOp, ConstantOp, SizeOfOp],
    [PredicateAttr],
)
