"""A reader of option values in the text of a pipeline or a command line."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_origin

from .types import alternatives, choices_of, describe_type, item_types

__all__ = ["OptionText", "from_text", "shortened"]


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
