"""Dataflow graphs, whose operations may stand in any order."""

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

from ...passmanager.ir.ordering import find_cycle
from .base import RelaxOp
from .region_syntax import check_terminator, parse_body, parse_results, print_body

__all__ = ["GraphOp", "OutputOp"]


def location_text(op: Operation) -> str:
    """Return the source location of an operation for a message, empty if unknown."""
    if not isinstance(location := op.location, FileLineColLoc):
        return ""
    return f" at {location.filename.data}:{location.line.data}:{location.column.data}"


@irdl_op_definition
class GraphOp(RelaxOp):
    """A dataflow graph: a graph region, whose operations are computed in topological order.

    `%r = relax.graph -> type { ... relax.output %0 : type }`. The body may use values from above.
    Operations that do not depend on each other are computed in the order of the text.
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
        """Return False: a definition need not come before its uses (MLIR RegionKind::Graph)."""
        return False

    def verify_(self) -> None:
        if self.body.block.args:
            raise VerifyException("takes no arguments, but its region does")
        check_terminator(self.body.block.last_op, self.res.types)
        if (op := find_cycle(self.body.block)) is not None:
            raise VerifyException(
                f"has a cycle: '{op.name}'{location_text(op)} depends on its own result"
            )

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
    """The terminator of a `relax.graph`, with its results."""

    name = "relax.output"

    traits = traits_def(HasParent(GraphOp), IsTerminator(), Pure())
