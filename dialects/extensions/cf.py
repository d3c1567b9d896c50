"""The custom form of MLIR's dialect cf that xDSL's has not: branch weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    successor_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from .extended_op import ExtendedOp, extended
from .lists import Arguments, parse_arguments, print_arguments

__all__ = ["extend"]


@irdl_op_definition
class ConditionalBranchOp(ExtendedOp):
    """Go to one of two blocks; this class has the branches that say how often each is taken."""

    PLAIN: ClassVar = cf.ConditionalBranchOp
    name = "cf.cond_br"

    cond = operand_def(i1)
    then_arguments = var_operand_def()
    else_arguments = var_operand_def()
    branch_weights = opt_prop_def(DenseArrayBase.constr(i32))
    then_block = successor_def()
    else_block = successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsTerminator())

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        return None if "branch_weights" in properties else properties

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("weights") is not None:
            with parser.in_parens():
                weights = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )
            properties["branch_weights"] = DenseArrayBase.from_list(i32, weights)
        parts: list[tuple[Block, Arguments]] = []
        for _ in range(2):
            parser.parse_punctuation(",")
            parts.append((parser.parse_successor(), parse_arguments(parser)))
        operands: list[SSAValue] = [parser.resolve_operand(condition, i1)]
        for _, arguments in parts:
            operands += parser.resolve_operands(arguments.names, arguments.types, parser.pos)
        sizes = [1, *(len(arguments.names) for _, arguments in parts)]
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        return cls.create(
            operands=operands,
            successors=[block for block, _ in parts],
            properties=properties,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.cond)
        if (weights := self.branch_weights) is not None:
            printer.print_string(f" weights([{', '.join(map(str, weights.get_values()))}])")
        for block, arguments in (
            (self.then_block, self.then_arguments),
            (self.else_block, self.else_arguments),
        ):
            printer.print_string(", ")
            printer.print_block_name(block)
            print_arguments(printer, arguments)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if (weights := self.branch_weights) is not None and len(weights) != 2:
            raise VerifyException(f"expects 2 branch weights, but got {len(weights)}")


EXTENSION: tuple[type[Operation], ...] = (ConditionalBranchOp,)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect cf with the class above."""
    return extended(dialect, EXTENSION)
