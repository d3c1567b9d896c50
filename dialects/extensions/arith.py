"""Operations of MLIR's dialect arith that xDSL lacks, or has for scalars or without flags alone."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    UnrankedTensorType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

from .extended_op import ExtendedOp, extended

__all__ = ["extend"]

_SHAPED = (VectorType, TensorType, UnrankedTensorType)

ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""The rounding modes of MLIR, each at its number."""

_NO_FLAGS: Mapping[str, Attribute] = {
    "overflowFlags": arith.IntegerOverflowAttr("none"),
    "fastmath": arith.FastMathFlagsAttr("none"),
}
"""The flags that say nothing, by property."""


class ShapedOp(ExtendedOp, ABC):
    """An operation that xDSL has without flags alone, and, unless `SCALARS` is false, for scalars
    alone."""

    SCALARS: ClassVar[bool] = True

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        if not operands or (cls.SCALARS and isinstance(operands[0].type, _SHAPED)):
            return None
        known = cls.PLAIN.get_irdl_definition().properties
        kept = {
            name: value
            for name, value in properties.items()
            if name in known or value != _NO_FLAGS.get(name)
        }
        return kept if kept.keys() <= known.keys() else None


# Conversions


class ConversionOp(ShapedOp, ABC):
    """A conversion of a scalar, or of all elements of a vector or tensor."""

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    FLAGS: ClassVar[tuple[str, ...]] = ()
    """The properties, in the order in which they are written."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        properties = parse_flags(parser, cls.FLAGS)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, type)],
            result_types=[result],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.input)
        print_flags(printer, self)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, target = self.input.type, self.result.type
        if not have_compatible_shape(source, target):
            raise VerifyException("requires the same shape for all operands and results")
        kinds = get_element_type_or_self(source), get_element_type_or_self(target)
        self.verify_elements(*kinds)

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        """Raise VerifyException if elements of a type cannot be converted to another."""


def _expect(kind: type[Attribute] | type[AnyFloat], type: Attribute, where: str) -> None:
    """Raise VerifyException if an element type is not of a kind."""
    if not isinstance(type, kind):
        expected = "a float" if kind is AnyFloat else "an integer"
        raise VerifyException(f"expected {expected} as element type of its {where}, but got {type}")


class WideningOp(ConversionOp, ABC):
    """A conversion to a wider integer."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect(IntegerType, source, "operand")
        _expect(IntegerType, target, "result")
        if cast(IntegerType, source).width.data >= cast(IntegerType, target).width.data:
            raise VerifyException("Destination bit-width must be larger than the input bit-width")


class IntegerToFloatOp(ConversionOp, ABC):
    """A conversion of integers to floats."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect(IntegerType, source, "operand")
        _expect(AnyFloat, target, "result")


class FloatToIntegerOp(ConversionOp, ABC):
    """A conversion of floats to integers."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect(AnyFloat, source, "operand")
        _expect(IntegerType, target, "result")


class FloatToFloatOp(ConversionOp, ABC):
    """A conversion between types of floats."""

    SCALARS: ClassVar = False

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect(AnyFloat, source, "operand")
        _expect(AnyFloat, target, "result")


