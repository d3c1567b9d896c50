"""The text of constants: `<f32: [1.0, 0x7F800000]> : tile<2xf32>`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from ...passmanager.releases.floats import pack, print_float
from .constraints import width_of
from .elements import is_float, is_number
from .types import TileType, parse_type, print_type

_SIX_DIGITS = Context(prec=6, rounding=ROUND_HALF_UP)
"""The digits that MLIR prints if they are enough; the formats of Python round ties to even."""


def tensor_of(type: TileType) -> TensorType[Any]:
    """Return the tensor type with the shape and the elements of a tile: that of constants."""
    return TensorType(cast(Any, type.element_type), type.get_shape())


def parse_elements(parser: Parser) -> tuple[DenseIntOrFPElementsAttr, TileType]:
    """Parse a constant and the type of its tile."""
    with parser.in_angle_brackets():
        start = parser.pos
        element = parse_type(parser)
        if not is_number(element):
            parser.raise_error(f"expected the type of numbers, got {element}", start)
        parser.parse_punctuation(":")
        shape, values = _parse_nested(parser, element)
    parser.parse_punctuation(":")
    start = parser.pos
    type = parse_type(parser)
    if not isinstance(type, TileType) or type.element_type != element:
        parser.raise_error(f"expected the type of tiles of {element}, got {type}", start)
    if (shape or not values) and shape != type.get_shape():
        parser.raise_error(
            f"a constant of shape {[*shape]} is no {type}: expected {[*type.get_shape()]}", start
        )
    return DenseIntOrFPElementsAttr.from_list(tensor_of(type), values), type


def _parse_nested(parser: Parser, element: Attribute) -> tuple[tuple[int, ...], list[Any]]:
    """Parse a number, or a list of such; return its shape, and all numbers in order."""
    start = parser.pos
    rows = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_nested(parser, element)
    )
    if rows is None:
        return (), [_parse_number(parser, element)]
    shapes = {shape for shape, _ in rows}
    if len(shapes) != 1:
        parser.raise_error("expected rows of one length, and of a number at least", start)
    return (len(rows), *shapes.pop()), [value for _, values in rows for value in values]


def _parse_number(parser: Parser, element: Attribute) -> int | float:
    start = parser.pos
    value = parser.parse_number(allow_boolean=element == i1)
    if is_float(element):
        return _float(parser, value, element, start)
    if isinstance(value, float):
        parser.raise_error(f"expected an integer of {element}, got {value}", start)
    width = width_of(element)
    if not -(1 << width - 1) <= value < 1 << width:
        parser.raise_error(f"{value} does not fit into {element}", start)
    return value & 1 if element == i1 else value - (value >> width - 1 > 0) * (1 << width)


def _float(parser: Parser, value: float, element: Any, start: int) -> float:
    """Return the float with a literal: an integer in hexadecimal digits is its bits."""
    if isinstance(value, float):
        try:
            pack(element, (value,))
        except OverflowError:
            return math.copysign(math.inf, value)
        return value
    text = parser.lexer.input.slice(start, parser.pos) or ""
    size = len(pack(element, (0.0,)))
    if not text.strip().startswith("0x") or value >> 8 * size:
        parser.raise_error(f"expected a float, or the bits of one as 0x..., got {value}", start)
    return element.unpack(value.to_bytes(size, "little"), 1)[0]


def print_elements(printer: Printer, value: DenseIntOrFPElementsAttr) -> None:
    """Print a constant and the type of its tile."""
    element, shape, data = value.get_element_type(), value.get_shape(), value.data.data
    with printer.in_angle_brackets():
        printer.print_attribute(element)
        printer.print_string(": ")
        if data[: len(data) // len(value)] * len(value) == data:
            _print_nested(printer, next(iter(value.iter_values())), element)
        else:
            _print_nested(printer, _nested([*value.iter_values()], shape), element)
    printer.print_string(" : ")
    print_type(printer, TileType(shape, element))


def print_number(printer: Printer, value: float, element: Attribute) -> None:
    """Print a number as in a constant: infinities and NaN as their bits."""
    _print_nested(printer, value, element)


def _nested(values: Sequence[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return values[0]
    step = len(values) // shape[0]
    return [_nested(values[i : i + step], shape[1:]) for i in range(0, len(values), step)]


def _print_nested(printer: Printer, value: Any, element: Any) -> None:
    if isinstance(value, list):
        with printer.in_square_brackets():
            printer.print_list(
                cast("list[Any]", value), lambda row: _print_nested(printer, row, element)
            )
    elif isinstance(value, float) and not math.isfinite(value):
        printer.print_string(f"0x{pack(element, (value,))[::-1].hex().upper()}")
    elif isinstance(value, float):
        rounded = float(_SIX_DIGITS.plus(Decimal(value)))
        if pack(element, (rounded,)) == pack(element, (value,)):
            return printer.print_string(f"{rounded:.5e}".replace("e", "0e"))
        print_float(printer, value, element)
    else:
        printer.print_int(value, element)
