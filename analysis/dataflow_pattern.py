"""Patterns on dataflow: which operations a value is made by."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import TypeVar

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import Commutative, ConstantLike

from ..dialects.relax.attributes import PropertyValue, properties_of

__all__ = ["Match", "Pattern", "is_const", "is_op", "parse_pattern", "wildcard"]


T = TypeVar("T")


@dataclass(frozen=True)
class Match:
    """What a pattern was found to be: its operations, and the values of its named wildcards."""

    ops: tuple[Operation, ...] = ()
    values: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])


class Pattern(ABC):
    """What a value may be made by; `str` gives the text that `parse_pattern` reads.

    Source: `tvm.relax.dpl`.
    """

    @abstractmethod
    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        """`found`, with what this pattern adds to it, for each way in which it matches `value`."""

    @abstractmethod
    def last_ops(self) -> frozenset[str]:
        """The names of the operations that a match can end with."""

    def __or__(self, other: Pattern) -> Pattern:
        return Either(self, other)

    def optional(self, wrap: Callable[[Pattern], Pattern]) -> Pattern:
        """What `wrap` makes of this pattern, or if there is no such thing this one."""
        return wrap(self) | self


def wildcard(name: str = "") -> Pattern:
    """Any value; where a name is used again, the same value."""
    return Wildcard(name)


def is_const() -> Pattern:
    """A constant."""
    return Constant()


def is_op(name: str, **attributes: PropertyValue) -> OpPattern:
    """The result of an operation of that name with these properties, whatever its operands; called
    with patterns, that of one with such operands, in either order if it is commutative."""
    return OpPattern(name, attributes)


@dataclass(frozen=True)
class Wildcard(Pattern):
    """Any value."""

    name: str

    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if not self.name:
            yield found
        elif found.values.get(self.name, value) is value:
            yield Match(found.ops, {**found.values, self.name: value})

    def last_ops(self) -> frozenset[str]:
        return frozenset()

    def __str__(self) -> str:
        return f"%{self.name}" if self.name else "*"


@dataclass(frozen=True)
class Constant(Pattern):
    """A constant."""

    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if isinstance(value.owner, Operation) and value.owner.has_trait(ConstantLike):
            yield found

    def last_ops(self) -> frozenset[str]:
        return frozenset()

    def __str__(self) -> str:
        return "const"


@dataclass(frozen=True)
class Either(Pattern):
    """What one of two patterns matches, the first if both do."""

    first: Pattern
    second: Pattern

    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        yield from self.first.matches(value, found)
        yield from self.second.matches(value, found)

    def last_ops(self) -> frozenset[str]:
        return self.first.last_ops() | self.second.last_ops()

    def __str__(self) -> str:
        return f"({self.first} | {self.second})"


@dataclass(frozen=True)
class OpPattern(Pattern):
    """The result of an operation."""

    name: str
    attributes: Mapping[str, PropertyValue]
    operands: tuple[Pattern, ...] | None = None

    def __call__(self, *operands: Pattern) -> Pattern:
        return OpPattern(self.name, self.attributes, operands)

    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        op = value.owner
        if not isinstance(op, Operation) or op.name != self.name or not self._has_attributes(op):
            return
        found = Match((*found.ops, op), found.values)
        if self.operands is None:
            yield found
        elif len(self.operands) == len(op.operands):
            orders = permutations(self.operands) if op.has_trait(Commutative) else [self.operands]
            for patterns in orders:
                yield from _match_all(patterns, op.operands, found)

    def _has_attributes(self, op: Operation) -> bool:
        if not self.attributes:
            return True
        if not isinstance(op, IRDLOperation):
            return False
        if not self.attributes.keys() <= op.get_irdl_definition().properties.keys():
            return False
        expected = properties_of(type(op), self.attributes)
        return all(_property(op, name) == value for name, value in expected.items())

    def last_ops(self) -> frozenset[str]:
        return frozenset([self.name])

    def __str__(self) -> str:
        text = self.name
        if self.attributes:
            parts = (f"{name}={json.dumps(value)}" for name, value in self.attributes.items())
            text += f"{{{', '.join(parts)}}}"
        if self.operands is not None:
            text += f"({', '.join(map(str, self.operands))})"
        return text


def _match_all(
    patterns: Sequence[Pattern], values: Sequence[SSAValue], found: Match
) -> Iterator[Match]:
    if not patterns:
        yield found
        return
    for first in patterns[0].matches(values[0], found):
        yield from _match_all(patterns[1:], values[1:], first)


def _property(op: IRDLOperation, name: str) -> Attribute | None:
    default = op.get_irdl_definition().properties[name].default_value
    return op.properties.get(name, default)


# Text


def parse_pattern(text: str) -> Pattern:
    """The pattern that a text spells: `*`, `%name`, `const`, `relax.nn.conv2d`, an operation with
    operands or properties, `relax.add{}(*, const)`, and alternatives, `a | b`, in parentheses or
    not.

    Errors: ValueError, with what was expected and where.
    """
    reader = _Reader(text)
    pattern = reader.alternatives()
    reader.expect("", "the end")
    return pattern


class _Reader:
    """The tokens of a pattern's text."""

    _TOKEN = re.compile(r"\s*(%[\w.]+|[\w.]+|[*(){}|,=]|\Z)")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def peek(self) -> str | None:
        match = self._TOKEN.match(self.text, self.position)
        return match and match[1]

    def take(self, token: str | None = None) -> bool:
        """Go on by one token, if it is the one given."""
        match = self._TOKEN.match(self.text, self.position)
        if match is None or token is not None and match[1] != token:
            return False
        self.position = match.end()
        return True

    def expect(self, token: str, what: str = "") -> None:
        if not self.take(token):
            self.fail(what or f"'{token}'")

    def fail(self, expected: str) -> None:
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
        assert token is not None
        self.take()
        if token == "(":
            pattern = self.alternatives()
            self.expect(")")
            return pattern
        if token == "const":
            return is_const()
        if token[0] in "*%":
            return wildcard(token[1:])
        pattern = is_op(token, **dict(self.items("{", "}", self.attribute)))
        return pattern(*self.items("(", ")", self.alternatives)) if self.peek() == "(" else pattern

    def items(self, opening: str, closing: str, item: Callable[[], T]) -> list[T]:
        """What stands between commas, in brackets; nothing if there are none."""
        found: list[T] = []
        if not self.take(opening) or self.take(closing):
            return found
        found.append(item())
        while self.take(","):
            found.append(item())
        self.expect(closing, f"',' or '{closing}'")
        return found

    def attribute(self) -> tuple[str, PropertyValue]:
        name = self.peek()
        if not name or not name[0].isalpha():
            self.fail("the name of a property")
        self.take()
        self.expect("=")
        try:
            value, self.position = json.JSONDecoder().raw_decode(self.text, self.position)
        except json.JSONDecodeError:
            self.fail("a number, a string, true, false or a list of numbers")
            raise
        return str(name), value