class IndexConversionOp(ConversionOp, ABC):
    """A conversion between integers and indices."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(
                f"operand type {self.input.type} and result type {self.result.type} are cast "
                "incompatible"
            )
        _expect(IntegerType, source if isinstance(target, IndexType) else target, "other type")


@irdl_op_definition
class ExtSIOp(WideningOp):
    """Sign-extend integers."""

    PLAIN: ClassVar = arith.ExtSIOp
    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(WideningOp):
    """Zero-extend integers."""

    PLAIN: ClassVar = arith.ExtUIOp
    name = "arith.extui"


@irdl_op_definition
class TruncIOp(ConversionOp):
    """Truncate integers; with `nsw`, `nuw` the value is known to fit."""

    PLAIN: ClassVar = arith.TruncIOp
    FLAGS: ClassVar = ("overflowFlags",)
    name = "arith.trunci"

    overflow_flags = opt_prop_def(arith.IntegerOverflowAttr, prop_name="overflowFlags")

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect(IntegerType, source, "operand")
        _expect(IntegerType, target, "result")
        if cast(IntegerType, source).width.data <= cast(IntegerType, target).width.data:
            raise VerifyException("Destination bit-width must be smaller than the input bit-width")


@irdl_op_definition
class SIToFPOp(IntegerToFloatOp):
    """Convert signed integers to floats."""

    PLAIN: ClassVar = arith.SIToFPOp
    name = "arith.sitofp"


@irdl_op_definition
class UIToFPOp(IntegerToFloatOp):
    """Convert unsigned integers to floats."""

    PLAIN: ClassVar = arith.UIToFPOp
    name = "arith.uitofp"


@irdl_op_definition
class FPToSIOp(FloatToIntegerOp):
    """Convert floats to signed integers, towards zero."""

    PLAIN: ClassVar = arith.FPToSIOp
    name = "arith.fptosi"


@irdl_op_definition
class FPToUIOp(FloatToIntegerOp):
    """Convert floats to unsigned integers, towards zero."""

    PLAIN: ClassVar = arith.FPToUIOp
    name = "arith.fptoui"


@irdl_op_definition
class ExtFOp(FloatToFloatOp):
    """Convert floats to a wider type."""

    PLAIN: ClassVar = arith.ExtFOp
    FLAGS: ClassVar = ("fastmath",)
    name = "arith.extf"

    fastmath = opt_prop_def(arith.FastMathFlagsAttr)


@irdl_op_definition
class TruncFOp(FloatToFloatOp):
    """Round floats to a narrower type, to the nearest even value unless it says otherwise."""

    PLAIN: ClassVar = arith.TruncFOp
    FLAGS: ClassVar = ("roundingmode", "fastmath")
    name = "arith.truncf"

    roundingmode = opt_prop_def(IntegerAttr)
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)


@irdl_op_definition
class IndexCastOp(IndexConversionOp):
    """Convert between signed integers and indices."""

    PLAIN: ClassVar = arith.IndexCastOp
    name = "arith.index_cast"


@irdl_op_definition
class IndexCastUIOp(IndexConversionOp):
    """Convert between unsigned integers and indices."""

    name = "arith.index_castui"

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        return None  # xDSL has no class of that name


class ScalingOp(IRDLOperation, ABC):
    """A conversion between floats and floats of fewer bits with a scale."""

    input = operand_def()
    scale = operand_def()
    result = result_def()

    fastmath = opt_prop_def(arith.FastMathFlagsAttr)

    traits = traits_def(Pure())

    FLAGS: ClassVar[tuple[str, ...]] = ("fastmath",)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        properties = parse_flags(parser, cls.FLAGS)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
        parser.parse_keyword("to")
        return cls.create(
            operands=parser.resolve_operands(operands, types, parser.pos),
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        print_flags(printer, self)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        for value, where in (*((v, "operands") for v in self.operands), (self.result, "result")):
            _expect(AnyFloat, get_element_type_or_self(value.type), where)
            if not have_compatible_shape(value.type, self.result.type):
                raise VerifyException("requires the same shape for all operands and results")


@irdl_op_definition
class ScalingExtFOp(ScalingOp):
    """Convert floats to a wider type, and multiply them by a scale."""

    name = "arith.scaling_extf"


@irdl_op_definition
class ScalingTruncFOp(ScalingOp):
    """Divide floats by a scale, and round them to a narrower type."""

    name = "arith.scaling_truncf"

    FLAGS: ClassVar = ("roundingmode", "fastmath")

    roundingmode = opt_prop_def(IntegerAttr)


# Flags in custom form


def parse_flags(parser: Parser, flags: Sequence[str]) -> dict[str, Attribute]:
    """Parse those of the named properties that are written, in this order."""
    found: dict[str, Attribute] = {}
    for name in flags:
        if name == "roundingmode":
            modes = (mode for mode in ROUNDING_MODES if parser.parse_optional_keyword(mode))
            if (mode := next(modes, None)) is not None:
                found[name] = IntegerAttr(ROUNDING_MODES.index(mode), i32)
        elif name == "fastmath" and parser.parse_optional_keyword("fastmath"):
            flags_of = arith.FastMathFlagsAttr
            found[name] = flags_of(flags_of.parse_parameter(parser))
        elif name == "overflowFlags" and parser.parse_optional_keyword("overflow"):
            overflow = arith.IntegerOverflowAttr
            found[name] = overflow(overflow.parse_parameter(parser))
    return found


def print_flags(printer: Printer, op: Operation) -> None:
    """Print the flags of an operation that say something, in the order of its class."""
    for name in cast("type[ConversionOp]", type(op)).FLAGS:
        match op.properties.get(name):
            case IntegerAttr() as mode:
                printer.print_string(f" {ROUNDING_MODES[mode.value.data]}")
            case arith.FastMathFlagsAttr() as flags if flags.data:
                printer.print_string(" fastmath")
                flags.print_parameter(printer)
            case arith.IntegerOverflowAttr() as flags if flags.data:
                printer.print_string(" overflow")
                flags.print_parameter(printer)
            case _:
                pass


# Comparisons and selections


def truth(type: Attribute) -> Attribute:
    """Return the type of a comparison of values of a type."""
    match type:
        case VectorType():
            vector = cast("VectorType[Attribute]", type)
            return VectorType(i1, vector.shape, vector.scalable_dims)
        case TensorType():
            tensor = cast("TensorType[Attribute]", type)
            return TensorType(i1, tensor.shape, tensor.encoding)
        case UnrankedTensorType():
            return UnrankedTensorType(i1)
        case _:
            return i1


class CompareOp(ShapedOp, ABC):
    """A comparison of scalars, or of the elements of vectors or tensors."""

    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    PREDICATES: ClassVar[Sequence[str]]
    FLAGS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        # xDSL prints no attributes of comparisons.
        return None if attributes else super().is_plain(operands, properties, attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        predicate = parser.parse_identifier()
        if predicate not in cls.PREDICATES:
            expected = ", ".join(cls.PREDICATES)
            parser.raise_error(
                f"expected a predicate, one of {expected}, but found '{predicate}'",
                start,
                start + len(predicate),
            )
        parser.parse_punctuation(",")
        operands = _parse_operands(parser, 2)
        properties = parse_flags(parser, cls.FLAGS)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        number = IntegerAttr(cls.PREDICATES.index(predicate), i64)
        if "fastmath" in cls.FLAGS:
            properties = {"fastmath": arith.FastMathFlagsAttr("none")} | properties
        return cls.create(
            operands=parser.resolve_operands(operands, [type, type], parser.pos),
            result_types=[truth(type)],
            properties={"predicate": number} | properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.PREDICATES[self.predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_operand)
        print_flags(printer, self)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException("requires all operands to have the same type")
        if self.result.type != (expected := truth(self.lhs.type)):
            raise VerifyException(f"expected a result of {expected}, got {self.result.type}")
        if not 0 <= self.predicate.value.data < (count := len(self.PREDICATES)):
            raise VerifyException(f"its predicate is a number from 0 to {count - 1}")


def _parse_operands(parser: Parser, count: int) -> list[UnresolvedOperand]:
    """Parse a number of operands with commas between them."""
    operands = [parser.parse_unresolved_operand()]
    while len(operands) < count:
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    return operands


@irdl_op_definition
class CmpiOp(CompareOp):
    """Compare integers."""

    PLAIN: ClassVar = arith.CmpiOp
    PREDICATES: ClassVar = arith.CMPI_COMPARISON_OPERATIONS
    name = "arith.cmpi"


@irdl_op_definition
class CmpfOp(CompareOp):
    """Compare floats."""

    PLAIN: ClassVar = arith.CmpfOp
    PREDICATES: ClassVar = arith.CMPF_COMPARISON_OPERATIONS
    FLAGS: ClassVar = ("fastmath",)
    name = "arith.cmpf"

    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=arith.FastMathFlagsAttr("none"))


@irdl_op_definition
class SelectOp(ShapedOp):
    """Choose one of two values by a bit, or each element by its own bit."""

    PLAIN: ClassVar = arith.SelectOp
    name = "arith.select"

    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = _parse_operands(parser, 3)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition, type = i1, parser.parse_type()
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [condition, type, type], parser.pos),
            result_types=[type],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.result.type:
            raise VerifyException("requires its values and its result to have the same type")
        if self.cond.type not in (i1, expected := truth(self.result.type)):
            raise VerifyException(f"expected a condition of {expected}, got {self.cond.type}")


# Operations that xDSL has not at all


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """Compute the remainder of a division of floats, with the sign of the dividend."""

    name = "arith.remf"

    traits = traits_def(Pure())


EXTENSION: tuple[type[Operation], ...] = (
    *(ExtSIOp, ExtUIOp, TruncIOp, SIToFPOp, UIToFPOp, FPToSIOp, FPToUIOp, ExtFOp, TruncFOp),
    *(IndexCastOp, IndexCastUIOp, ScalingExtFOp, ScalingTruncFOp),
    *(CmpiOp, CmpfOp, SelectOp, RemFOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect arith with the operations above."""
    return extended(dialect, EXTENSION)
