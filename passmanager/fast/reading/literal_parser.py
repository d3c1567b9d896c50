"""A parser of literals that adds to xDSL's: the place of a number that is too large for its type,
and all that our printer writes: floats as bits everywhere, numbers of any float type.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FloatData,
    IndexType,
    IntegerAttr,
    IntegerType,
    RankedStructure,
    StringAttr,
    TensorType,
    VectorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ...ir.text.float_bits import value_of
from ...releases.floats import rounded
from .affine_parser import SemiAffineParser
from .builtin_types import defect_of_type

# pyright: reportPrivateUsage=false


_MAX_WIDTH = (1 << 24) - 1
"""The width of the widest integer type of MLIR."""

_integer_type = re.compile("[su]?i([0-9]+)").fullmatch


class LiteralParser(Parser):
    """A parser of types, attributes and ops, with its own rules for literals."""

    # Attributes

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        if (truth := self.try_parse_builtin_boolean_attr()) is not None:
            return truth
        start = self._current_token.span.start
        if (value := self.parse_optional_number()) is None:
            return None
        span = self._span_from(start)
        if self._current_token.kind is not MLIRTokenKind.COLON:
            if isinstance(value, float):
                return FloatAttr(self._float(value, f64, span), f64)
            return self._integer(value, i64, span)
        type = self._parse_attribute_type()
        if isinstance(type, AnyFloat):
            return FloatAttr(self._float(value, type, span), type)
        if isa(type, IntegerType | IndexType):
            if isinstance(value, float):
                self.raise_error("Floating point value is not valid for integer type.", span)
            return self._integer(value, type, span)
        dense = isinstance(type, TensorType | VectorType)
        hint = f"; a constant of that type is dense<{span.text}>" if dense else ""
        expected = "an integer, index or float type"
        self.raise_error(f"expected {expected} for a number, but found {type}{hint}", span)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        self.parse_characters("<", " in dense array")
        start = self.pos
        type = self.parse_attribute()
        if not isa(type, IntegerType | AnyFloat) or not _is_packed(type):
            self.raise_error(
                "the elements of a dense array are integers of up to 64 bits or floats of up to "
                f"64 bits, not {type}",
                start,
                self.pos,
            )
        if isinstance(type, IntegerType) and type != i1 and type.width.data % 8:
            message = f"the width of the elements of a dense array is a multiple of 8, or 1: {type}"
            self.raise_error(message, start, self.pos)
        values: list[int | float] = []
        if self.parse_optional_punctuation(">") is None:
            self.parse_characters(":", " in dense array")
            values = self.parse_comma_separated_list(
                self.Delimiter.NONE, lambda: self._parse_element(type)
            )
            self.parse_characters(">", " in dense array")
        try:
            return DenseArrayBase.from_list(type, cast(list[int], values))
        except VerifyException as error:
            self.raise_error(str(error), start, self.pos)

    def _parse_element(self, type: IntegerType | AnyFloat) -> int | float:
        start = self._current_token.span.start
        if isinstance(type, IntegerType):
            if (self._current_token.text in ("true", "false")) != (type == i1):
                expected = "'true' or 'false'" if type == i1 else "an integer"
                found = self._current_token.text
                self.raise_error(f"expected {expected} for {type}, but found '{found}'")
            integer = self.parse_integer()
            return self._integer(integer, type, self._span_from(start)).value.data
        number = self.parse_number()
        return self._float(number, type, self._span_from(start))

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: Position | None
    ) -> ParametrizedAttribute | Data[object]:
        if attr_name == FloatData.name:
            with self.in_angle_brackets():
                start = self._current_token.span.start
                value = self.parse_number()
                span = self._span_from(start)
                return FloatData(self._float(value, f64, span))
        return super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )

    def parse_optional_symbol_name(self) -> StringAttr | None:
        span = self._current_token.span
        try:
            return super().parse_optional_symbol_name()
        except UnicodeDecodeError:
            self.raise_error("the name of a symbol is not UTF-8", span)

    # Types

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        if (match := _integer_type(self._current_token.text)) is not None and (
            len(match[1]) > len(str(_MAX_WIDTH)) or int(match[1]) > _MAX_WIDTH
        ):
            self.raise_error(f"integers have at most {_MAX_WIDTH} bits")
        return super()._parse_optional_integer_or_float_type()

    def _parse_optional_builtin_type(self) -> TypeAttribute | None:
        start = self._current_token.span.start
        type = super()._parse_optional_builtin_type()
        if type is not None and (defect := defect_of_type(type)) is not None:
            self.raise_error(defect, self._span_from(start))
        return type

    # Affine maps

    def parse_affine_map(self) -> AffineMap:
        return SemiAffineParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        return SemiAffineParser(self._parser_state).parse_affine_set()

    def parse_affine_map_of_ssa_ids(
        self, delimiter: Parser.Delimiter = Parser.Delimiter.SQUARE
    ) -> tuple[AffineMap, list[SSAValue[IndexType]]]:
        """Parse expressions of values. Each value is a dimension, as in MLIR, unless it is
        `symbol(%n)`; to xDSL all are symbols."""
        map, spans = SemiAffineParser(self._parser_state).parse_map_of_values(delimiter)
        names = (UnresolvedOperand(span, 0) for span in spans)
        return map, [self.resolve_operand(name, IndexType()) for name in names]

    # Constants

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        if isinstance(element.value, bool):
            return Truth(element.is_negative, element.value, element.span)
        if element.span.text.removeprefix("-").startswith("0x"):
            return Bits(element.is_negative, element.value, element.span)
        if isinstance(element.value, tuple):
            return ComplexLiteral(element.is_negative, element.value, element.span)
        return element

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        start = self.pos
        try:
            dense = super().parse_dense_int_or_fp_elements_attr(type)
        except ParseError:
            raise
        except (ArithmeticError, AssertionError, NotImplementedError, ValueError, struct.error):
            self._raise_unfit(start, type)
            raise
        # Only then is the literal read twice: a constant of a million finite numbers is read once.
        if not self.lexer.input.content.startswith('<"', start) and _may_have_changed(dense):
            end = self.pos
            self._raise_unfit(start, type)
            self._resume_from(end)
        return dense

    def _raise_unfit(self, start: Position, type: RankedStructure[AnyDenseElement] | None) -> None:
        """Raise ParseError for the first element of a constant that its type cannot represent, or
        for the type; return if there is neither.
        """
        self._resume_from(start)
        self.parse_punctuation("<")
        elements: list[AttrParser._TensorLiteralElement] = []
        if self.parse_optional_punctuation(">") is None:
            if self.parse_optional_str_literal() is None:
                elements, _ = self._parse_tensor_literal()
            self.parse_punctuation(">")
        if type is None:
            self.parse_punctuation(":")
            start = self.pos
            type = self._parse_dense_literal_type()
        element_type = type.get_element_type()
        if not _is_packed(element_type):
            self.raise_error(f"constants of {element_type} are not supported", start, self.pos)
        for element in elements:
            self._check_element(element, element_type)

    def _check_element(
        self, element: AttrParser._TensorLiteralElement, type: AnyDenseElement
    ) -> None:
        value, span = element.value, element.span
        if isinstance(type, ComplexType) != isinstance(value, tuple):
            self.raise_error(f"expected a value of {type}", span)
        if not isinstance(type, ComplexType):
            self._check_scalar(cast(float, value), type, span)
            return
        for part in cast(tuple[float, float], value):
            self._check_scalar(part, type.element_type, span)

    def _check_scalar(
        self, value: float, type: IntegerType | IndexType | AnyFloat, span: Span
    ) -> None:
        if isinstance(type, AnyFloat):
            if isinstance(value, bool):
                self.raise_error(f"expected a float for {type}", span)
            self._float(value, type, span)
        elif isinstance(value, float):
            self.raise_error(f"expected an integer for {type}", span)
        else:
            self._integer(value, type, span)
            if isinstance(type, IndexType) and not -(1 << 63) <= value < 1 << 63:
                self.raise_error("elements of index have at most 64 bits", span)

    # Numbers

    def _span_from(self, start: Position) -> Span[str]:
        """Return the text from `start` to the end of the last token."""
        content = self.lexer.input.content
        # `pos` is the start of the next token: the space before that is not part of the number.
        end = start + len(content[start : self.pos].rstrip())
        return Span(start, end, self.lexer.input)

    def _integer(self, value: int, type: IntegerType | IndexType, span: Span) -> IntegerAttr:
        """Return an integer of a type; ParseError if it is out of range."""
        try:
            return IntegerAttr(value, type)
        except VerifyException as error:
            self.raise_error(str(error), span)

    def _float(self, value: int | float, type: AnyFloat, span: Span) -> float:
        """Return the number of a type that is nearest to a literal, or has its bits if they are
        given in hexadecimal digits; ParseError if there is none.
        """
        if span.text.removeprefix("-").startswith("0x"):
            if not isinstance(value, int) or value < 0 or span.text.startswith("-"):
                self.raise_error("the bits of a float have no sign", span)
            if (number := value_of(value, type)) is None:
                self.raise_error(f"{span.text} are not the bits of a number of {type}", span)
            return number
        try:
            # Decimal digits become an f64 first, and that is rounded to the type, as in MLIR's
            # parser.
            number = FloatAttr(rounded(float(value), type), type).value.data
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.raise_error(f"the number is too large for {type}", span)
        return number


def with_number(value: Attribute, text: str) -> IntegerAttr | FloatAttr | None:
    """Return the value of a decimal literal of the type of a constant; None if that has no such
    value, or may have none.
    """
    try:
        if isinstance(value, FloatAttr) and "." in text:
            type = cast(FloatAttr[AnyFloat], value).type
            number = FloatAttr(rounded(float(text), type), type)
            return number if math.isfinite(number.value.data) else None
        if isinstance(value, IntegerAttr) and "." not in text:
            return IntegerAttr(int(text), cast(IntegerAttr[IntegerType], value).type)
    except (OverflowError, VerifyException):
        pass
    return None


def _is_packed(type: AnyDenseElement) -> bool:
    """Return whether xDSL stores elements of a type."""
    try:
        return type.compile_time_size > 0
    except NotImplementedError:
        return False


def _may_have_changed(dense: DenseIntOrFPElementsAttr) -> bool:
    """Return whether elements may not be what was written: xDSL rounds a number that is too large
    for some types, as bf16, to infinity, and the parts of complex integers towards zero.
    """
    # A decimal literal is finite: infinity comes from rounding, or was given by its bits.
    if isinstance(dense.get_element_type(), AnyFloat):
        return not all(map(math.isfinite, cast(Sequence[float], dense.get_values())))
    return isinstance(dense.get_element_type(), ComplexType)


class Bits(AttrParser._TensorLiteralElement):
    """A literal of hexadecimal digits, which are the bits of a float, as in MLIR."""

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> int | float | tuple[float, float] | tuple[int, int]:
        if not isinstance(type, AnyFloat) or not isinstance(self.value, int):
            return super().to_type(parser, type)
        if self.value < 0 or self.is_negative:
            raise ValueError
        if (value := value_of(self.value, type)) is None:
            raise ValueError  # the parser finds the place
        return value


class Truth(AttrParser._TensorLiteralElement):
    """`true` or `false`, which is no float, as in MLIR."""

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> int | float | tuple[float, float] | tuple[int, int]:
        if isinstance(type, AnyFloat):
            raise ValueError  # the parser finds the place
        return super().to_type(parser, type)


class ComplexLiteral(AttrParser._TensorLiteralElement):
    """A complex literal; as elsewhere, 255 is read as -1 of i8."""

    def to_type(
        self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
    ) -> int | float | tuple[float, float] | tuple[int, int]:
        pair = super().to_type(parser, type)
        if not isinstance(type, ComplexType) or not isinstance(type.element_type, IntegerType):
            return pair
        real, imaginary = cast(tuple[int, int], pair)
        normalized = type.element_type.get_normalized_value
        return normalized(real), normalized(imaginary)


# Lists of numbers in dense constants, `[[1, 2], [3, 4]]`, which JSON writes as MLIR does.


class NumberList(NamedTuple):
    """The numbers of a literal in row-major order."""

    values: list[int | float]
    shape: list[int]
    end: Position


_literal = re.compile(r"\[[-+0-9.eE,\[\] \t\n\r]*+").match
_too_deep = re.compile(r"(?:\[\s*+){100}").search  # json recurses in C
_exponent_without_point = re.compile(r"(?<![0-9.])[0-9]+[eE]").search  # a number in JSON only


def read_number_list(text: str, position: Position) -> NumberList | None:
    """Return the literal at a position if it is a list of decimal numbers, or of such lists of
    equal shapes; None for any other, also an invalid one.
    """
    if (match := _literal(text, position)) is None:
        return None
    literal = match[0].rstrip()
    if _exponent_without_point(literal) or _too_deep(literal):
        return None
    try:
        values = cast(list[object], json.loads(literal))
    except (ValueError, RecursionError):
        return None
    shape = [len(values)]
    while values and isinstance(values[0], list):
        lists = [cast(list[object], value) for value in values if isinstance(value, list)]
        shape.append(len(lists[0]))
        if len(lists) < len(values) or any(len(inner) != shape[-1] for inner in lists):
            return None
        values = [*chain.from_iterable(lists)]
    if not values or any(isinstance(value, list) for value in values):
        return None
    return NumberList(cast(list[int | float], values), shape, position + len(literal))
