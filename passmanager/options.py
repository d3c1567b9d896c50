"""The options of a pass: its typed dataclass fields, described, and filled from values or from
text.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from .info import did_you_mean

__all__ = [
    "OptionText",
    "PassOption",
    "check_values",
    "find_option",
    "from_text",
    "from_value",
    "options_text",
    "pass_options",
    "pass_text",
    "to_text",
]


class PassOption(NamedTuple):
    """One option: the field that it fills, its type and default (`MISSING` if it must be given),
    and its help.
    """

    field: str
    type: object
    default: object
    help: str

    @property
    def name(self) -> str:
        """The name as pipelines spell it."""
        return self.field.replace("_", "-")

    @property
    def type_text(self) -> str:
        """The type as text: `int`, `tuple[str, ...]`, `int | None`."""
        return " | ".join(map(_type_text, _alternatives(self.type)))


def _type_text(type_: object) -> str:
    if type_ is types.NoneType:
        return "None"
    if isinstance(type_, type) and get_origin(type_) is None:
        return type_.__name__
    return str(type_).replace("typing.", "")


class OptionText(NamedTuple):
    """One value as a pipeline spells it; `quoted` if it stood in quotes, now taken off."""

    text: str
    quoted: bool = False


@cache
def pass_options(cls: type) -> tuple[PassOption, ...]:
    """The options of a pass class, in the order of its fields; a field's help is in its metadata
    under `help`.
    """
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = get_type_hints(cls)
    return tuple(
        PassOption(f.name, hints[f.name], _default(f), str(f.metadata.get("help", "")))
        for f in dataclasses.fields(cls)
        if f.init and not (f.name == "name" and issubclass(cls, ModulePass))
    )


def _default(field: dataclasses.Field[object]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def find_option(cls: type, name: str, owner: str) -> PassOption:
    """The option `name` (with `-` or `_`) of a pass or another dataclass; ValueError with the
    nearest one otherwise.
    """
    options = pass_options(cls)
    for option in options:
        if option.field == name.replace("-", "_"):
            return option
    names = [option.name for option in options]
    known = f"; its options are {', '.join(names)}" if names else "; it has none"
    hint = did_you_mean(name, names) or known
    raise ValueError(f"'{owner}' has no option '{name}'{hint}")


def _alternatives(type_: object) -> tuple[object, ...]:
    """The members of a union; a type that is none stands for itself."""
    return get_args(type_) if get_origin(type_) in (Union, types.UnionType) else (type_,)


def from_value(value: object, type_: object) -> object:
    """`value` as an option of type `type_` holds it: a list becomes a tuple, an int a float where a
    float is meant.

    Errors: ValueError if the value is of another type.
    """
    for alternative in sorted(_alternatives(type_), key=lambda t: t is not type(value)):
        if (found := _match(value, alternative)) is not None:
            return found[0]
    raise ValueError(f"expected {_spell(type_)}, got {value!r}")


def _match(value: object, type_: object) -> tuple[object] | None:
    """The converted value in a tuple, or None if the type does not take it."""
    if type_ is types.NoneType:
        return (None,) if value is None else None
    if get_origin(type_) is Literal:
        return next(((c,) for c in get_args(type_) if _same(value, c)), None)
    if get_origin(type_) is tuple:
        return _match_tuple(value, get_args(type_))
    if isinstance(type_, type) and issubclass(type_, Enum):
        spellings = ((e, s) for e in type_ for s in (e, e.value, _choice_text(e)))
        return next(((e,) for e, spelling in spellings if _same(value, spelling)), None)
    if type_ is float and isinstance(value, int) and not isinstance(value, bool):
        return (float(value),)
    if type_ is int and isinstance(value, bool):
        return None
    return (value,) if isinstance(type_, type) and isinstance(value, type_) else None


def _same(value: object, other: object) -> bool:
    """Equality, but True is not 1."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)


def _match_tuple(value: object, items: tuple[object, ...]) -> tuple[object] | None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    values = cast(Sequence[object], value)
    if len(items) == 2 and items[1] is Ellipsis:
        items = (items[0],) * len(values)
    if len(items) != len(values):
        return None
    try:
        return (tuple(from_value(v, t) for v, t in zip(values, items)),)
    except ValueError:
        return None


