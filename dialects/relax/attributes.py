"""Properties of operations: their definitions and their Python values.

`axis = int_prop(0)` in an operation class defines a property: `op.axis` is an `int`, `op.axis_attr`
the attribute, and `Op(x, axis=1)` sets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from math import copysign
from typing import Any, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    I1,
    I64,
    ArrayAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import IRDLOperation, irdl_to_attr_constraint, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "Bool",
    "Float64",
    "Floats",
    "Int",
    "Ints",
    "PropertyValue",
    "TypedProperty",
    "bool_prop",
    "check_choice",
    "float_prop",
    "int_prop",
    "ints_prop",
    "kinds_of",
    "opt_float_prop",
    "opt_floats_prop",
    "opt_int_prop",
    "opt_ints_prop",
    "opt_type_prop",
    "parse_attributes",
    "print_attributes",
    "properties_of",
    "string_prop",
    "type_prop",
]


Int: TypeAlias = IntegerAttr[I64]
Ints: TypeAlias = DenseArrayBase[I64]
Bool: TypeAlias = IntegerAttr[I1]
Float64: TypeAlias = FloatAttr[Float64Type]
Floats: TypeAlias = DenseArrayBase[Float64Type]
PropertyValue: TypeAlias = Attribute | int | float | str | Sequence[int] | Sequence[float] | None

_KINDS = [(irdl_to_attr_constraint(kind), kind) for kind in (Int, Ints, Bool, Float64, Floats)]


@cache
def kinds_of(cls: type[IRDLOperation]) -> dict[str, object]:
    """Return name -> attribute kind of the properties of `cls` that are printed without a type."""
    known = cls.get_irdl_definition().properties
    return {
        name: kind
        for name, definition in known.items()
        for constraint, kind in _KINDS
        if definition.constr == constraint
    }


# Definitions: a property without a default is required, a default is not printed


class TypedProperty(property):
    """A property of an operation that is read as a Python value.

    `op.axis` is an `int`, or None if the property is absent; `op.axis_attr` is the attribute, as in
    MLIR. `define` makes the xDSL definition for a property name, `value_of` converts an attribute.
    """

    def __init__(self, define: Callable[[str], object], value_of: Callable[[Any], object]) -> None:
        super().__init__()
        self._define = define
        self._value_of = value_of

    def __set_name__(self, owner: type[IRDLOperation], name: str) -> None:
        value_of = self._value_of

        def value(op: IRDLOperation) -> object:
            attribute = op.properties.get(name)
            return None if attribute is None else value_of(attribute)

        # A closure, not a method: inference reads several properties of each operation.
        super().__init__(value)
        # Until xDSL 0.69 the decorator of an operation makes the class anew, with all definitions.
        if f"{name}_attr" not in vars(owner):
            setattr(owner, f"{name}_attr", self._define(name))


_READ: dict[object, Callable[[Any], object]] = {
    Int: lambda attribute: attribute.value.data,
    Ints: lambda attribute: attribute.get_values(),
    Bool: lambda attribute: attribute.value.data != 0,
    Float64: lambda attribute: attribute.value.data,
    Floats: lambda attribute: attribute.get_values(),
    StringAttr: lambda attribute: attribute.data,
    TypeAttribute: lambda attribute: attribute,
}
"""Kind of a property -> the Python value of its attribute."""


# The functions below return a descriptor, but are annotated with the type of its value: a type
# checker then infers the type of `op.axis` from the class attribute.


def _required(kind: Any, default: PropertyValue = None) -> Any:
    """Define a property of a kind of attribute, required unless it has a default."""
    value = None if default is None else _attribute_of(default, kind)
    return TypedProperty(lambda name: prop_def(kind, value, prop_name=name), _READ[kind])


def _optional(kind: Any) -> Any:
    """Define a property of a kind of attribute, None where it is absent."""
    return TypedProperty(lambda name: opt_prop_def(kind, prop_name=name), _READ[kind])


def int_prop(default: int | None = None) -> int:
    """Define a property that is an `i64`, such as an axis."""
    return _required(Int, default)


def opt_int_prop() -> int | None:
    """Define a property that is an `i64` or absent."""
    return _optional(Int)


def ints_prop(default: Sequence[int] | None = None) -> tuple[int, ...]:
    """Define a property that is a list of `i64`, such as strides."""
    return _required(Ints, default)


def opt_ints_prop() -> tuple[int, ...] | None:
    """Define a property that is a list of `i64`, or absent."""
    return _optional(Ints)


def bool_prop(default: bool | None = None) -> bool:
    """Define a property that is true or false."""
    return _required(Bool, default)


def float_prop(default: float | None = None) -> float:
    """Define a property that is an `f64`, such as an epsilon."""
    return _required(Float64, default)


def opt_float_prop() -> float | None:
    """Define a property that is an `f64` or absent."""
    return _optional(Float64)


def opt_floats_prop() -> tuple[float, ...] | None:
    """Define a property that is a list of `f64`, or absent."""
    return _optional(Floats)


def string_prop(default: str | None = None) -> str:
    """Define a property that is a string, such as a layout."""
    return _required(StringAttr, default)


def type_prop() -> TypeAttribute:
    """Define a property that is a type, such as the element type of the result."""
    return _required(TypeAttribute)


def opt_type_prop() -> TypeAttribute | None:
    """Define a property that is a type, or absent."""
    return _optional(TypeAttribute)


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return the value of the property `name`; VerifyException if it is not one of `choices`."""
    if value not in choices:
        expected = ", ".join(f'"{choice}"' for choice in choices)
        raise VerifyException(f'{name} "{value}" is not one of {expected}')
    return value


