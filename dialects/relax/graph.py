"""Graphs, tuples and annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import FileLineColLoc, TupleType
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    BaseAttr,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
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
from ...passmanager.ir.structured_flow import StructuredFlow
from .attributes import int_prop
from .base import RelaxOp, TensorOp
from .closures import check_terminator, parse_body, parse_results, print_body
from .interfaces import AlongAxes, FusionKind, FusionPattern
from .types import refine, tuple_type

__all__ = ["GraphOp", "MatchCastOp", "OutputOp", "StopFusionOp", "TupleGetItemOp", "TupleOp"]


# Dataflow graphs, whose operations may stand in any order.


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
            StructuredFlow({"relax.output": 0}),
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


# Tuples of values, and casts of values to another type.


TUPLE = BaseAttr(TupleType)


@irdl_op_definition
class TupleOp(FusionPattern, TensorOp):
    """A tuple of values, which may themselves be tuples or functions (`relax.Tuple`)."""

    name = "relax.tuple"

    fields = var_operand_def()
    result = result_def(TUPLE)

    def infer_types(self) -> Sequence[Attribute]:
        return (tuple_type(self.operand_types),)

    def fusion_kind(self) -> FusionKind:
        return FusionKind.TUPLE


@irdl_op_definition
class TupleGetItemOp(FusionPattern, TensorOp, HasFolderInterface):
    """The element of a tuple at a constant index, which counts from 0 (`relax.TupleGetItem`)."""

    name = "relax.tuple_get_item"

    tuple = operand_def(TUPLE)
    index = int_prop()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        if not isinstance(type := self.tuple.type, TupleType):
            raise VerifyException(f"expected a tuple, got {type}")
        index, count = self.index, len(type.types)
        if not 0 <= index < count:
            raise VerifyException(f"index {index} is out of bounds of {type}, which has {count}")
        return (type.types.data[index],)

    def fusion_kind(self) -> FusionKind:
        return FusionKind.TUPLE

    def element(self) -> SSAValue | None:
        """Return the operand of the `relax.tuple` that defines the tuple, if its type matches."""
        if not isinstance(owner := self.tuple.owner, TupleOp):
            return None
        value = owner.operands[self.index]
        return value if value.type == self.result.type else None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return None if (value := self.element()) is None else (value,)


@irdl_op_definition
class MatchCastOp(AlongAxes, TensorOp, HasFolderInterface):
    """A cast of a value to a more or a less precise type (`relax.MatchCast`).

    Like `tensor.cast`, but also for tuples and functions. Nothing is checked at run time.
    """

    name = "relax.match_cast"
    FROM_SIGNATURE: ClassVar = False  # the declared type is an input of the inference

    value = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        if refine(self.result.type, self.value.type) is None:
            raise VerifyException(f"cannot cast {self.value.type} to {self.result.type}")
        return (self.result.type,)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return (self.value,) if self.value.type == self.result.type else None


# Annotations of values: operations that return their operand and carry a hint for passes.


@irdl_op_definition
class StopFusionOp(AlongAxes, TensorOp):
    """A value that is not fused with its users (`relay.annotation.stop_fusion`)."""

    name = "relax.stop_fusion"

    input = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        return (self.input.type,)