def from_text(values: Sequence[OptionText], type_: object) -> object:
    """The value that the text of an option stands for; no values at all is a bare flag.

    Errors: ValueError if the text stands for no value of the type.
    """
    # What takes more texts is asked later: any whole number is a number, anything is a string.
    alternatives = sorted(_alternatives(type_), key=lambda t: _GREED.get(t, 0))
    if types.NoneType in alternatives and values == [OptionText("none")]:
        return None
    for alternative in alternatives:
        try:
            return _read(values, alternative)
        except ValueError:
            continue
    given = ",".join(f'"{v.text}"' if v.quoted else v.text for v in values) or "no value"
    raise ValueError(f"expected {_spell(type_)}, got {given}")


_GREED: dict[object, int] = {float: 1, str: 2, types.NoneType: 3}


def _read(values: Sequence[OptionText], type_: object) -> object:
    if type_ is types.NoneType:
        return None if not values else _fail()
    if get_origin(type_) is tuple:
        return _read_tuple(values, get_args(type_))
    if type_ is bool and not values:
        return True
    if len(values) != 1:
        raise ValueError
    return _read_one(values[0], type_)


def _read_tuple(values: Sequence[OptionText], items: tuple[object, ...]) -> object:
    if len(items) == 2 and items[1] is Ellipsis:
        items = (items[0],) * len(values)
    if len(items) != len(values):
        raise ValueError
    return tuple(from_text([v], t) for v, t in zip(values, items))


def _read_one(value: OptionText, type_: object) -> object:
    text, quoted = value
    if type_ is str:
        return text
    if (choices := _choices(type_)) is not None:
        return _choose(choices, text)
    if quoted:
        raise ValueError
    if type_ is bool:
        return _choose({"true": True, "false": False}, text.lower())
    if type_ is int:
        return int(text, 0)
    if type_ is float:
        return float(text)
    raise ValueError


def _choices(type_: object) -> dict[str, object] | None:
    """What a Literal or an Enum can be, by its text; None for other types."""
    if get_origin(type_) is Literal:
        return {_choice_text(choice): choice for choice in get_args(type_)}
    if isinstance(type_, type) and issubclass(type_, Enum):
        return {_choice_text(member): member for member in type_}
    return None


def _choice_text(choice: object) -> str:
    """A choice as text: a string is itself, a member of an Enum its value if that is a string, else
    its name.
    """
    if isinstance(choice, Enum):
        return choice.value if isinstance(choice.value, str) else choice.name
    return choice if isinstance(choice, str) else to_text(choice)


def _fail() -> object:
    raise ValueError


def _choose(choices: Mapping[str, object], text: str) -> object:
    if text not in choices:
        raise ValueError(text)
    return choices[text]


def to_text(value: object) -> str:
    """The text that `from_text` reads back as `value`; empty for an empty tuple, which is a bare
    name.
    """
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


def check_values(options: object) -> None:
    """Raise TypeError for a field of a plain type that holds something else, given in Python."""
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if any(option.type is plain for plain in (bool, int, float, str)):
            try:
                from_value(value, option.type)
            except ValueError as error:
                owner = type(options).__name__
                raise TypeError(f"option {option.field} of {owner}: {error}") from None


def options_text(options: object, *, defaults: bool = False) -> str:
    """The fields of a dataclass that are not at their defaults, in braces as a pipeline spells
    them; empty if none.
    """
    shown: list[str] = []
    for option in pass_options(type(options)):
        value: object = getattr(options, option.field)
        if defaults or option.default is dataclasses.MISSING or value != option.default:
            text = to_text(value)
            shown.append(f"{option.name}={text}" if text else option.name)
    return f"{{{' '.join(shown)}}}" if shown else ""


def pass_text(pass_: ModulePass) -> str:
    """A pass as a pipeline spells it: its name, and the options that are not at their defaults."""
    return pass_.name + options_text(pass_)


def _spell(type_: object) -> str:
    """The type as a message says it."""
    names = [_spell_one(t) for t in _alternatives(type_)]
    return " or ".join(names)


def _spell_one(type_: object) -> str:
    simple: dict[object, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a string",
        types.NoneType: "none",
    }
    if type_ in simple:
        return simple[type_]
    if get_origin(type_) is tuple:
        items = get_args(type_)
        if len(items) == 2 and items[1] is Ellipsis:
            return f"a list (each {_spell(items[0])})"
        return "(" + ", ".join(map(_spell, items)) + ")"
    if (choices := _choices(type_)) is not None:
        return "one of " + ", ".join(choices)
    return type_.__name__ if isinstance(type_, type) else str(type_)
