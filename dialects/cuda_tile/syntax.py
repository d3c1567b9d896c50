"""Directives of declarative formats, for what NVIDIA's tools write in a way of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    TypeDirective,
    VariadicOperandVariable,
    VariadicVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from ..signature import of_signature
from .attributes import (
    AtomicRMWMode,
    BoundedAttr,
    ComparisonOrdering,
    ComparisonPredicate,
    DivByAttr,
    MemoryOrderingSemantics,
    MemoryScope,
    SameElementsAttr,
    Signedness,
    SymbolVisibility,
    attribute_of,
)
from .literals import parse_elements, print_elements, print_number
from .types import parse_type, print_type

MEMORY = "custom<Keyword>($memory_ordering_semantics) custom<OptionalKeyword>($memory_scope)"
"""The format of the order of an access to memory, and its scope: `acquire device`."""
TOKEN = "(`token` `` `=` `` $token^)?"
"""The format of the token that an access waits for."""
HINTS = "(`optimization_hints` `=` $optimization_hints^)?"
"""The format of optional hints."""
ROUNDING = "(`rounding` `` $rounding_mode^)?"
FLUSH = "(`flush_to_zero` $flush_to_zero^)?"
OVERFLOW = "(`overflow` `` $overflow^)?"
SIGNEDNESS = "custom<Keyword>($signedness)"


def types(names: str) -> str:
    """Return the format of types: `"value, view[index] -> result"` names those of operands and
    results; `"a[, b]"` has an optional one, and `x[index]` those of indices."""
    text = re.sub(r"\[(\w+)\]", r" custom<IndexTypes>(type($\1))", names)
    text = re.sub(r"(?<![$(<])\b\w+\b(?![<(])", r"custom<Types>(type($\g<0>))", text)
    text = re.sub(r"\[, ([^\]]*)\]", r" (`,` \1^)?", text)
    return "`:` " + re.sub(r"(?<=\))(?:, )", " `,` ", text).replace("->", "`->`")


def parse_types(parser: Parser) -> list[Attribute]:
    """Parse a list of types without brackets."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_type(parser))


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print a list of types without brackets."""
    printer.print_list(types, lambda type: print_type(printer, type))


def parse_parameters(parser: Parser) -> list[Parser.Argument]:
    """Parse the parameters of an entry, or the arguments of a block: `(%x: tile<f32>, ...)`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_parameter(parser)
    )


def _parse_parameter(parser: Parser) -> Parser.Argument:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":")
    parameter = argument.resolve(parse_type(parser))
    parser.parse_optional_location()
    return parameter


def print_parameters(printer: Printer, block: Block) -> None:
    """Print the arguments of a block with their types, in parentheses."""
    with printer.in_parens():
        printer.print_list(block.args, lambda arg: _print_parameter(printer, arg))


def _print_parameter(printer: Printer, argument: Any) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(": ")
    print_type(printer, argument.type)


def end_block(region: Region, end: type[IRDLOperation]) -> Region:
    """Add an operation to the only block of a region, if it has no terminator; return the region.

    A region without blocks gets one."""
    if not region.blocks:
        region.add_block(Block())
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        region.block.add_op(end())
    return region


def print_ended_region(printer: Printer, region: Region, end: type[Operation]) -> None:
    """Print a region without the arguments of its block, and without its terminator if that is
    the one that `end_block` adds."""
    last = region.block.last_op
    implicit = isinstance(last, end) and not (last.operands or last.attributes)
    printer.print_region(region, print_entry_block_args=False, print_block_terminators=not implicit)


@irdl_custom_directive
class Types(CustomDirective):
    """Types, which need no prefix."""

    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        several = isinstance(self.types.inner, VariadicVariable)
        self.types.set(state, parse_types(parser) if several else (parse_type(parser),))

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        print_types(printer, self.types.get(op))

    def is_anchorable(self) -> bool:
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        return bool(self.types.get(op))

    def set_empty(self, state: ParsingState) -> None:
        self.types.set(state, ())


@irdl_custom_directive
class IndexTypes(CustomDirective):
    """`, type` for operands that have all the same, else `, type, type, ...`."""

    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types = parse_types(parser) if parser.parse_optional_punctuation(",") else []
        if len(types) == 1 and isinstance(self.types.inner, VariadicOperandVariable):
            types *= len(state.operands[self.types.inner.index] or ())
        self.types.set(state, types)

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        types = self.types.get(op)
        for type in types[:1] if len({*types}) == 1 else types:
            printer.print_string(", ")
            print_type(printer, type)


ENUMERATIONS: dict[str, type[StrEnum]] = {
    "comparison_ordering": ComparisonOrdering,
    "comparison_predicate": ComparisonPredicate,
    "memory_ordering_semantics": MemoryOrderingSemantics,
    "memory_scope": MemoryScope,
    "mode": AtomicRMWMode,
    "signedness": Signedness,
    "signedness_lhs": Signedness,
    "signedness_rhs": Signedness,
    "symbol_visibility": SymbolVisibility,
}
"""The enumerations of properties that are printed as a word."""


