"""The types of options: conversion of values, the choices of enumerations, and their text."""

from __future__ import annotations

import types
from collections.abc import Sequence
from enum import Enum
from typing import Literal, Union, cast, get_args, get_origin

__all__ = [
    "alternatives",
    "choices_of",
    "describe_type",
    "from_value",
    "item_types",
    "to_text",
    "type_text",
]


def alternatives(type_: object) -> tuple[object, ...]:
    """Return the members of a union; of another type, the type itself."""
    return get_args(type_) if get_origin(type_) in (Union, types.UnionType) else (type_,)


def item_types(type_: object, count: int) -> tuple[object, ...] | None:
    """Return the types of the `count` items of a tuple type, or None if it has another number of
    items.

    `tuple[int, ...]` has any number of items.
    """
    items = get_args(type_)
    if len(items) == 2 and items[1] is Ellipsis:
        return (items[0],) * count
    return items if len(items) == count else None


# Values


def from_value(value: object, type_: object) -> object:
    """Return `value` converted to an option's type: a list to a tuple, an int to a float.

    Errors: ValueError if the value is of another type.
    """
    # The exact type first: for `float | int`, 1 stays an int.
    for alternative in sorted(alternatives(type_), key=lambda t: t is not type(value)):
        if (found := _match(value, alternative)) is not None:
            return found[0]
    raise ValueError(f"expected {describe_type(type_)}, got {value!r}")


def _match(value: object, type_: object) -> tuple[object] | None:
    """Return the converted value in a tuple, or None if the type does not accept the value."""
    if type_ is types.NoneType:
        return (None,) if value is None else None
    if get_origin(type_) is Literal:
        return next(((c,) for c in get_args(type_) if _same(value, c)), None)
    if get_origin(type_) is tuple:
        return _match_tuple(value, type_)
    if isinstance(type_, type) and issubclass(type_, Enum):
        spellings = ((e, s) for e in type_ for s in (e, e.value, _choice_text(e)))
        return next(((e,) for e, spelling in spellings if _same(value, spelling)), None)
    if type_ is float and isinstance(value, int) and not isinstance(value, bool):
        return (float(value),)
    if type_ is int and isinstance(value, bool):
        return None
    return (value,) if isinstance(type_, type) and isinstance(value, type_) else None


def _same(value: object, other: object) -> bool:
    """Return whether two values are equal and of one kind: True is not 1."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)


def _match_tuple(value: object, type_: object) -> tuple[object] | None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    values = cast(Sequence[object], value)
    if (items := item_types(type_, len(values))) is None:
        return None
    try:
        return (tuple(from_value(v, t) for v, t in zip(values, items)),)
    except ValueError:
        return None


# Choices


def choices_of(type_: object) -> dict[str, object] | None:
    """Return the values of a Literal or an Enum by their text, or None for other types."""
    if get_origin(type_) is Literal:
        return {_choice_text(choice): choice for choice in get_args(type_)}
    if isinstance(type_, type) and issubclass(type_, Enum):
        return {_choice_text(member): member for member in type_}
    return None


def _choice_text(choice: object) -> str:
    """Return a choice as text: a string itself, a member of an Enum by its value if that is a
    string, else by its name.
    """
    if isinstance(choice, Enum):
        return choice.value if isinstance(choice.value, str) else choice.name
    return choice if isinstance(choice, str) else to_text(choice)


# Text


def to_text(value: object) -> str:
    """Return the text that `from_text` reads back as `value`; empty for an empty tuple."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case Enum():
            return to_text(value.value) if isinstance(value.value, str) else value.name
        case str():
            return '"' + "".join(_ESCAPES.get(c, c) for c in value) + '"'
        case tuple():
            return ",".join(map(to_text, cast(tuple[object, ...], value)))
        case _:
            return repr(value)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def type_text(type_: object) -> str:
    """Return a type as Python spells it: `int`, `tuple[str, ...]`, `int | None`."""
    return " | ".join(map(_alternative_text, alternatives(type_)))


def _alternative_text(type_: object) -> str:
    if type_ is types.NoneType:
        return "None"
    if isinstance(type_, type) and get_origin(type_) is None:
        return type_.__name__
    return str(type_).replace("typing.", "")


_DESCRIPTIONS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    types.NoneType: "none",
}


def describe_type(type_: object) -> str:
    """Return a type in words, for a message: `a whole number or none`."""
    return " or ".join(map(_describe_alternative, alternatives(type_)))


def _describe_alternative(type_: object) -> str:
    if type_ in _DESCRIPTIONS:
        return _DESCRIPTIONS[type_]
    if get_origin(type_) is tuple:
        items = get_args(type_)
        if len(items) == 2 and items[1] is Ellipsis:
            return f"a list (each {describe_type(items[0])})"
        return "(" + ", ".join(map(describe_type, items)) + ")"
    if (choices := choices_of(type_)) is not None:
        return "one of " + ", ".join(choices)
    return type_.__name__ if isinstance(type_, type) else str(type_)
