"""Conversions of MLIR's dialect arith that xDSL lacks, or has for scalars without flags alone."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self, have_compatible_shape

from .arith_flags import ShapedOp, parse_flags, print_flags

__all__ = ["CONVERSIONS"]

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


def _expect_integer(type: Attribute, where: str) -> None:
    """Raise VerifyException if an element type is not an integer."""
    if not isinstance(type, IntegerType):
        raise VerifyException(f"expected an integer as element type of its {where}, but got {type}")


def _expect_float(type: Attribute, where: str) -> None:
    """Raise VerifyException if an element type is not a float."""
    if not isinstance(type, AnyFloat):
        raise VerifyException(f"expected a float as element type of its {where}, but got {type}")


class WideningOp(ConversionOp, ABC):
    """A conversion to a wider integer."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect_integer(source, "operand")
        _expect_integer(target, "result")
        if cast(IntegerType, source).width.data >= cast(IntegerType, target).width.data:
            raise VerifyException("Destination bit-width must be larger than the input bit-width")


class IntegerToFloatOp(ConversionOp, ABC):
    """A conversion of integers to floats."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect_integer(source, "operand")
        _expect_float(target, "result")


class FloatToIntegerOp(ConversionOp, ABC):
    """A conversion of floats to integers."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect_float(source, "operand")
        _expect_integer(target, "result")


class FloatToFloatOp(ConversionOp, ABC):
    """A conversion between types of floats."""

    SCALARS: ClassVar = False

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        _expect_float(source, "operand")
        _expect_float(target, "result")


class IndexConversionOp(ConversionOp, ABC):
    """A conversion between integers and indices."""

    def verify_elements(self, source: Attribute, target: Attribute) -> None:
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(
                f"operand type {self.input.type} and result type {self.result.type} are cast "
                "incompatible"
            )
        _expect_integer(source if isinstance(target, IndexType) else target, "other type")


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
        _expect_integer(source, "operand")
        _expect_integer(target, "result")
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
            _expect_float(get_element_type_or_self(value.type), where)
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


CONVERSIONS: tuple[type[Operation], ...] = (
    *(ExtSIOp, ExtUIOp, TruncIOp, SIToFPOp, UIToFPOp, FPToSIOp, FPToUIOp, ExtFOp, TruncFOp),
    *(IndexCastOp, IndexCastUIOp, ScalingExtFOp, ScalingTruncFOp),
)
