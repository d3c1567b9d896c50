"""The options of a pass: its dataclass fields, described, checked and written as text."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from .names import did_you_mean

# The types of options: conversion of values, the choices of enumerations, and their text.


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


# The options of a pass: its dataclass fields, described, checked and written as text.


class PassOption(NamedTuple):
    """One option: the field that it sets, its type, default (`MISSING` if required) and help, and
    the least value of a number, or of each in a list.
    """

    field: str
    type: object
    default: object
    help: str
    minimum: float | None = None

    @property
    def name(self) -> str:
        """The name as pipelines spell it."""
        return self.field.replace("_", "-")

    @property
    def type_text(self) -> str:
        """The type as Python spells it: `int`, `tuple[str, ...]`, `int | None`."""
        return type_text(self.type)


@cache
def pass_options(cls: type) -> tuple[PassOption, ...]:
    """Return the options of a pass class, in the order of its fields; empty if it is not a
    dataclass.

    The help of a field is in its metadata under `help`, the least value under `minimum`.
    """
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = get_type_hints(cls)
    return tuple(
        PassOption(
            f.name,
            hints[f.name],
            _default(f),
            str(f.metadata.get("help", "")),
            f.metadata.get("minimum"),
        )
        for f in dataclasses.fields(cls)
        if f.init and not (f.name == "name" and issubclass(cls, ModulePass))
    )


def _default(field: dataclasses.Field[object]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def find_option(cls: type, name: str, owner: str) -> PassOption:
    """Return the option `name` (with `-` or `_`) of a dataclass, which messages call `owner`.

    Errors: ValueError with the nearest name.
    """
    options = pass_options(cls)
    for option in options:
        if option.field == name.replace("-", "_"):
            return option
    names = [option.name for option in options]
    known = f"; its options are {', '.join(names)}" if names else "; it has none"
    hint = did_you_mean(name, names) or known
    raise ValueError(f"'{owner}' has no option '{name}'{hint}")


def check_range(option: PassOption, value: object) -> None:
    """Raise ValueError if a number in the value of an option is less than its minimum."""
    if option.minimum is None:
        return
    for number in cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,):
        if isinstance(number, int | float) and not number >= option.minimum:
            raise ValueError(f"expected {option.minimum} or more, got {number}")


def check_values(options: object) -> None:
    """Raise TypeError if a field of type bool, int, float or str of a dataclass instance holds a
    value of another type, and ValueError if a field holds a number below its minimum.
    """
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if any(option.type is plain for plain in (bool, int, float, str)):
            try:
                from_value(value, option.type)
            except ValueError as error:
                owner = type(options).__name__
                raise TypeError(f"option {option.field} of {owner}: {error}") from None
        try:
            check_range(option, value)
        except ValueError as error:
            raise ValueError(f"option {option.field}: {error}") from None


def options_text(options: object, *, defaults: bool = False) -> str:
    """Return the fields of a dataclass instance as a pipeline spells them, in braces.

    Fields at their defaults are left out unless `defaults`; the text is empty if no field is left.
    """
    shown: list[str] = []
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if defaults or option.default is dataclasses.MISSING or value != option.default:
            text = to_text(value)
            shown.append(f"{option.name}={text}" if text else option.name)
    return f"{{{' '.join(shown)}}}" if shown else ""


def pass_text(pass_: ModulePass) -> str:
    """Return a pass as a pipeline spells it: its name, and the options that are not defaults."""
    return pass_.name + options_text(pass_)


MLIR_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "canonicalize": (
        "disable-patterns",
        "enable-patterns",
        "max-iterations",
        "max-num-rewrites",
        "region-simplify",
        "test-convergence",
        "top-down",
    ),
    "convert-scf-to-cf": ("allow-pattern-rollback",),
    "convert-scf-to-openmp": ("num-threads",),
    "gpu-map-parallel-loops": ("mapping-policy",),
    "inline": ("default-pipeline", "inlining-threshold", "max-iterations", "op-pipelines"),
    "print-ir": ("label",),
    "scf-parallel-loop-tiling": ("no-min-max-bounds",),
    "transform-interpreter": (
        "debug-bind-trailing-args",
        "debug-payload-root-tag",
        "disable-expensive-checks",
    ),
}
"""Pass -> the options that `mlir-opt` (LLVM 22) lists for it, and the pass of the same name here
does not have. The reproducers of `mlir-opt` give all options of a pass, and those that have no
meaning here are ignored with a warning.
"""


# A reader of option values in the text of a pipeline or a command line.


class OptionText(NamedTuple):
    """One value as a pipeline spells it; `quoted` if it was in quotes, which are removed."""

    text: str
    quoted: bool = False


def from_text(values: Sequence[OptionText], type_: object) -> object:
    """Return the value of an option of type `type_` from its text; an empty list is a bare flag.

    Errors: ValueError if the text is not a value of the type.
    """
    # The alternatives that accept more texts come last: a whole number is also a number, and every
    # text is a string.
    ordered = sorted(alternatives(type_), key=lambda t: _GENERALITY.get(t, 0))
    if types.NoneType in ordered and values == [OptionText("none")]:
        return None
    for alternative in ordered:
        try:
            return _read(values, alternative)
        except ValueError:
            continue
    given = ",".join(f'"{v.text}"' if v.quoted else v.text for v in values) or "no value"
    raise ValueError(f"expected {describe_type(type_)}, got {shortened(given)}")


def shortened(text: str) -> str:
    """Return a text for a message; of a long one the beginning, and its length."""
    return text if len(text) <= 100 else f"{text[:40]}... ({len(text)} characters)"


_MAX_DIGITS = 1000
"""The longest text of a whole number: Python prints no more than 4300 digits."""

_GENERALITY: dict[object, int] = {float: 1, str: 2, types.NoneType: 3}


def _read(values: Sequence[OptionText], type_: object) -> object:
    if get_origin(type_) is tuple:
        return _read_tuple(values, type_)
    if not values and (type_ is bool or type_ is types.NoneType):
        return True if type_ is bool else None
    if len(values) != 1:
        raise ValueError
    return _read_one(values[0], type_)


def _read_tuple(values: Sequence[OptionText], type_: object) -> object:
    if (items := item_types(type_, len(values))) is None:
        raise ValueError
    return tuple(from_text([v], t) for v, t in zip(values, items))


def _read_one(value: OptionText, type_: object) -> object:
    text, quoted = value
    if type_ is str:
        return text
    if (choices := choices_of(type_)) is not None:
        return _choose(choices, text)
    if quoted:
        raise ValueError
    if type_ is bool:
        return _choose({"true": True, "false": False}, text.lower())
    if type_ is int:
        if len(text) > _MAX_DIGITS:  # Python itself limits decimal digits only
            raise ValueError
        return int(text, 0)
    if type_ is float:
        return float(text)
    raise ValueError


def _choose(choices: Mapping[str, object], text: str) -> object:
    if text not in choices:
        raise ValueError(text)
    return choices[text]
