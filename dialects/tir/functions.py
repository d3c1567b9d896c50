"""Functions on buffers, and calls of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias, overload

from xdsl.dialects.builtin import (
    AnyFloatConstr,
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import parse_func_op_like, print_func_argument
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    IsolatedFromAbove,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ...passmanager.ir.calls import SymbolCall
from ..numbers import PYTHON, Function, Term, product
from ..sizes import Size
from .loops import YieldOp, print_body

__all__ = [
    "OUTPUTS",
    "CallOp",
    "Extent",
    "PrimFuncOp",
    "Shape",
    "SymbolicExtent",
    "UnknownExtent",
    "extent_of",
    "is_at_most",
    "is_parameter",
    "output_count",
    "size_of",
    "volume",
]


OUTPUTS = "tir.outputs"
"""The attribute of a function with the number of its last parameters that are results."""
RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs")
"""The properties, which are no names of attributes."""


class PrimFuncCallable(CallableOpInterface):
    """The interface by which call graphs and the interpreter see the body of a function."""

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
    """A function on buffers and scalars that writes its results into buffers (TVM `PrimFunc`).

        tir.prim_func @name(%a: memref<4xf32> {...}, %n: index) attributes {...} { ... }

    Parameters are memrefs, integers, floats and indices, and may have attributes. The buffers do
    not overlap, unless the function has the attribute `tir.alias`. A function without a body is a
    declaration. An allocation in the body lives until the end of its block.
    """

    name = "tir.prim_func"

    body = region_def()
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

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
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ):
        """Without `body` the function gets one block: its parameters, and no operations."""
        super().__init__(
            regions=[Region(Block(arg_types=inputs)) if body is None else body],
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(inputs, []),
                "sym_visibility": None if visibility is None else StringAttr(visibility),
                "arg_attrs": arg_attrs,
            },
            attributes={} if attributes is None else dict(attributes),
        )

    @property
    def args(self) -> tuple[BlockArgument, ...]:
        """The parameters."""
        return self.body.block.args

    @property
    def is_declaration(self) -> bool:
        """Return whether the function has no body."""
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
        count = len(self.function_type.inputs)
        if self.arg_attrs is not None and len(self.arg_attrs) != count:
            raise VerifyException(
                f"has attributes for {len(self.arg_attrs)} parameters: expected {count}"
            )
        output_count(self)
        if self.is_declaration:
            return
        if len(self.body.blocks) > 1:
            raise VerifyException(
                f"has {len(self.body.blocks)} blocks: expected one, with structured control flow"
            )
        block = self.body.block
        if block.arg_types != self.function_type.inputs.data:
            raise VerifyException(
                f"the block has arguments ({', '.join(map(str, block.arg_types))}), but the "
                f"function type has inputs ({', '.join(map(str, self.function_type.inputs))})"
            )
        if not isinstance(block.last_op, YieldOp):
            raise VerifyException("the body does not end with tir.yield")

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        visibility = parser.parse_optional_visibility_keyword()
        pos = parser.pos
        name, inputs, outputs, region, attributes, arg_attrs, _ = parse_func_op_like(
            parser, reserved_attr_names=RESERVED
        )
        if outputs:
            parser.raise_error(
                "a tir.prim_func returns no results: it writes them into buffers", pos
            )
        if region.blocks and not isinstance(region.blocks[-1].last_op, YieldOp):
            region.blocks[-1].add_op(YieldOp())
        return cls(
            name,
            inputs,
            region,
            visibility=None if visibility is None else visibility.data,
            attributes={} if attributes is None else attributes.data,
            arg_attrs=arg_attrs,
        )

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        if self.is_declaration:
            printer.print_list(self.function_type.inputs, printer.print_attribute)
        elif self.arg_attrs is None:
            printer.print_list(self.args, printer.print_block_argument)
        else:
            pairs = zip(self.args, self.arg_attrs, strict=True)
            printer.print_list(pairs, lambda pair: print_func_argument(printer, *pair))
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if not self.is_declaration:
            printer.print_string(" ")
            print_body(printer, self.body)


def output_count(func: PrimFuncOp | FuncOp) -> int:
    """Return the number of last parameters of `func` that are results: `tir.outputs`, or 0.

    Raises VerifyException if the attribute is invalid, or exceeds the number of last parameters
    that are buffers.
    """
    count = func.attributes.get(OUTPUTS)
    if count is None:
        return 0
    if not isinstance(count, IntegerAttr) or count.value.data < 0:
        raise VerifyException(f"{OUTPUTS} is {count}: expected the number of result parameters")
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
    """Return whether `type` may be a parameter: a buffer, an index, an integer or a float."""
    return isinstance(type, MemRefType | IndexType | IntegerType) or AnyFloatConstr.verifies(type)


class CallSymbolUse(SymbolUserOpInterface):
    """The check that a callee is a `tir.prim_func` with parameters of the types of the operands."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"calls {op.callee}, which is not a symbol of the module")
        if not isinstance(callee, PrimFuncOp):
            raise VerifyException(f"calls {op.callee}, which is a '{callee.name}'")
        if callee.function_type.inputs.data != op.operand_types:
            raise VerifyException(
                f"passes ({', '.join(map(str, op.operand_types))}) to {op.callee}, "
                f"which takes ({', '.join(map(str, callee.function_type.inputs))})"
            )


