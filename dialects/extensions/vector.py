"""Operations of MLIR's dialect vector that xDSL's lacks, or of which it reads a part alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Data, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .extended_op import ExtendedOp, extended

__all__ = ["extend"]


def parse_numbers(parser: Parser) -> DenseArrayBase[IntegerType]:
    """Parse a list of integers, `[1, 2]`."""
    square = parser.Delimiter.SQUARE
    return DenseArrayBase.from_list(
        i64, parser.parse_comma_separated_list(square, parser.parse_integer)
    )


def print_numbers(printer: Printer, numbers: DenseArrayBase[IntegerType]) -> None:
    """Print a list of integers."""
    printer.print_string(f"[{', '.join(map(str, numbers.get_values()))}]")


# Shapes


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """Change the shape of a vector, not the order of its elements."""

    name = "vector.shape_cast"

    source = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Permute the dimensions of a vector."""

    name = "vector.transpose"

    source = operand_def(VectorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        permutation = parse_numbers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_keyword("to")
        return cls.create(
            operands=[parser.resolve_operand(operand, type)],
            result_types=[parser.parse_type()],
            properties={"permutation": permutation},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(", ")
        print_numbers(printer, self.permutation)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, VectorType) and isinstance(result, VectorType)
        shape, order = source.get_shape(), self.permutation.get_values()
        if sorted(order) != [*range(len(shape))]:
            raise VerifyException(f"expected a permutation of {len(shape)} dimensions")
        if [*result.get_shape()] != [shape[place] for place in order]:
            raise VerifyException("the result has not the permuted shape of the operand")


@irdl_op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """Return a part of a vector, of the same rank."""

    name = "vector.extract_strided_slice"

    source = operand_def(VectorType)
    offsets = prop_def(ArrayAttr)
    sizes = prop_def(ArrayAttr)
    strides = prop_def(ArrayAttr)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"


@irdl_op_definition
class InsertStridedSliceOp(IRDLOperation):
    """Return a vector with a part replaced by another vector."""

    name = "vector.insert_strided_slice"

    T: ClassVar = VarConstraint("T", base(VectorType))

    value = operand_def(VectorType)
    dest = operand_def(T)
    offsets = prop_def(ArrayAttr)
    strides = prop_def(ArrayAttr)
    result = result_def(T)

    traits = traits_def(Pure())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$value `,` $dest attr-dict `:` type($value) `into` type($dest)"


@irdl_op_definition
class InterleaveOp(IRDLOperation):
    """Return the elements of two vectors in turn."""

    name = "vector.interleave"

    T: ClassVar = VarConstraint("T", base(VectorType))

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"


@irdl_op_definition
class DeinterleaveOp(IRDLOperation):
    """Return the elements of a vector at even, and those at odd places."""

    name = "vector.deinterleave"

    T: ClassVar = VarConstraint("T", base(VectorType))

    source = operand_def(VectorType)
    even = result_def(T)
    odd = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($even)"


# Elements


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """Make a vector of scalars."""

    name = "vector.from_elements"

    elements = var_operand_def()
    dest = result_def(VectorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = _parse_vector_type(parser)
        names = names or []
        types = [type.element_type] * len(names)
        return cls.create(
            operands=parser.resolve_operands(names, types, parser.pos),
            result_types=[type],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.dest.type)

    def verify_(self) -> None:
        _verify_elements(self.dest.type, [value.type for value in self.elements])


@irdl_op_definition
class ToElementsOp(IRDLOperation):
    """Return the elements of a vector."""

    name = "vector.to_elements"

    source = operand_def(VectorType)
    elements = var_result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = _parse_vector_type(parser)
        return cls.create(
            operands=[parser.resolve_operand(operand, type)],
            result_types=[type.element_type] * type.element_count(),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)

    def verify_(self) -> None:
        _verify_elements(self.source.type, [*self.result_types])


def _parse_vector_type(parser: Parser) -> VectorType[Attribute]:
    """Parse the type of a vector."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, VectorType):
        parser.raise_error(f"expected a vector type, but found {type}", start, parser.pos)
    return cast("VectorType[Attribute]", type)


def _verify_elements(type: Attribute, elements: Sequence[Attribute]) -> None:
    """Raise VerifyException if a vector type is not that of elements of these types."""
    assert isinstance(type, VectorType)
    vector_type = cast("VectorType[Attribute]", type)
    expected = [vector_type.element_type] * vector_type.element_count()
    if [*elements] != expected:
        raise VerifyException(f"expected {len(expected)} elements of {vector_type.element_type}")


@irdl_op_definition
class StepOp(IRDLOperation):
    """Return the numbers from 0 on."""

    name = "vector.step"

    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class VscaleOp(IRDLOperation):
    """Return the factor of the scalable dimensions of vectors."""

    name = "vector.vscale"

    res = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "attr-dict"


@irdl_op_definition
class ConstantMaskOp(IRDLOperation):
    """Return a mask of which the first elements in each dimension are true."""

    name = "vector.constant_mask"

    mask_dim_sizes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        sizes = parse_numbers(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()],
            properties={"mask_dim_sizes": sizes},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_numbers(printer, self.mask_dim_sizes)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Combine the elements of a vector along dimensions with those of an accumulator."""

    name = "vector.multi_reduction"

    kind = prop_def(vector.CombiningKindAttr)
    source = operand_def(VectorType)
    acc = operand_def()
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    dest = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = vector.CombiningKindAttr(vector.CombiningKindAttr.parse_parameter(parser))
        operands: list[UnresolvedOperand] = []
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        dims = parse_numbers(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [type, result], parser.pos),
            result_types=[result],
            properties={"kind": kind, "reduction_dims": dims},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.kind.print_parameter(printer)
        printer.print_string(", ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        print_numbers(printer, self.reduction_dims)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.dest.type)

    def verify_(self) -> None:
        if self.acc.type != self.dest.type:
            raise VerifyException("requires its accumulator and its result to have the same type")


# Printing


class Punctuation(StrEnum):
    """What `vector.print` writes after a value, or alone."""

    NO_PUNCTUATION = "no_punctuation"
    NEWLINE = "newline"
    COMMA = "comma"
    OPEN = "open"
    CLOSE = "close"


@irdl_attr_definition
class PunctuationAttr(Data[Punctuation]):
    """The punctuation of a `vector.print`."""

    name = "vector.punctuation"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Punctuation:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(Punctuation)


@irdl_op_definition
class PrintOp(ExtendedOp):
    """Print a value, a text or punctuation; xDSL's class prints a value and the end of the line."""

    PLAIN: ClassVar = vector.PrintOp
    name = "vector.print"

    source = opt_operand_def()
    punctuation = opt_prop_def(PunctuationAttr)
    string_literal = opt_prop_def(StringAttr, prop_name="stringLiteral")

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        newline = PunctuationAttr(Punctuation.NEWLINE)
        given = {**properties, "punctuation": properties.get("punctuation", newline)}
        return {} if operands and given == {"punctuation": newline} else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        operand = parser.parse_optional_unresolved_operand()
        values: list[SSAValue] = []
        if operand is not None:
            parser.parse_punctuation(":")
            values = [parser.resolve_operand(operand, parser.parse_type())]
        if parser.parse_optional_keyword("str") is not None:
            properties["stringLiteral"] = StringAttr(parser.parse_str_literal())
        if parser.parse_optional_keyword("punctuation") is not None:
            properties["punctuation"] = PunctuationAttr(PunctuationAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(operands=values, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.source is not None:
            printer.print_string(" ")
            printer.print_ssa_value(self.source)
            printer.print_string(" : ")
            printer.print_attribute(self.source.type)
        if self.string_literal is not None:
            printer.print_string(" str ")
            printer.print_attribute(self.string_literal)
        if self.punctuation is not None:
            printer.print_string(" punctuation ")
            self.punctuation.print_parameter(printer)
        printer.print_op_attributes(self.attributes)


EXTENSION: tuple[type[Operation], ...] = (
    *(ConstantMaskOp, DeinterleaveOp, ExtractStridedSliceOp, FromElementsOp),
    *(InsertStridedSliceOp, InterleaveOp, MultiReductionOp, PrintOp, ShapeCastOp, StepOp),
    *(ToElementsOp, TransposeOp, VscaleOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect vector with the operations above."""
    return extended(dialect, EXTENSION, [PunctuationAttr])
