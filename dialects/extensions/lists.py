"""Lists in the custom forms of operations: of types behind an arrow, of indices that are numbers
or values; and the names of reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

__all__ = [
    "REDUCTIONS",
    "Indices",
    "parse_indices",
    "parse_types_after_arrow",
    "print_indices",
    "print_types_after_arrow",
]


REDUCTIONS = (
    *("addf", "addi", "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu"),
    *("minimumf", "minnumf", "mins", "minu", "mulf", "muli", "ori", "xori"),
)
"""The ways in which results are combined (MLIR `AtomicRMWKind`), each at its number."""


def parse_types_after_arrow(parser: Parser, *, required: bool = False) -> Sequence[Attribute]:
    """Parse `-> T` or `-> (T, ...)`; nothing if no arrow follows, unless it is `required`."""
    if required:
        parser.parse_punctuation("->")
    elif parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def print_types_after_arrow(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print ` -> (T, ...)`; nothing for no types."""
    if types:
        printer.print_string(" -> (")
        printer.print_list(types, printer.print_attribute)
        printer.print_string(")")


class Arguments(NamedTuple):
    """The arguments of a block in the text of a branch."""

    names: Sequence[UnresolvedOperand]
    types: Sequence[Attribute]


def parse_arguments(parser: Parser) -> Arguments:
    """Parse `(%a, ... : T, ...)`, if it follows."""
    if parser.parse_optional_punctuation("(") is None:
        return Arguments((), ())
    none = parser.Delimiter.NONE
    names = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(none, parser.parse_type)
    parser.parse_punctuation(")")
    return Arguments(names, types)


def print_arguments(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Print the arguments of a block; nothing for none."""
    if values:
        printer.print_string("(")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list([value.type for value in values], printer.print_attribute)
        printer.print_string(")")


class Indices(NamedTuple):
    """A list of indices: a number for each, or DYNAMIC_INDEX for the next of the values."""

    values: Sequence[SSAValue]
    numbers: Sequence[int]

    @staticmethod
    def of(values: Sequence[SSAValue], numbers: DenseArrayBase[IntegerType]) -> Indices:
        """Return the indices of an operand and a property."""
        return Indices(values, [*numbers.get_values()])

    def attribute(self) -> DenseArrayBase[IntegerType]:
        """Return the numbers as a property."""
        return DenseArrayBase.from_list(i64, self.numbers)


def parse_indices(parser: Parser, delimiter: Parser.Delimiter) -> Indices:
    """Parse a list of numbers and values of type index."""
    values: list[SSAValue] = []

    def parse_index() -> int:
        if (operand := parser.parse_optional_unresolved_operand()) is None:
            return parser.parse_integer(allow_boolean=False)
        values.append(parser.resolve_operand(operand, IndexType()))
        return DYNAMIC_INDEX

    return Indices(values, parser.parse_comma_separated_list(delimiter, parse_index))


def print_indices(printer: Printer, indices: Indices, brackets: str = "()") -> None:
    """Print a list of numbers and values."""
    values = iter(indices.values)

    def print_index(number: int) -> None:
        if number == DYNAMIC_INDEX:
            printer.print_ssa_value(next(values))
        else:
            printer.print_string(str(number))

    printer.print_string(brackets[0])
    printer.print_list(indices.numbers, print_index)
    printer.print_string(brackets[1])