@irdl_op_definition
class CallOp(IRDLOperation):
    """A call of a function on buffers: `tir.call @f(%a, %n) : memref<4xf32>, index`."""

    name = "tir.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()

    traits = traits_def(CallSymbolUse(), SymbolCall())

    assembly_format = "$callee `(` $arguments `)` attr-dict (`:` type($arguments)^)?"

    def __init__(self, callee: str | SymbolRefAttr, arguments: Sequence[SSAValue | Operation]):
        super().__init__(
            operands=[arguments],
            properties={"callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee},
        )


# Extents of dimensions and loops: integers, and sizes that are known at run time only.
#
#     n = extent_of(Size.symbol("n"))
#     (n * 4 + 3) % 4     # 3
#     n < n + 1           # True: sizes are at least 0
#     n < 8               # raises UnknownExtent
#
# Arithmetic is exact, and equal expressions are equal extents. A decision at compile time that
# depends on the size raises UnknownExtent.


class UnknownExtent(Exception):
    """Raised where code that is generated depends on a size that is known at run time only."""


@dataclass(frozen=True)
class SymbolicExtent(Term["Extent", "Extent"]):
    """An extent that is known at run time only: an expression of the sizes of parameters."""

    size: Size

    def apply(self, function: Function, a: Extent, b: Extent) -> Extent:
        """Return a function of two extents. The divisor is a positive integer, or a factor of the
        dividend."""
        if function == "mod":
            return a - a // b * b
        if function != "floordiv":
            return extent_of(PYTHON[function](size_of(a), size_of(b)))
        if isinstance(b, int):
            return extent_of(size_of(a) // b)
        if (quotient := size_of(a).divided_exactly(b.size)) is None:
            raise UnknownExtent(f"{a} divided by {b}")
        return extent_of(quotient)

    # Decisions

    def __lt__(self, other: Extent) -> bool:
        if _at_least(other, self + 1):
            return True
        if _at_least(self, other):
            return False
        raise UnknownExtent(f"whether {self} < {other}")

    def __le__(self, other: Extent) -> bool:
        return self < other + 1

    def __gt__(self, other: Extent) -> bool:
        return not self <= other

    def __ge__(self, other: Extent) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return self > 0

    def __index__(self) -> int:
        raise UnknownExtent(f"the size {self} as a number")

    def __str__(self) -> str:
        return str(self.size)


Extent: TypeAlias = int | SymbolicExtent
Shape: TypeAlias = tuple[Extent, ...]
SymbolicExtent.partners = (int, SymbolicExtent)


def extent_of(size: Size) -> Extent:
    """Return `size` as an extent: an integer if it is known."""
    return SymbolicExtent(size) if size.known is None else size.known


def is_at_most(lhs: Extent, rhs: Extent) -> bool:
    """Return whether `lhs <= rhs` is known."""
    return _at_least(rhs, lhs)


def size_of(extent: Extent) -> Size:
    """Return an extent as a size, known or not."""
    return Size.of(extent) if isinstance(extent, int) else extent.size


@overload
def volume(extents: Iterable[int]) -> int: ...


@overload
def volume(extents: Iterable[Extent]) -> Extent: ...


def volume(extents: Iterable[Extent]) -> Extent:
    """Return the product of extents: the elements of a tensor of this shape."""
    return product(extents)


def _at_least(a: Extent, b: Extent) -> bool:
    """Return whether a >= b for all sizes."""
    low = (size_of(a) - size_of(b)).low
    return low is not None and low >= 0
