"""The custom forms of MLIR's dialect memref that xDSL's has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, NoMemoryEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import have_compatible_shape

from .extended_op import ExtendedOp, extended
from .lists import REDUCTIONS

__all__ = ["extend"]

_ANY_MEMREF = base(MemRefType) | base(UnrankedMemRefType)


def _shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """Return the shape of a buffer, None if it has no rank."""
    type = value.type
    return type.get_shape() if isinstance(type, MemRefType) else None


class RankedOp(ExtendedOp):
    """An operation that xDSL has, or verifies, on buffers of a known rank alone."""

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        ranked = all(not isinstance(value.type, UnrankedMemRefType) for value in operands)
        # A copy of this operation gets its operands later.
        return properties if ranked and operands else None


@irdl_op_definition
class CastOp(ExtendedOp):
    """Convert a buffer to a type that says more or less of its shape and layout."""

    PLAIN: ClassVar = memref.CastOp
    name = "memref.cast"

    traits = memref.CastOp.traits

    source = operand_def(_ANY_MEMREF)
    dest = result_def(_ANY_MEMREF)

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"


@irdl_op_definition
class MemorySpaceCastOp(RankedOp):
    """Convert a buffer to another memory space."""

    PLAIN: ClassVar = memref.MemorySpaceCastOp
    name = "memref.memory_space_cast"

    traits = memref.MemorySpaceCastOp.traits

    source = operand_def(_ANY_MEMREF)
    dest = result_def(_ANY_MEMREF)

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"


@irdl_op_definition
class CopyOp(ExtendedOp):
    """Copy the elements of a buffer to another; xDSL has it on types of equal shapes alone."""

    PLAIN: ClassVar = memref.CopyOp
    name = "memref.copy"

    traits = memref.CopyOp.traits

    source = operand_def(_ANY_MEMREF)
    destination = operand_def(_ANY_MEMREF)

    assembly_format = "$source `,` $destination attr-dict `:` type($source) `to` type($destination)"

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        shapes = {_shape_of(value) for value in operands}
        # A copy of this operation gets its operands later.
        return properties if None not in shapes and len(shapes) == 1 else None

    def verify_(self) -> None:
        if not have_compatible_shape(self.source.type, self.destination.type):
            raise VerifyException("expected source and destination to have compatible shapes")


@irdl_op_definition
class AtomicRMWOp(ExtendedOp):
    """Combine an element of a buffer with a value, and return what it was."""

    PLAIN: ClassVar = memref.AtomicRMWOp
    name = "memref.atomic_rmw"

    value = operand_def()
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    kind = prop_def(IntegerAttr)
    result = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        if (kind := parser.parse_identifier()) not in REDUCTIONS:
            expected = ", ".join(REDUCTIONS)
            parser.raise_error(f"expected one of {expected}", start, start + len(kind))
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer = parser.parse_unresolved_operand()
        square = parser.Delimiter.SQUARE
        indices = parser.parse_comma_separated_list(square, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_function_type()
        types = [*type.inputs.data, *(IndexType() for _ in indices)]
        return cls.create(
            operands=parser.resolve_operands([value, buffer, *indices], types, start),
            result_types=type.outputs.data,
            properties={"kind": IntegerAttr(REDUCTIONS.index(kind), i64)},
            attributes=attributes,
        )


@irdl_op_definition
class RankOp(RankedOp):
    """Return the number of dimensions of a buffer."""

    PLAIN: ClassVar = memref.RankOp
    name = "memref.rank"

    traits = memref.RankOp.traits

    source = operand_def(_ANY_MEMREF)
    rank = result_def(IndexType())

    assembly_format = "$source attr-dict `:` type($source)"


@irdl_op_definition
class ExtractAlignedPointerAsIndexOp(RankedOp):
    """Return the address of the aligned memory of a buffer."""

    PLAIN: ClassVar = memref.ExtractAlignedPointerAsIndexOp
    name = "memref.extract_aligned_pointer_as_index"

    traits = memref.ExtractAlignedPointerAsIndexOp.traits

    source = operand_def(_ANY_MEMREF)
    aligned_pointer = result_def(IndexType())

    assembly_format = "$source attr-dict `:` type($source) `->` type($aligned_pointer)"


@irdl_op_definition
class GlobalOp(ExtendedOp):
    """Define a buffer that exists as long as the program; one without a visibility is public, and
    one without an initial value is defined elsewhere, which xDSL's class does not allow.

    It is printed in generic form: the custom one has the elements without their type.
    """

    PLAIN: ClassVar = memref.GlobalOp
    name = "memref.global"

    traits = memref.GlobalOp.traits

    sym_name = prop_def(StringAttr)
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = opt_prop_def()
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(IntegerAttr)

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        value = properties.get("initial_value")
        known = isinstance(value, DenseIntOrFPElementsAttr | UnitAttr)
        return properties if known and "sym_visibility" in properties else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if (visibility := parser.parse_optional_str_literal()) is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        if parser.parse_optional_keyword("constant") is not None:
            properties["constant"] = UnitAttr()
        properties["sym_name"] = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        if not isinstance(type, MemRefType) or not type.has_static_shape():
            message = f"type should be static shaped memref, but got {type}"
            parser.raise_error(message, start, parser.pos)
        properties["type"] = type
        if parser.parse_optional_punctuation("=") is not None:
            properties["initial_value"] = (
                UnitAttr()
                if parser.parse_optional_keyword("uninitialized") is not None
                else _parse_elements(parser, cast("MemRefType[Attribute]", type))
            )
        attributes = parser.parse_optional_attr_dict()
        if isinstance(alignment := attributes.get("alignment"), IntegerAttr):
            properties["alignment"] = alignment
            del attributes["alignment"]
        return cls.create(properties=properties, attributes=attributes)

    def verify_(self) -> None:
        if not self.type.has_static_shape():
            raise VerifyException(f"type should be static shaped memref, but got {self.type}")


def _parse_elements(parser: Parser, type: MemRefType[Attribute]) -> DenseIntOrFPElementsAttr:
    """Parse a dense constant without a type, which is that of a buffer."""
    if parser.parse_optional_keyword("dense") is None:
        parser.raise_error("expected `uninitialized`, or `dense<...>` with the elements")
    tensor = TensorType(type.get_element_type(), type.get_shape())
    return parser.parse_dense_int_or_fp_elements_attr(cast("TensorType[AnyDenseElement]", tensor))


# Operations that xDSL has not at all


@irdl_op_definition
class ReallocOp(IRDLOperation):
    """Change the size of an allocated buffer of one dimension."""

    name = "memref.realloc"

    source = operand_def(MemRefType)
    size = opt_operand_def(IndexType())
    alignment = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect(), MemoryFreeEffect())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source (`(` $size^ `)`)? attr-dict `:` type($source) `to` type($result)"


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """View a buffer in a shape that is a buffer of sizes."""

    name = "memref.reshape"

    source = operand_def(_ANY_MEMREF)
    shape = operand_def(MemRefType)
    result = result_def(_ANY_MEMREF)

    traits = traits_def(NoMemoryEffect())

    assembly_format = (
        "$source `(` $shape `)` attr-dict `:` "
        "`(` type($source) `,` type($shape) `)` `->` type($result)"
    )


EXTENSION: tuple[type[Operation], ...] = (
    *(
        AtomicRMWOp,
        CastOp,
        CopyOp,
        ExtractAlignedPointerAsIndexOp,
        GlobalOp,
        MemorySpaceCastOp,
        RankOp,
    ),
    *(ReallocOp, ReshapeOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect memref with the classes above."""
    return extended(dialect, EXTENSION)