# Python values


def properties_of(
    cls: type[IRDLOperation], values: Mapping[str, PropertyValue]
) -> dict[str, Attribute]:
    """Convert Python values to the properties of an operation of class `cls`.

    A property whose value is None is left out. TypeError if `cls` has no property of a name.
    """
    if not values:
        return {}
    kinds, known = kinds_of(cls), cls.get_irdl_definition().properties
    for name in values:
        if name not in known:
            has = f"its properties are {', '.join(known)}" if known else "it has no properties"
            raise TypeError(f"{cls.name} has no property '{name}': {has}")
    return {
        name: _attribute_of(value, kinds.get(name))
        for name, value in values.items()
        if value is not None
    }


def _attribute_of(
    value: Attribute | int | float | str | Sequence[int] | Sequence[float], kind: object
) -> Attribute:
    match value:
        case Attribute():
            return value
        case str():
            return _string(value)
        case bool():
            return _TRUE if value else _FALSE
        case int() if kind is Bool:
            return _TRUE if value else _FALSE
        case int() if kind is not Float64:
            return _integer(value)
        case int() | float():
            return _float(value, copysign(1.0, value))
        case _ if kind is Floats:
            return DenseArrayBase.from_list(f64, value)
        case _:
            return _integers(tuple(cast(Sequence[int], value)))


# Shared, as attributes are immutable: xDSL verifies each new one, which took half of the time to
# create an operation.
_TRUE, _FALSE = IntegerAttr(1, i1), IntegerAttr(0, i1)


@lru_cache(1 << 12)
def _string(text: str) -> StringAttr:
    return StringAttr(text)


@lru_cache(1 << 12)
def _integer(number: int) -> Int:
    return IntegerAttr(number, i64)


@lru_cache(1 << 12)
def _float(number: float, sign: float) -> Float64:
    # With the sign, as -0.0 equals 0.0.
    return FloatAttr(float(number), f64)


@lru_cache(1 << 12)
def _integers(numbers: tuple[int, ...]) -> Ints:
    try:
        return DenseArrayBase.from_list(i64, numbers)
    except ValueError as error:  # a number beyond an i64, as for IntegerAttr
        raise VerifyException(str(error)) from None


# The text of properties and attributes as one dictionary: `{axis = 1, padding = [0, 0]}`.
#
# MLIR's generic text would be `<{axis = 1 : i64, padding = array<i64: 0, 0>}>`.


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
