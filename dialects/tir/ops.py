"""Functions on buffers, and loops that say how they are to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

from xdsl.dialects.builtin import (
    AnyFloatConstr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import (
    EnumAttribute,
    parse_func_op_like,
)
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
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

__all__ = [
    "CallOp",
    "ForKind",
    "ForKindAttr",
    "ForOp",
    "LikelyOp",
    "OUTPUTS",
    "PrimFuncOp",
    "YieldOp",
    "output_count",
]

OUTPUTS = "tir.outputs"
"""The attribute of a function that says how many of its last parameters are results."""


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of the body of a function or a loop; not written."""

    name = "tir.yield"

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict"


# Functions


class PrimFuncCallable(CallableOpInterface):
    """A call runs the body."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, PrimFuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, PrimFuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return ()


@irdl_op_definition
class PrimFuncOp(IRDLOperation):
    """A function on buffers and numbers, which gives its results in buffers (TVM `PrimFunc`).

    `tir.prim_func @name(%a: memref<4xf32>, %n: index) attributes {...} { ... }`. Parameters are
    memrefs, integers, floats and indices; buffers do not overlap unless `tir.alias` says so.
    Without a body it is a declaration. An allocation lives until the end of its block.
    """

    name = "tir.prim_func"

    body = region_def()
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)

    traits = traits_def(
        IsolatedFromAbove(),
        SymbolOpInterface(),
        PrimFuncCallable(),
    )

    def __init__(
        self,
        name: str,
        inputs: Sequence[Attribute],
        body: Region | None = None,
        *,
        visibility: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        """Without `body` it has a block with the parameters and no operations."""
        super().__init__(
            regions=[Region(Block(arg_types=inputs)) if body is None else body],
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(inputs, []),
                "sym_visibility": None if visibility is None else StringAttr(visibility),
            },
            attributes={} if attributes is None else dict(attributes),
        )

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        """The parameters."""
        return self.body.block.args

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body."""
        return not self.body.blocks

    def verify_(self) -> None:
        if self.function_type.outputs.data:
            raise VerifyException(
                "returns results: a tir.prim_func writes them into buffers, its last parameters"
            )
        for number, type in enumerate(self.function_type.inputs):
            if not is_parameter(type):
                raise VerifyException(
                    f"parameter {number} is {type}: expected a memref, an index or a number"
                )
        output_count(self)
        if self.is_declaration:
            return
        if len(self.body.blocks) > 1:
            raise VerifyException(
                f"has {len(self.body.blocks)} blocks: its control flow is structured, in one block"
            )
        block = self.body.block
        if block.arg_types != self.function_type.inputs.data:
            raise VerifyException(
                f"the block has parameters ({', '.join(map(str, block.arg_types))}), but the "
                f"type says ({', '.join(map(str, self.function_type.inputs))})"
            )
        if not isinstance(block.last_op, YieldOp):
            raise VerifyException("the body does not end with tir.yield")

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        visibility = parser.parse_optional_visibility_keyword()
        pos = parser.pos
        name, inputs, outputs, region, attributes, arg_attrs, _ = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type", "sym_visibility")
        )
        if outputs:
            parser.raise_error(
                "a tir.prim_func returns no results: it writes them into buffers", pos
            )
        if arg_attrs is not None:
            parser.raise_error("the parameters of a tir.prim_func have no attributes", pos)
        if region.blocks and not isinstance(region.blocks[-1].last_op, YieldOp):
            region.blocks[-1].add_op(YieldOp())
        return cls(
            name,
            inputs,
            region,
            visibility=None if visibility is None else visibility.data,
            attributes={} if attributes is None else attributes.data,
        )

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        if self.is_declaration:
            printer.print_list(self.function_type.inputs, printer.print_attribute)
        else:
            printer.print_list(self.args, printer.print_block_argument)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            print_body(printer, self.body)


def output_count(func: PrimFuncOp | FuncOp) -> int:
    """How many of the last parameters are results, as `tir.outputs` says, 0 without it;
    VerifyException if there are not so many buffers."""
    count = func.attributes.get(OUTPUTS)
    if count is None:
        return 0
    if not isinstance(count, IntegerAttr) or count.value.data < 0:
        raise VerifyException(f"{OUTPUTS} is {count}: expected how many parameters are results")
    inputs = func.function_type.inputs.data
    number = count.value.data
    buffers = sum(1 for _ in takewhile(lambda t: isinstance(t, MemRefType), reversed(inputs)))
    if number > buffers:
        raise VerifyException(
            f"{OUTPUTS} is {count}: expected at most {buffers}, as its last parameters are "
            f"({', '.join(map(str, inputs[-number:]))})"
        )
    return number


