"""Operations of MLIR's dialect func that xDSL's lacks: functions as values."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.ir import Dialect, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .extended_op import extended

__all__ = ["extend"]


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Return a function."""

    name = "func.constant"

    value = prop_def(SymbolRefAttr)
    res = result_def(FunctionType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        if not isinstance(value := parser.parse_attribute(), SymbolRefAttr):
            parser.raise_error("expected the name of a function", start, parser.pos)
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()],
            properties={"value": value},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.res.type)


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """Call a function that is a value."""

    name = "func.call_indirect"

    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_unresolved_operand()
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_function_type()
        values = parser.resolve_operands(arguments, type.inputs.data, start)
        return cls.create(
            operands=[parser.resolve_operand(callee, type), *values],
            result_types=type.outputs.data,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        printer.print_string("(")
        printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)

    def verify_(self) -> None:
        type = FunctionType.from_lists(
            [value.type for value in self.arguments], [value.type for value in self.res]
        )
        if self.callee.type != type:
            raise VerifyException(f"expected a function of type {type}, got {self.callee.type}")


EXTENSION: tuple[type[Operation], ...] = (CallIndirectOp, ConstantOp)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect func with the operations above."""
    return extended(dialect, EXTENSION)
