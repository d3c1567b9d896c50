"""The text of options, as in `{a=1 b="x" c=1,2 d={y z}}`, read as values of the types of fields."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args, get_origin

from .errors import PipelineSyntaxError
from .options import (
    alternatives,
    check_range,
    choices_of,
    describe_type,
    find_option,
    item_types,
    pass_options,
    shortened,
)

__all__ = ["OptionReader", "OptionText", "ParsedOption", "from_text"]


class OptionText(NamedTuple):
    """One value as a pipeline spells it; `quoted` if it was in quotes, `braced` if it was in
    braces, which are removed."""

    text: str
    quoted: bool = False
    braced: bool = False

    def __str__(self) -> str:
        return f'"{self.text}"' if self.quoted else f"{{{self.text}}}" * self.braced or self.text


class ParsedOption(NamedTuple):
    """An option as written in the text, with its start and end."""

    name: str
    values: list[OptionText]
    start: int
    end: int


# The reader of options: names and the texts of values.

# Letters of all languages: a name may be unknown, but is not cut off in the message.
NAME = re.compile(r"\w[\w.\-]*")
BLANKS = re.compile(r"\s*")
_STRING = r'"(?:\\.|[^"\\])*"'
_QUOTED = re.compile(_STRING, re.DOTALL)
_PIECE = re.compile(rf'{_STRING}|[^\s,(){{}}\[\]"]+', re.DOTALL)
"""A piece of a value that has no bracket."""
_TOKEN = re.compile(rf'{_STRING}|[(){{}}\[\]"]|[^(){{}}\[\]"]+', re.DOTALL)
"""A piece of the text in brackets."""
_BRACKETS = {"(": ")", "{": "}", "[": "]"}
_NEXT_OPTION = re.compile(r",\s*[A-Za-z_][A-Za-z0-9_\-]*\s*=")
_NO_VALUE = re.compile(r"(?=\s*\})|\s+(?=[A-Za-z_][A-Za-z0-9_\-]*\s*=)")
"""The place after `name=` without a value, as MLIR writes an empty string."""
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class OptionReader:
    """A reader of a text; `at` is the offset of the next character.

    Options are separated by blanks or commas. A comma starts a new option only if `name=` follows;
    otherwise it continues a list, which may be in braces. A value ends at a blank or comma outside
    of quotes and brackets. Errors: PipelineSyntaxError, with the text and a caret.
    """

    def __init__(self, text: str, warn: Callable[[str], None] | None = None) -> None:
        self.text = text
        self.at: int = 0
        self.warn = warn or _log_warning
        self.warned: set[str] = set()

    # Characters

    def fail(self, message: str, start: int | None = None, end: int | None = None):
        """Return the error for the text from `start` to `end`, by default the next character."""
        start = min(self.at if start is None else start, len(self.text.rstrip()))
        return PipelineSyntaxError(message, self.text, start, end)

    def warn_once(self, message: str) -> None:
        """Warn about the text, unless the same was said before."""
        if message not in self.warned:
            self.warned.add(message)
            self.warn(message)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume the text that matches the pattern here, if any."""
        if (match := pattern.match(self.text, self.at)) is not None:
            self.at = match.end()
        return match

    def peek(self) -> str:
        """Skip blanks and return the next character, empty at the end."""
        self.match(BLANKS)
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        """Consume the next character if it is `character`, and return whether it was."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def expect(self, character: str, where: str) -> None:
        """Consume the next character, which has to be `character`; `where` is used in the error."""
        if not self.take(character):
            got = f"'{self.peek()}'" if self.peek() else "the end"
            raise self.fail(f"expected '{character}' {where}, got {got}")

    # Options

    def options(self) -> list[ParsedOption]:
        """Return the options in braces."""
        opening = self.at
        self.expect("{", "before options")
        given: list[ParsedOption] = []
        comma = False
        while comma or not self.take("}"):
            if not self.peek():
                raise self.fail("unclosed '{'", opening)
            given.append(self.option("" if comma else ", or '}'"))
            comma = self.take(",")
        return given

    def option(self, alternative: str) -> ParsedOption:
        """Return one option; `alternative` ends the error message for a missing name."""
        start = self.at
        if (match := self.match(NAME)) is None:
            raise self.fail(f"expected the name of an option{alternative}")
        values: list[OptionText] = []
        if self.take("="):
            if self.match(_NO_VALUE) is not None:
                return ParsedOption(match.group(), [OptionText("")], start, self.at)
            values.append(self.value())
            while self.peek() == "," and _NEXT_OPTION.match(self.text, self.at) is None:
                self.take(",")
                values.append(self.value())
        return ParsedOption(match.group(), values, start, self.at)

    def value(self) -> OptionText:
        """Return one value, without its quotes or braces."""
        self.peek()
        start = self.at
        while self.match(_PIECE) is not None or self.brackets():
            pass
        if self.text.startswith('"', self.at):
            raise self.fail("unclosed '\"'")
        if start == self.at:
            raise self.fail("expected a value")
        return _value_of(self.text[start : self.at])

    def brackets(self) -> bool:
        """Consume a bracket here and what follows it up to its closing one; return whether there
        was one."""
        if self.text[self.at : self.at + 1] not in _BRACKETS:
            return False
        opened: list[int] = []
        for token in _TOKEN.finditer(self.text, self.at):
            if (text := token[0]) in _BRACKETS:
                opened.append(token.start())
            elif text in _BRACKETS.values():
                if text != _BRACKETS[self.text[opened[-1]]]:
                    break
                opened.pop()
            elif text == '"':
                raise self.fail("unclosed '\"'", token.start())
            if not opened:
                self.at = token.end()
                return True
        raise self.fail(f"unclosed '{self.text[opened[-1]]}'", opened[-1])

    # Fields

    def fields(
        self, cls: type, name: str, start: int, given: Sequence[ParsedOption]
    ) -> dict[str, Any]:
        """Return the keyword arguments that the options set, with the types of the fields of
        `cls`; `name` begins at `start`.

        The values of a list that is given several times are joined; of another option the last
        one counts, with a warning.
        """
        joined: dict[str, ParsedOption] = {}
        for option in given:
            try:
                known = find_option(cls, option.name, name)
            except ValueError as error:
                raise self.fail(str(error), option.start, option.start + len(option.name)) from None
            if (before := joined.get(known.field)) is not None:
                if _is_list(known.type):
                    option = option._replace(values=[*before.values, *option.values])
                else:
                    message = f"option '{option.name}' of '{name}' is given twice: the last counts"
                    self.warn_once(message)
            joined[known.field] = option
        fields: dict[str, Any] = {}
        for known in pass_options(cls):
            if (option := joined.get(known.field)) is None:
                if known.default is dataclasses.MISSING:
                    end = start + len(name)
                    raise self.fail(f"'{name}' needs the option '{known.name}'", start, end)
                continue
            try:
                fields[known.field] = value = from_text(option.values, known.type)
                check_range(known, value)
            except ValueError as error:
                message = f"option '{option.name}' of '{name}': {error}"
                raise self.fail(message, option.start, option.end) from None
        return fields


def _log_warning(message: str) -> None:
    import logging

    logging.getLogger(__name__).warning(message)


def _value_of(text: str) -> OptionText:
    """Return one value, which is the whole text, without its quotes or braces."""
    if _QUOTED.fullmatch(text) is not None:
        plain = re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), text[1:-1], flags=re.DOTALL)
        return OptionText(plain, quoted=True)
    if text.startswith("{"):
        reader = OptionReader(text)
        if reader.brackets() and reader.at == len(text):
            return OptionText(text[1:-1].strip(), braced=True)
    return OptionText(text)


def _items(text: str) -> list[OptionText]:
    """Return the items of a list, with commas between them; none of a blank text."""
    reader = OptionReader(text)
    ends: list[int] = []
    while reader.at < len(text):
        if text[reader.at] == ",":
            ends.append(reader.at)
        if not reader.brackets() and reader.match(_PIECE) is None:
            reader.at += 1  # a blank or a comma
    starts = [0, *(end + 1 for end in ends)]
    items = [text[a:b].strip() for a, b in zip(starts, [*ends, len(text)])]
    return [] if items == [""] else [*map(_value_of, items)]


# The conversion of texts to the types of fields.


def from_text(values: Sequence[OptionText], type_: object) -> object:
    """Return the value of an option of type `type_` from its text; an empty list is a bare flag.

    Errors: ValueError if the text is not a value of the type.
    """
    # The alternatives that accept more texts come last: 1 is rather a number than true, a whole
    # number is also a number, and every text is a string.
    ordered = sorted(alternatives(type_), key=lambda t: _GENERALITY.get(t, 0))
    if types.NoneType in ordered and values == [OptionText("none")]:
        return None
    why = ""
    for alternative in ordered:
        try:
            return _read(values, alternative)
        except PipelineSyntaxError as error:
            why = f" ({error.message})"
        except ValueError:
            continue
    given = ",".join(map(str, values)) or "no value"
    raise ValueError(f"expected {describe_type(type_)}, got {shortened(given)}{why}")


_MAX_DIGITS = 1000
"""The longest text of a whole number: Python prints no more than 4300 digits."""

_GENERALITY: dict[object, int] = {bool: 1, float: 2, str: 3, types.NoneType: 4}


def _is_list(type_: object) -> bool:
    """Return whether values of a type are lists of any length."""
    return any(get_args(t)[1:] == (Ellipsis,) for t in alternatives(type_))


def _read(values: Sequence[OptionText], type_: object) -> object:
    if get_origin(type_) is tuple:
        return _read_tuple(values, type_)
    if len(values) == 1 and values[0].braced and type_ is not str and not _has_options(type_):
        values = _items(values[0].text)
    if not values and (type_ is bool or type_ is types.NoneType):
        return True if type_ is bool else None
    if len(values) != 1:
        raise ValueError
    return _read_one(values[0], type_)


def _read_tuple(values: Sequence[OptionText], type_: object) -> object:
    found = [] if values == [OptionText("")] else [*_expanded(values, type_)]
    if (types_ := item_types(type_, len(found))) is None:
        raise ValueError
    return tuple(from_text([v], t) for v, t in zip(found, types_))


def _expanded(values: Sequence[OptionText], type_: object) -> Iterator[OptionText]:
    """Yield the items of a list, of which some may be in braces together: `{1,2},3`."""
    first = next(iter(get_args(type_)), None)
    has_braces = _has_options(first) or get_origin(first) is tuple
    for value in values:
        # What is in braces may be an item itself, as `{a=1 b=2}`, or items: `{{a=1},{a=2}}`.
        if value.braced and not (has_braces and value.text and not value.text.startswith("{")):
            yield from _items(value.text)
        else:
            yield value


def _has_options(type_: object) -> bool:
    """Return whether values of a type are options of their own: those of a dataclass."""
    return isinstance(type_, type) and dataclasses.is_dataclass(type_)


def _read_one(value: OptionText, type_: object) -> object:
    text = value.text
    if type_ is str:
        return text
    if value.braced and _has_options(type_):
        return _read_options(text, cast(type, type_))
    if (choices := choices_of(type_)) is not None:
        return _choose(choices, text)
    if value.quoted:
        raise ValueError
    if type_ is bool:
        return _choose({"true": True, "false": False, "1": True, "0": False}, text.lower())
    if type_ is int:
        if len(text) > _MAX_DIGITS:  # Python itself limits decimal digits only
            raise ValueError
        return int(text, 0)
    if type_ is float:
        return float(text)
    raise ValueError


def _read_options(text: str, cls: type) -> object:
    """Return the instance of a dataclass whose fields are the options in a text."""
    reader = OptionReader(f"{{{text}}}")
    return cls(**reader.fields(cls, cls.__name__, 0, reader.options()))


def _choose(choices: Mapping[str, object], text: str) -> object:
    if text not in choices:
        raise ValueError(text)
    return choices[text]
