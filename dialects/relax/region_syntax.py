"""The text and the terminator of operations with one region: `-> (types) { ... }`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FunctionType,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
)
from xdsl.utils.exceptions import VerifyException

__all__ = []


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """Parse the result types before a region: `-> type`, `-> (types)` or nothing."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print the result types before a region.

    A single function type needs parentheses, as in MLIR: `-> (() -> i1)`.
    """
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1 and not isinstance(types[0], FunctionType):
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


def check_terminator(end: Operation | None, types: Sequence[Attribute]) -> None:
    """Raise VerifyException unless the terminator `end` of a region has operands of these types."""
    given = () if end is None else end.operand_types
    if list(given) != list(types):
        raise VerifyException(
            f"has results of types ({', '.join(map(str, types))}), "
            f"but its region ends with ({', '.join(map(str, given))})"
        )


def parse_body(
    parser: Parser,
    arguments: Sequence[Parser.Argument],
    end: type[AbstractYieldOperation[Attribute]],
) -> Region:
    """Parse a region of one block and return it.

    `arguments` are the block arguments. The terminator, of class `end`, may be omitted if it has no
    operands.
    """
    region = parser.parse_region(arguments)
    block = region.block
    if block.last_op is None or not block.last_op.has_trait(
        IsTerminator, value_if_unregistered=False
    ):
        block.add_op(end())
    return region


def print_body(printer: Printer, op: Operation, body: Region, results: Sequence[Attribute]) -> None:
    """Print the result types, the attributes and the region of an operation."""
    print_results(printer, results)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_block_terminators=bool(results))