@irdl_custom_directive
class Keyword(CustomDirective):
    """The member of an enumeration as a word."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start, word = parser.pos, parser.parse_optional_identifier()
        if word not in (members := [*map(str, ENUMERATIONS[self.value.name])]):
            got = "" if word is None else f", got {word}"
            expected = f"expected {self.value.name}, one of {', '.join(members)}{got}"
            parser.raise_error(expected, start)
        _set_member(self.value, word, state)

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print_member(self.value, printer, state, op)


@irdl_custom_directive
class OptionalKeyword(CustomDirective):
    """The member of an enumeration as a word, unless it is absent or the default."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        members = ENUMERATIONS[self.value.name]
        if (word := next(filter(parser.parse_optional_keyword, members), None)) is not None:
            _set_member(self.value, word, state)

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        default = op.get_irdl_definition().properties[self.value.name].default_value
        if self.value.get(op) not in (None, default):
            _print_member(self.value, printer, state, op)


def _set_member(variable: AttributeVariable, word: str, state: ParsingState) -> None:
    attribute = attribute_of(ENUMERATIONS[variable.name](word))
    assert attribute is not None
    variable.set(state, attribute)


def _print_member(
    variable: AttributeVariable, printer: Printer, state: PrintingState, op: IRDLOperation
) -> None:
    attribute: Any = variable.get(op)
    state.print_whitespace(printer)
    printer.print_string(attribute.data)


@irdl_custom_directive
class Flags(CustomDirective):
    """Two flags in any order, each the name of its unit attribute."""

    first: AttributeVariable
    second: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        flags = {flag.name: flag for flag in (self.first, self.second)}
        while name := next(filter(parser.parse_optional_keyword, flags), None):
            flags.pop(name).set(state, UnitAttr())

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for flag in self.first, self.second:
            if flag.get(op) is not None:
                state.print_whitespace(printer)
                printer.print_string(flag.name)


@irdl_custom_directive
class DenseElements(CustomDirective):
    """A constant, with the type of its tile, which is that of the result."""

    value: AttributeVariable
    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        value, type = parse_elements(parser)
        self.value.set(state, value)
        self.type.set(state, (type,))

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print_elements(self.value, printer, state, op)


@irdl_custom_directive
class DenseElementsOnly(CustomDirective):
    """A constant, with the type of its tile."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, parse_elements(parser)[0])

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print_elements(self.value, printer, state, op)


def _print_elements(
    value: AttributeVariable, printer: Printer, state: PrintingState, op: IRDLOperation
) -> None:
    state.print_whitespace(printer)
    constant = value.get(op)
    assert isa(constant, DenseIntOrFPElementsAttr)
    print_elements(printer, constant)


@irdl_custom_directive
class AssumedPredicate(CustomDirective):
    """The predicate of `assume`, which needs no prefix."""

    predicate: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        for cls in DivByAttr, SameElementsAttr, BoundedAttr:
            if parser.parse_optional_keyword(cls.name.removeprefix("cuda_tile.")):
                return self.predicate.set(state, cls.new(cls.parse_parameters(parser)))
        start = parser.pos
        if (predicate := parser.parse_optional_attribute()) is None:
            parser.raise_error("expected a predicate: div_by, same_elements or bounded", start)
        return self.predicate.set(state, predicate)

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        predicate = self.predicate.get(op)
        assert isinstance(predicate, DivByAttr | SameElementsAttr | BoundedAttr)
        printer.print_string(predicate.name.removeprefix("cuda_tile."))
        predicate.print_parameters(printer)


@irdl_custom_directive
class Inbounds(CustomDirective):
    """`inbounds = [true, false]`, unless nothing is promised."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("inbounds"):
            parser.parse_punctuation("=")
            flags = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_boolean)
            self.value.set(state, DenseArrayBase.from_list(i1, flags))

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        flags: Any = self.value.get(op)
        if flags is not None and any(flags.get_values()):
            state.print_whitespace(printer)
            texts = ["true" if flag else "false" for flag in flags.get_values()]
            printer.print_string(f"inbounds = [{', '.join(texts)}]")


@irdl_custom_directive
class Identities(CustomDirective):
    """The neutral elements of a reduction: `[0xFF800000 : f32]`."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.values.set(state, parser.parse_attribute())

    @of_signature
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        values = self.values.get(op)
        assert isa(values, ArrayAttr[Attribute])
        state.print_whitespace(printer)
        with printer.in_square_brackets():
            printer.print_list(values, lambda value: _print_identity(printer, value))


def _print_identity(printer: Printer, value: Attribute) -> None:
    if not isa(value, FloatAttr):
        return printer.print_attribute(value)
    print_number(printer, value.value.data, value.type)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


@irdl_custom_directive
class ArgumentRegion(CustomDirective):
    """A region after the arguments of its block, in a line of their own."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.region.set(state, parser.parse_region(parse_parameters(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        printer.print_string("\n")
        region = self.region.get(op)
        print_parameters(printer, region.block)
        printer.print_string(" ")
        printer.print_region(region, print_entry_block_args=False)


DIRECTIVES = (
    ArgumentRegion,
    AssumedPredicate,
    DenseElements,
    DenseElementsOnly,
    Flags,
    Identities,
    Inbounds,
    IndexTypes,
    Keyword,
    OptionalKeyword,
    Types,
)
"""The directives of this file, for the formats of operations."""
