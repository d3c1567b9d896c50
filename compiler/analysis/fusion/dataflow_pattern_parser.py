"""The parser of dataflow patterns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NoReturn, TypeGuard, TypeVar, cast

from ....dialects.relax.attributes import PropertyValue
from .dataflow_pattern import OpPattern, Pattern, is_const, wildcard

__all__ = ["parse_pattern"]

T = TypeVar("T")


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern such as `relax.add(%x, relax.sum{axis=[1]}(*)) | relax.exp(const)`.

        alternatives ::= pattern ("|" pattern)*
        pattern      ::= "*" | "%name" | "const" | "(" alternatives ")" | operation
        operation    ::= name ["{" property, ... "}"] ["(" alternatives, ... ")"]
        property     ::= name "=" value

    The value of a property is written as in JSON. Errors: ValueError, with the expected and the
    given text.
    """
    parser = _PatternParser(text)
    pattern = parser.alternatives()
    parser.expect("", "the end")
    return pattern


class _PatternParser:
    """A recursive descent parser with a method for each rule of the grammar."""

    # `\Z` makes the end a token of its own, the empty one. Names have dots, as `relax.nn.conv2d`.
    _TOKEN = re.compile(r"\s*(%[\w.]+|[\w.]+|[*(){}|,=]|\Z)")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def peek(self) -> str | None:
        """Return the next token, empty at the end; None if no token is next."""
        match = self._TOKEN.match(self.text, self.position)
        return match and match[1]

    def take(self, token: str | None = None) -> bool:
        """Consume the next token if it is `token`, or any with None; return whether it was."""
        match = self._TOKEN.match(self.text, self.position)
        if match is None or (token is not None and match[1] != token):
            return False
        self.position = match.end()
        return True

    def expect(self, token: str, description: str = "") -> None:
        """Consume `token`; ValueError, with its description, if another one is next."""
        if not self.take(token):
            self.fail(description or f"'{token}'")

    def fail(self, expected: str) -> NoReturn:
        found = self.text[self.position :].strip() or "the end"
        raise ValueError(f"pattern '{self.text}': expected {expected}, got '{found}'")

    def alternatives(self) -> Pattern:
        pattern = self.pattern()
        while self.take("|"):
            pattern |= self.pattern()
        return pattern

    def pattern(self) -> Pattern:
        token = self.peek()
        if not token or not (token[0] in "*(%" or token[0].isalpha()):
            self.fail("an operation, *, %name, const or (")
        self.take()
        if token == "(":
            pattern = self.alternatives()
            self.expect(")")
            return pattern
        if token == "const":
            return is_const()
        if token[0] in "*%":
            return wildcard(token[1:])
        pattern = OpPattern(token, dict(self.items("{", "}", self.property_)))
        return pattern(*self.items("(", ")", self.alternatives)) if self.peek() == "(" else pattern

    def items(self, opening: str, closing: str, item: Callable[[], T]) -> list[T]:
        """Parse items in brackets, separated by commas; none without an opening bracket."""
        found: list[T] = []
        if not self.take(opening) or self.take(closing):
            return found
        found.append(item())
        while self.take(","):
            found.append(item())
        self.expect(closing, f"',' or '{closing}'")
        return found

    def property_(self) -> tuple[str, PropertyValue]:
        name = self.peek()
        if not name or not name[0].isalpha():
            self.fail("the name of a property")
        self.take()
        self.expect("=")
        return name, self.value()

    def value(self) -> PropertyValue:
        # JSON reads the value where it stands and says where it ends: the tokens need no numbers
        # and strings. It skips no spaces before the value.
        rest = self.text[self.position :].lstrip()
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except json.JSONDecodeError:
            value, end = None, 0
        if not _is_property_value(value):
            self.fail("a number, a string, true, false or a list of numbers")
        self.position = len(self.text) - len(rest) + end
        return value


def _is_property_value(value: object) -> TypeGuard[PropertyValue]:
    """Return whether a value of JSON can be a property: null, objects and nested lists cannot."""
    if isinstance(value, list):
        return all(isinstance(number, int | float) for number in cast(list[object], value))
    return isinstance(value, int | float | str)