def is_parameter(type: Attribute) -> bool:
    """Whether a function takes values of the type: a buffer, an index or a number."""
    return isinstance(type, MemRefType | IndexType | IntegerType) or AnyFloatConstr.verifies(type)


def print_body(printer: Printer, body: Region) -> None:
    """Print the body of a function or loop, whose arguments stand before it."""
    block = body.blocks[0]
    end = block.last_op
    # Without arguments, and empty, it would be read as no body
    told = end is None or bool(end.attributes) or not block.args and block.first_op is end
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=told,
    )


class CallSymbolUse(SymbolUserOpInterface):
    """The callee is a tir.prim_func, whose parameters have the types of the operands."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"calls {op.callee}, which is no symbol of the module")
        if not isinstance(callee, PrimFuncOp):
            raise VerifyException(f"calls {op.callee}, which is a '{callee.name}'")
        if callee.function_type.inputs.data != op.operand_types:
            raise VerifyException(
                f"gives {op.callee} ({', '.join(map(str, op.operand_types))}), "
                f"but it takes ({', '.join(map(str, callee.function_type.inputs))})"
            )


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call of a function on buffers: `tir.call @f(%a, %n) : memref<4xf32>, index`."""

    name = "tir.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()

    traits = traits_def(CallSymbolUse())

    assembly_format = "$callee `(` $arguments `)` attr-dict (`:` type($arguments)^)?"

    def __init__(self, callee: str | SymbolRefAttr, arguments: Sequence[SSAValue | Operation]):
        super().__init__(
            operands=[arguments],
            properties={"callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee},
        )


# Loops


class ForKind(StrEnum):
    """How the iterations of a loop are run."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"


@irdl_attr_definition
class ForKindAttr(EnumAttribute[ForKind], SpacedOpaqueSyntaxAttribute):
    """How the iterations of a loop are run."""

    name = "tir.for_kind"


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over `min`, ..., `min + extent - 1` (TVM `For`).

    `tir.for %i = %min extent %n { ... }`, with its kind before the variable unless it is serial:
    `tir.for vectorized %i = ...`, `tir.for thread_binding "threadIdx.x" %i = ...`; annotations,
    which are attributes, as `attributes {...}` before the body. An extent of 0 or less: no
    iteration. Iterations of a parallel, vectorized or thread-bound loop do not depend on each
    other.
    """

    name = "tir.for"

    min = operand_def(IndexType)
    extent = operand_def(IndexType)
    kind = prop_def(ForKindAttr, default_value=ForKindAttr(ForKind.SERIAL))
    thread_tag = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

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
        """Without `body` it has a block with the variable and no operations."""
        super().__init__(
            operands=[min, extent],
            regions=[Region(Block(arg_types=[IndexType()])) if body is None else body],
            properties={
                "kind": ForKindAttr(kind),
                "thread_tag": None if thread_tag is None else StringAttr(thread_tag),
            },
            attributes={} if attributes is None else dict(attributes),
        )

    @property
    def variable(self) -> BlockArgument:
        """The index that runs."""
        return self.body.block.args[0]

    @property
    def for_kind(self) -> ForKind:
        """How the iterations are run."""
        return self.kind.data

    def verify_(self) -> None:
        types = self.body.block.arg_types
        if types != (IndexType(),):
            raise VerifyException(
                f"the block has parameters ({', '.join(map(str, types))}): expected one index"
            )
        bound = self.for_kind is ForKind.THREAD_BINDING
        if bound and self.thread_tag is None:
            raise VerifyException('is bound to no thread: expected a tag such as "threadIdx.x"')
        if not bound and self.thread_tag is not None:
            raise VerifyException(f"a {self.for_kind} loop has no thread, but {self.thread_tag}")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        word = parser.parse_optional_keyword_in({kind.value for kind in ForKind})
        kind = ForKind.SERIAL if word is None else ForKind(word)
        thread_tag = parser.parse_optional_str_literal()
        start = parser.pos
        if (other := parser.parse_optional_identifier()) is not None:
            kinds = [kind.value for kind in ForKind]
            nearest = get_close_matches(other, kinds, 1)
            hint = f"did you mean '{nearest[0]}'?" if nearest else f"expected {', '.join(kinds)}"
            parser.raise_error(f"there is no kind of loop '{other}', {hint}", start)
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
    """A condition that holds most of the time (TVM `likely`): `tir-loop-partition` splits loops so
    that it need not be asked in the greatest part.
    """

    name = "tir.likely"

    condition = operand_def(i1)
    res = result_def(i1)

    traits = traits_def(Pure())

    assembly_format = "$condition attr-dict"

    def __init__(self, condition: SSAValue | Operation):
        super().__init__(operands=[condition], result_types=[i1])
