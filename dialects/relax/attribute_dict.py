"""The text of properties and attributes as one dictionary: `{axis = 1, padding = [0, 0]}`.

MLIR's generic text would be `<{axis = 1 : i64, padding = array<i64: 0, 0>}>`.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_to_attr_constraint
from xdsl.parser import Parser
from xdsl.printer import Printer

from .attributes import Bool, Float64, Floats, Int, Ints, kinds_of

__all__ = ["parse_attributes", "print_attributes"]

_INT = irdl_to_attr_constraint(Int)
_FLOAT = irdl_to_attr_constraint(Float64)
_DESCRIPTIONS: dict[object, str] = {
    Int: "an integer such as 1",
    Ints: "a list of integers such as [1, 2]",
    Bool: "true or false",
    Float64: "a float such as 1.0",
    Floats: "a list of floats such as [1.0, 2.0]",
}


def parse_attributes(
    parser: Parser, cls: type[IRDLOperation]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Parse a dictionary and return the properties and the attributes of an operation.

    A name that `cls` does not define is an attribute. ParseError if a property has the wrong kind,
    or if an attribute's name is close to that of a property, which is likely a typing error.
    """
    definitions = cls.get_irdl_definition().properties
    properties: dict[str, Attribute] = {}
    attributes: dict[str, Attribute] = {}
    start = parser.pos
    for name, value in parser.parse_optional_attr_dict().items():
        if name in definitions:
            kind = kinds_of(cls).get(name)
            value = properties[name] = _list_of(value, kind)
            if kind is not None and not definitions[name].constr.verifies(value):
                expected = f"property '{name}' is {_DESCRIPTIONS[kind]}, not {value}"
                parser.raise_error(expected, start, parser.pos)
        elif near := get_close_matches(name, definitions, 1, 0.7):
            hint = f"{cls.name} has no property '{name}', did you mean '{near[0]}'?"
            parser.raise_error(hint, start, parser.pos)
        else:
            attributes[name] = value
    return properties, attributes


def _list_of(value: Attribute, kind: object) -> Attribute:
    """Convert an array attribute to a dense array if `kind` is a list of `i64` or `f64`.

    Any other value is returned as it is: the verifier reports it.
    """
    if not is_array(value):
        return value
    if kind is Ints:
        ints = [item.value.data for item in value if _INT.verifies(item)]
        return DenseArrayBase.from_list(i64, ints) if len(ints) == len(value) else value
    if kind is Floats:
        floats = [float(i.value.data) for i in value if _FLOAT.verifies(i) or _INT.verifies(i)]
        return DenseArrayBase.from_list(f64, floats) if len(floats) == len(value) else value
    return value


def is_array(value: Attribute) -> TypeIs[ArrayAttr[Attribute]]:
    """Return whether `value` is an array attribute, of elements of any kind."""
    return isinstance(value, ArrayAttr)


def print_attributes(printer: Printer, op: IRDLOperation) -> None:
    """Print the properties that differ from their default, and the attributes, as a dictionary."""
    known = op.get_irdl_definition().properties
    written = [
        name
        for name, definition in known.items()
        if name in op.properties and op.properties[name] != definition.default_value
    ]
    if not written and not op.attributes:
        return

    kinds = kinds_of(type(op))

    def print_entry(name: str) -> None:
        printer.print_identifier_or_string_literal(name)
        value = op.properties[name] if name in known else op.attributes[name]
        if isinstance(value, UnitAttr):
            return
        printer.print_string(" = ")
        kind = kinds.get(name)
        if kind is Int and isinstance(value, IntegerAttr):
            printer.print_string(str(value.value.data))
        elif kind is Ints and isinstance(value, DenseArrayBase):
            printer.print_string(str([*cast(Ints, value).iter_values()]))
        elif kind is Floats and isinstance(value, DenseArrayBase):
            numbers = (FloatAttr(number, f64) for number in cast(Floats, value).iter_values())
            printer.print_attribute(ArrayAttr(numbers))
        else:
            printer.print_attribute(value)

    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list([*written, *op.attributes], print_entry)
