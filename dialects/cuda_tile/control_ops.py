"""Control flow: loops, conditions, and the ends of their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FunctionType, UnitAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect, ReturnLike
from xdsl.utils.exceptions import VerifyException

from ...passmanager.ir.text.default_dialect import DefaultDialect
from ..signature import of_signature
from .constraints import SCALAR_BOOL, SCALAR_INT, check_types
from .syntax import end_block, parse_types, print_ended_region, print_types
from .tile_op import CudaTileOp, HasPatterns
from .types import TensorViewType, TileView, parse_type, print_type, scalar


class EndOp(CudaTileOp):
    """An operation that ends a block, with values."""

    arguments = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` custom<Types>(type($arguments)))?"

    def __init__(self, arguments: Sequence[SSAValue] = ()):
        super().__init__(arguments)


@irdl_op_definition
class YieldOp(EndOp):
    """End a block of `if`, `reduce` or `scan` with its results."""

    name = "cuda_tile.yield"

    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    def verify_(self) -> None:
        parent = self.parent_op()
        names = ("cuda_tile.if", "cuda_tile.reduce", "cuda_tile.scan")
        if parent is not None and parent.name not in names:
            raise VerifyException(f"stands in '{parent.name}': expected {', '.join(names)}")


@irdl_op_definition
class ContinueOp(EndOp):
    """End an iteration of a loop with the values for the next."""

    name = "cuda_tile.continue"

    traits = traits_def(IsTerminator())

    def verify_(self) -> None:
        loop = _enclosing(self, (ForOp, LoopOp))
        if isinstance(loop, ForOp | LoopOp):
            check_types("values of continue", loop.initValues.types, self.operand_types)


@irdl_op_definition
class BreakOp(EndOp):
    """End a `loop` with its results."""

    name = "cuda_tile.break"

    traits = traits_def(IsTerminator(), ReturnLike())

    def verify_(self) -> None:
        loop = _enclosing(self, (LoopOp,))
        if loop is not None:
            check_types("values of break", loop.result_types, self.operand_types)


@irdl_op_definition
class ReturnOp(EndOp):
    """End an entry."""

    name = "cuda_tile.return"

    traits = traits_def(IsTerminator(), ReturnLike())

    def verify_(self) -> None:
        parent = self.parent_op()
        while isinstance(parent, IfOp):
            parent = parent.parent_op()
        function = None if parent is None else parent.properties.get("function_type")
        if parent is not None and not isinstance(function, FunctionType):
            raise VerifyException(f"stands in '{parent.name}': expected an entry, or an if in one")
        if isinstance(function, FunctionType):
            check_types("values of return", function.outputs.data, self.operand_types)


def _enclosing(op: Operation, loops: tuple[type[Operation], ...]) -> Operation | None:
    """Return the loop that a terminator ends, through ifs; None if the op is detached."""
    parent = op.parent_op()
    while isinstance(parent, IfOp):
        parent = parent.parent_op()
    if parent is not None and not isinstance(parent, loops):
        names = " or ".join(f"'{loop.name}'" for loop in loops)
        raise VerifyException(f"stands in '{parent.name}': expected {names}, or ifs in one")
    return parent


def _check_no_views(types: Sequence[Attribute]) -> None:
    """Check that no branch decides which view a value is."""
    for type in types:
        if isinstance(type, TensorViewType | TileView):
            raise VerifyException(f"a view is no value of a loop or if, got {type}")


class Carried:
    """The values that iterations hand on, in the text of a loop: names with values, then types."""

    def __init__(self, parser: Parser) -> None:
        """Parse `iter_values(%name = %value, ...)`, if there is one."""
        self._parser = parser
        self.types: list[Attribute] = []
        self.names: list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = []
        if parser.parse_optional_keyword("iter_values"):
            self.names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, self._parse_pair)

    def _parse_pair(self) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
        name = self._parser.parse_argument(expect_type=False)
        self._parser.parse_punctuation("=")
        return name, self._parser.parse_unresolved_operand()

    def arguments(self) -> list[Parser.Argument]:
        """Return the arguments of the block."""
        if (expected := len(self.names)) != (got := len(self.types)):
            self._parser.raise_error(f"expected {expected} types of iter_values, got {got}")
        return [name.resolve(type) for (name, _), type in zip(self.names, self.types)]

    def initial(self) -> list[SSAValue]:
        """Return the first values."""
        resolve = self._parser.resolve_operand
        return [resolve(value, type) for (_, value), type in zip(self.names, self.types)]


def _print_carried(
    printer: Printer, arguments: Sequence[SSAValue], values: Sequence[SSAValue]
) -> None:
    printer.print_string(" iter_values")
    with printer.in_parens():
        printer.print_list(zip(arguments, values), lambda pair: _print_pair(printer, *pair))


def _print_pair(printer: Printer, argument: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_operand(value)


@irdl_op_definition
class ForOp(CudaTileOp):
    """Repeat from `lowerBound` to `upperBound`, exclusive, by `step`, which is positive.

    The block of `region` has the variable of the loop, then the values that iterations hand on:
    `initValues` first, then what `continue` gives; the results are the last of them. Integers are
    signed, but with `unsignedCmp`.
    """

    name = "cuda_tile.for"

    T: ClassVar = VarConstraint("T", SCALAR_INT)
    lowerBound = operand_def(T)
    upperBound = operand_def(T)
    step = operand_def(T)
    initValues = var_operand_def()
    unsignedCmp = opt_prop_def(UnitAttr)
    resultValues = var_result_def()
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect(), HasPatterns())

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        variable = parser.parse_argument(expect_type=False)
        parser.parse_keyword("in")
        with parser.in_parens():
            bounds = [parser.parse_unresolved_operand()]
            parser.parse_keyword("to")
            bounds.append(parser.parse_unresolved_operand())
            parser.parse_punctuation(",")
            parser.parse_keyword("step")
            bounds.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(":")
        type, values = parse_type(parser), Carried(parser)
        if values.names:
            parser.parse_punctuation("->")
            with parser.in_parens():
                values.types = parse_types(parser)
        operands = [*(parser.resolve_operand(bound, type) for bound in bounds), values.initial()]
        region = parser.parse_region([variable.resolve(type), *values.arguments()])
        end_block(region, ContinueOp)
        op = cls(*operands, types=[values.types], regions=[region], unsignedCmp=unsigned)
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        variable, *values = self.region.block.args
        printer.print_string(" unsigned " if self.unsignedCmp else " ")
        printer.print_ssa_value(variable)
        bounds = (self.lowerBound, self.upperBound, self.step)
        for word, bound in zip((" in (", " to ", ", step "), bounds):
            printer.print_string(word)
            printer.print_operand(bound)
        printer.print_string(") : ")
        print_type(printer, variable.type)
        if self.initValues:
            _print_carried(printer, values, self.initValues)
            printer.print_string(" -> ")
            with printer.in_parens():
                print_types(printer, self.initValues.types)
        printer.print_string(" ")
        print_ended_region(printer, self.region, ContinueOp)
        printer.print_op_attributes(self.attributes)

    @of_signature
    def verify_(self) -> None:
        if not (arguments := self.region.block.arg_types):
            raise VerifyException("expected a variable as the first argument of the block")
        check_types("variable", [self.lowerBound.type], arguments[:1])
        check_types("arguments", self.initValues.types, arguments[1:])
        check_types("results", self.initValues.types, self.resultValues.types)
        _check_no_views(self.resultValues.types)


@irdl_op_definition
class LoopOp(CudaTileOp):
    """Repeat until a `break`, whose operands are the results. The block of `region` has the
    values that iterations hand on by `continue`."""

    name = "cuda_tile.loop"

    initValues = var_operand_def()
    resultValues = var_result_def()
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect())

    @classmethod
    def parse(cls, parser: Parser) -> LoopOp:
        values = Carried(parser)
        results: list[Attribute] = []
        if values.names:
            parser.parse_punctuation(":")
            values.types = parse_types(parser)
        if parser.parse_optional_punctuation("->" if values.names else ":"):
            results = parse_types(parser)
        initial = values.initial()
        region = end_block(parser.parse_region(values.arguments()), ContinueOp)
        op = cls(initial, types=[results], regions=[region])
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        if self.initValues:
            _print_carried(printer, self.region.block.args, self.initValues)
            printer.print_string(" : ")
            print_types(printer, self.initValues.types)
        if self.resultValues:
            printer.print_string(" -> " if self.initValues else " : ")
            print_types(printer, self.resultValues.types)
        printer.print_string(" ")
        print_ended_region(printer, self.region, ContinueOp)
        printer.print_op_attributes(self.attributes)

    @of_signature
    def verify_(self) -> None:
        check_types("arguments", self.initValues.types, self.region.block.arg_types)
        _check_no_views((*self.initValues.types, *self.resultValues.types))


@irdl_op_definition
class IfOp(CudaTileOp):
    """Run `thenRegion` if the condition is true, else `elseRegion`; results are what it yields."""

    name = "cuda_tile.if"

    condition = operand_def(SCALAR_BOOL)
    outputs = var_result_def()
    thenRegion = region_def("single_block")
    elseRegion = region_def()

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect(), HasPatterns())

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), scalar(i1))
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            with parser.in_parens():
                types = parse_types(parser)
        regions = [end_block(parser.parse_region(), YieldOp), Region()]
        if parser.parse_optional_keyword("else"):
            regions[1] = end_block(parser.parse_region(), YieldOp)
        op = cls(condition, types=[types], regions=regions)
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.condition)
        if self.outputs:
            printer.print_string(" -> ")
            with printer.in_parens():
                print_types(printer, self.outputs.types)
        printer.print_string(" ")
        print_ended_region(printer, self.thenRegion, YieldOp)
        if self.elseRegion.blocks:
            printer.print_string(" else ")
            print_ended_region(printer, self.elseRegion, YieldOp)
        printer.print_op_attributes(self.attributes)

    @of_signature
    def verify_(self) -> None:
        _check_no_views(self.outputs.types)
        if self.outputs and not self.elseRegion.blocks:
            raise VerifyException("has results: expected an else")
        for name, region in ("then", self.thenRegion), ("else", self.elseRegion):
            if len(region.blocks) > 1 or any(block.args for block in region.blocks):
                raise VerifyException(f"{name}: expected one block without arguments")
            end = region.blocks[0].last_op if region.blocks else None
            if isinstance(end, YieldOp):
                check_types(f"values of {name}", self.outputs.types, end.operand_types)
            elif region.blocks and not isinstance(end, BreakOp | ContinueOp | ReturnOp):
                raise VerifyException(f"{name}: expected a block that ends with a terminator")
