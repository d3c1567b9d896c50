"""Loops that say how their iterations run, and conditions in them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import IndexType, StringAttr, i1
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    Region,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    MemoryWriteEffect,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ...passmanager.ir.loops import EachRegionLoops
from ...passmanager.ir.structured_flow import ParallelFlow
from ...passmanager.releases.attributes import EnumAttribute
from ..signature import of_signature

__all__ = ["AssumeOp", "ForKind", "ForKindAttr", "ForOp", "LikelyOp", "YieldOp", "print_body"]


# The body of a function or loop: its terminator and its syntax.


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of the body of a function or loop; its text omits it."""

    name = "tir.yield"

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict"


def print_body(printer: Printer, body: Region) -> None:
    """Print the body of a function or loop, whose arguments are printed before it."""
    block = body.blocks[0]
    end = block.last_op
    # `{}` without block arguments is parsed as a region without blocks.
    prints_end = end is None or bool(end.attributes) or (not block.args and block.first_op is end)
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=prints_end,
    )


class ForKind(StrEnum):
    """The ways in which the iterations of a loop run."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"


@irdl_attr_definition
class ForKindAttr(EnumAttribute[ForKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a loop, as an attribute."""

    name = "tir.for_kind"


# One attribute of each kind: the verifier recognizes operations that it knows by their identity.
_KINDS = {kind: ForKindAttr(kind) for kind in ForKind}
_INDEX = IndexType()


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over `min`, ..., `min + extent - 1` (TVM `For`).

        tir.for %i = %min extent %n { ... }
        tir.for vectorized %i = %min extent %n attributes {...} { ... }
        tir.for thread_binding "threadIdx.x" %i = %min extent %n { ... }

    A loop without a kind is serial. An extent of 0 or less means no iterations. The iterations of
    a parallel, vectorized or thread-bound loop do not depend on each other. Attributes are
    annotations for passes (TVM's names: `pragma_...`).
    """

    name = "tir.for"

    min = operand_def(IndexType)
    extent = operand_def(IndexType)
    kind = prop_def(ForKindAttr, default_value=ForKindAttr(ForKind.SERIAL))
    thread_tag = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(
        SingleBlockImplicitTerminator(YieldOp),
        RecursiveMemoryEffect(),
        EachRegionLoops(),
        ParallelFlow({"tir.yield": 0}),
    )

    def __init__(
        self,
        min: SSAValue | Operation,
        extent: SSAValue | Operation,
        body: Region | None = None,
        kind: ForKind = ForKind.SERIAL,
        *,
        thread_tag: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        """Without `body` the loop gets one block: its variable, and no operations."""
        properties: dict[str, Attribute] = {"kind": _KINDS[kind]}
        if thread_tag is not None:
            properties["thread_tag"] = StringAttr(thread_tag)
        # Not the constructor of IRDLOperation, which takes most of the time to build a kernel.
        Operation.__init__(
            self,
            operands=[SSAValue.get(min), SSAValue.get(extent)],
            regions=[Region(Block(arg_types=[_INDEX])) if body is None else body],
            properties=properties,
            attributes={} if attributes is None else dict(attributes),
        )

    @property
    def variable(self) -> BlockArgument:
        """The loop variable."""
        return self.body.block.args[0]

    @property
    def for_kind(self) -> ForKind:
        """The kind of the loop, without the attribute around it."""
        return self.kind.data

    @of_signature
    def verify_(self) -> None:
        types = self.body.block.arg_types
        if types != (IndexType(),):
            raise VerifyException(
                f"the block has arguments ({', '.join(map(str, types))}): expected one index"
            )
        bound = self.for_kind is ForKind.THREAD_BINDING
        if bound and self.thread_tag is None:
            raise VerifyException('has no thread tag: expected one such as "threadIdx.x"')
        if not bound and self.thread_tag is not None:
            raise VerifyException(
                f"a {self.for_kind} loop takes no thread tag, but has {self.thread_tag}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        given = (kind for kind in ForKind if parser.parse_optional_keyword(kind.value))
        kind = next(given, ForKind.SERIAL)
        thread_tag = parser.parse_optional_str_literal()
        start = parser.pos
        if (other := parser.parse_optional_identifier()) is not None:
            kinds = [kind.value for kind in ForKind]
            from difflib import get_close_matches

            nearest = get_close_matches(other, kinds, 1)
            hint = f"did you mean '{nearest[0]}'?" if nearest else f"expected {', '.join(kinds)}"
            parser.raise_error(f"unknown kind of loop '{other}', {hint}", start)
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        pos = parser.pos
        min = parser.parse_unresolved_operand()
        parser.parse_keyword("extent")
        extent = parser.parse_unresolved_operand()
        operands = parser.resolve_operands([min, extent], [IndexType(), IndexType()], pos)
        attributes = parser.parse_optional_attr_dict_with_keyword(("kind", "thread_tag"))
        body = parser.parse_region((variable.resolve(IndexType()),))
        if not isinstance(body.block.last_op, YieldOp):
            body.block.add_op(YieldOp())
        return cls(
            operands[0],
            operands[1],
            body,
            kind,
            thread_tag=thread_tag,
            attributes=None if attributes is None else attributes.data,
        )

    @of_signature
    def print(self, printer: Printer) -> None:
        if self.for_kind is not ForKind.SERIAL:
            printer.print_string(f" {self.for_kind}")
        if self.thread_tag is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.thread_tag.data)
        printer.print_string(" ")
        printer.print_block_argument(self.variable, print_type=False)
        printer.print_string(" = ")
        printer.print_operand(self.min)
        printer.print_string(" extent ")
        printer.print_operand(self.extent)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        print_body(printer, self.body)


@irdl_op_definition
class LikelyOp(IRDLOperation):
    """A condition that holds most of the time (TVM `likely`).

    `tir-loop-partition` splits loops, so that most iterations do not evaluate it.
    """

    name = "tir.likely"

    condition = operand_def(i1)
    res = result_def(i1)

    traits = traits_def(Pure())

    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue | Operation):
        super().__init__(operands=[condition], result_types=[i1])


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """A condition that always holds (TVM `assume`):

        tir.assume %condition

    Passes may rely on it; `tir-remove-assume` removes it. If it does not hold, the program is
    undefined, and the interpreter ends with an error.
    """

    name = "tir.assume"

    condition = operand_def(i1)

    # Passes keep it, as a write to memory that no operation reads.
    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue | Operation):
        super().__init__(operands=[condition])
