"""Dataflow graphs, whose operations stand in any order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    FileLineColLoc,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    irdl_op_definition,
    lazy_traits_def,
    region_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from .base import RelaxOp
from .ordering import find_cycle
from .region_syntax import check_end, parse_body, parse_results, print_body

__all__ = ["GraphOp", "OutputOp"]


def place(op: Operation) -> str:
    """Where an operation stands, for a message."""
    if not isinstance(location := op.location, FileLineColLoc):
        return ""
    return f" at {location.filename.data}:{location.line.data}:{location.column.data}"


@irdl_op_definition
class GraphOp(RelaxOp):
    """A dataflow graph: a region whose operations stand in any order, and are computed each after
    those that it depends on, otherwise as written.

    `%r = relax.graph -> type { ... relax.output %0 : type }`. It may use values from above.
    """

    name = "relax.graph"

    body = region_def("single_block")
    res = var_result_def()

    traits = lazy_traits_def(
        lambda: (
            RecursiveMemoryEffect(),
            RecursivelySpeculatable(),
            SingleBlockImplicitTerminator(OutputOp),
        )
    )

    def __init__(self, body: Region | Block, results: Sequence[Attribute]):
        region = body if isinstance(body, Region) else Region(body)
        super().__init__(regions=[region], result_types=[results])

    def has_ssa_dominance(self, region_index: int) -> bool:
        """Whether a definition has to come before its uses: never."""
        return False

    def verify_(self) -> None:
        if self.body.block.args:
            raise VerifyException("takes no arguments, but its region does")
        check_end(self.body.block.last_op, self.res.types)
        if (op := find_cycle(self.body.block)) is not None:
            raise VerifyException(f"has a cycle: '{op.name}'{place(op)} depends on its own result")

    @classmethod
    def parse(cls, parser: Parser) -> GraphOp:
        results = parse_results(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parse_body(parser, (), OutputOp), results)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        print_body(printer, self, self.body, self.res.types)


@irdl_op_definition
class OutputOp(AbstractYieldOperation[Attribute]):
    """What a `relax.graph` gives."""

    name = "relax.output"

    traits = traits_def(HasParent(GraphOp), IsTerminator(), Pure())
