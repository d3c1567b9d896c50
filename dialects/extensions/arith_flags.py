"""Flags of operations of arith, and the base of those that xDSL has without flags, or for scalars
alone."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnrankedTensorType, VectorType, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from .extended_op import ExtendedOp

__all__ = ["ShapedOp", "parse_flags", "print_flags"]

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


class WithFlags:
    """The part of a class that says which properties are written as flags, in their order."""

    FLAGS: ClassVar[tuple[str, ...]] = ()


def print_flags(printer: Printer, op: Operation) -> None:
    """Print the flags of an operation that say something, in the order of its class."""
    for name in cast("type[WithFlags]", type(op)).FLAGS:
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
