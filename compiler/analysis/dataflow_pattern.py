"""Dataflow patterns: descriptions of the operations that compute a value.

Source: `tvm.relax.dpl`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from typing import NoReturn, TypeGuard, TypeVar, cast

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import Commutative, ConstantLike

from ...dialects.relax.attributes import PropertyValue, properties_of
from ...dialects.relax.types import Tensor, is_tensor, shape_of
from ...passmanager.names import did_you_mean
from ...passmanager.registry import make_ir_context


@dataclass(frozen=True)
class Match:
    """The operations that a pattern matched, and the values of its parts: `match[pattern]`, or
    `match["x"]` for a named wildcard."""

    ops: tuple[Operation, ...] = ()
    values: Mapping[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    parts: tuple[tuple[Pattern, SSAValue], ...] = ()
    """The patterns that matched, each with its value; operands come before their operation."""

    def value_of(self, pattern: Pattern) -> SSAValue | None:
        """Return the value that a pattern matched; None if it is not part of the match."""
        return next((value for part, value in self.parts if part is pattern), None)

    def __getitem__(self, key: Pattern | str) -> SSAValue:
        found = self.values.get(key) if isinstance(key, str) else self.value_of(key)
        if found is None:
            raise KeyError(f"'{key}' is not part of the match")
        return found

    def __contains__(self, key: Pattern | str) -> bool:
        return key in self.values if isinstance(key, str) else self.value_of(key) is not None


class Pattern(ABC):
    """A description of a value by the operations that compute it.

    A pattern that stands at several places of another one matches the same value at each. `str`
    returns the text that `parse_pattern` reads.
    """

    def match(self, value: SSAValue | Operation) -> Match | None:
        """Return the first way to match a value, or the first result of an operation; None if there
        is none. Source: `extract_matched_expr` of `tvm.relax.dpl`."""
        if isinstance(value, Operation):
            if not value.results:
                return None
            value = value.results[0]
        return next(self.matches(value, Match()), None)

    def matches(self, value: SSAValue, found: Match) -> Iterator[Match]:
        """Yield `found` extended by this pattern, for each way to match `value`."""
        if (before := found.value_of(self)) is not None:
            if before is value:
                yield found
            return
        for each in self.extend(value, found):
            yield Match(each.ops, each.values, (*each.parts, (self, value)))

    @abstractmethod
    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        """Yield `found` extended by the parts of this pattern, for each way to match `value`."""

    def last_ops(self) -> frozenset[str]:
        """Return the names of the operations that can compute a matched value; none for any."""
        return frozenset()

    def __or__(self, other: Pattern) -> Pattern:
        return Either(self, other)

    def optional(self, wrap: Callable[[Pattern], Pattern]) -> Pattern:
        """Match `wrap(self)`, or else this pattern alone."""
        return wrap(self) | self

    def has_shape(self, shape: Sequence[int | None]) -> Pattern:
        """Match the values of this pattern that are tensors of this shape; None is any size."""
        return OfType(self, tuple(shape), "")

    def has_rank(self, rank: int) -> Pattern:
        """Match the values of this pattern that are tensors of this rank."""
        return self.has_shape((None,) * rank)

    def has_dtype(self, dtype: str) -> Pattern:
        """Match the values of this pattern that are tensors of these elements, such as `f32`."""
        return OfType(self, None, dtype)


def wildcard(name: str = "") -> Pattern:
    """Match any value; all wildcards of one name match the same value."""
    return Wildcard(name)


def is_const() -> Pattern:
    """Match a constant."""
    return Constant()


def is_arg() -> Pattern:
    """Match a parameter of a function or another region. Source: `is_var` of `tvm.relax.dpl`."""
    return Argument()


def is_op(name: str, **attributes: PropertyValue) -> OpPattern:
    """Match the first result of an operation `name` with these properties.

    Call the pattern with patterns of operands to constrain these too:
    `is_op("relax.add")(wildcard(), is_const())`, in any order if the operation is commutative.
    Errors: ValueError for a name that a registered dialect does not have.
    """
    return OpPattern(name, attributes)


@dataclass(frozen=True)
class Wildcard(Pattern):
    """Any value."""

    name: str

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if not self.name:
            yield found
        # A match is copied to extend it, so that failed alternatives leave nothing.
        elif found.values.get(self.name, value) is value:
            yield Match(found.ops, {**found.values, self.name: value}, found.parts)

    def __str__(self) -> str:
        return f"%{self.name}" if self.name else "*"


@dataclass(frozen=True)
class Constant(Pattern):
    """A constant."""

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if isinstance(value.owner, Operation) and value.owner.has_trait(
            ConstantLike, value_if_unregistered=False
        ):
            yield found

    def __str__(self) -> str:
        return "const"


@dataclass(frozen=True)
class Argument(Pattern):
    """An argument of a block."""

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if isinstance(value, BlockArgument):
            yield found

    def __str__(self) -> str:
        return "arg"


@dataclass(frozen=True)
class OfType(Pattern):
    """The values of a pattern that are tensors of a shape, of an element type or of both."""

    pattern: Pattern
    shape: tuple[int | None, ...] | None
    dtype: str

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        if is_tensor(value.type) and self._is_of(value.type):
            yield from self.pattern.matches(value, found)

    def _is_of(self, type: Tensor) -> bool:
        if self.dtype and str(type.element_type) != self.dtype:
            return False
        if self.shape is None:
            return True
        shape = shape_of(type)
        return (
            shape is not None
            and len(shape) == len(self.shape)
            and all(size in (None, own) for size, own in zip(self.shape, shape, strict=True))
        )

    def last_ops(self) -> frozenset[str]:
        return self.pattern.last_ops()

    def __str__(self) -> str:
        sizes = ["?" if size is None else str(size) for size in self.shape or ()]
        type = "x".join(filter(None, (*sizes, self.dtype)))
        return f"{self.pattern}:{type or 'scalar'}"


@dataclass(frozen=True)
class Either(Pattern):
    """A choice of two patterns; matches of the first come first."""

    first: Pattern
    second: Pattern

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        # Lazily: the second is tried only if no later part of the pattern fits with the first.
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

    def __post_init__(self) -> None:
        names = _names_of(self.name.partition(".")[0])
        if names and self.name not in names:
            hint = did_you_mean(self.name, names)
            raise ValueError(f"pattern of an operation '{self.name}': there is none{hint}")

    def __call__(self, *operands: Pattern) -> OpPattern:
        return OpPattern(self.name, self.attributes, operands)

    def has_attr(self, attributes: Mapping[str, PropertyValue]) -> OpPattern:
        """Match the operations of this pattern with these properties, too."""
        return OpPattern(self.name, {**self.attributes, **attributes}, self.operands)

    def extend(self, value: SSAValue, found: Match) -> Iterator[Match]:
        op = value.owner
        if not isinstance(op, Operation) or op.name != self.name or not self._has_attributes(op):
            return
        found = Match((*found.ops, op), found.values, found.parts)
        if self.operands is None:
            yield found
        elif len(self.operands) == len(op.operands):
            # n operands have n! orders; commutative operations of `relax` have two.
            orders = (
                permutations(self.operands)
                if op.has_trait(Commutative, value_if_unregistered=False)
                else [self.operands]
            )
            for patterns in orders:
                yield from _match_all(patterns, op.operands, found)

    def _has_attributes(self, op: Operation) -> bool:
        if not self.attributes:
            return True
        if not isinstance(op, IRDLOperation):
            return False
        definitions = op.get_irdl_definition().properties
        if not self.attributes.keys() <= definitions.keys():
            return False
        given = {name: definitions[name].default_value for name in definitions} | op.properties
        expected = properties_of(type(op), self.attributes)
        return all(given[name] == value for name, value in expected.items())

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


@cache
def _names_of(dialect: str) -> frozenset[str]:
    """Return the names of the operations of a dialect; none if it is not registered, so that its
    operations are not known."""
    context = make_ir_context()
    if dialect not in context.registered_dialect_names:
        return frozenset()
    context.load_registered_dialect(dialect)
    return frozenset(op.name for op in context.loaded_ops)


def _match_all(
    patterns: Sequence[Pattern], values: Sequence[SSAValue], found: Match
) -> Iterator[Match]:
    if not patterns:
        yield found
        return
    # Backtracks: `add(%x, mul(%x, *))` has to try each way to bind %x.
    for first in patterns[0].matches(values[0], found):
        yield from _match_all(patterns[1:], values[1:], first)


# The parser of dataflow patterns.


T = TypeVar("T")


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern such as `relax.add(%x, relax.sum{axis=[1]}(*)) | relax.exp(const)`.

        alternatives ::= pattern ("|" pattern)*
        pattern      ::= ("*" | "%name" | "const" | "arg" | "(" alternatives ")" | operation) type?
        operation    ::= name ["{" property, ... "}"] ["(" alternatives, ... ")"]
        property     ::= name "=" value
        type         ::= ":" (sizes | dtype | sizes "x" dtype | "scalar"), as in 2x?xf32

    The value of a property is written as in JSON. Errors: ValueError, with the expected and the
    given text, or the name of an operation that a registered dialect does not have.
    """
    parser = _PatternParser(text)
    pattern = parser.alternatives()
    parser.expect("", "the end")
    return pattern


class _PatternParser:
    """A recursive descent parser with a method for each rule of the grammar."""

    # `\Z` makes the end a token of its own, the empty one. Names have dots, as `relax.nn.conv2d`.
    _TOKEN = re.compile(r"\s*(%[\w.]+|[\w.]+|[*(){}|,=]|:\s*[\w?]+|\Z)")
    _TYPE = re.compile(r"(?:scalar|((?:\d+|\?)(?:x(?:\d+|\?))*))?x?((?!x)[a-z]+\d*(?:E\w+)?)?")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def peek(self) -> str | None:
        """Return the next token, empty at the end; None if no token is next."""
        match = self._TOKEN.match(self.text, self.position)
        return match and match[1]

    def take(self, token: str | None = None) -> bool:
        """Consume the next token if it is `token`, or if `token` is None; return whether one was
        consumed."""
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
        pattern = self.untyped()
        while (token := self.peek()) and token[0] == ":":
            type = token[1:].strip()
            if (match := self._TYPE.fullmatch(type)) is None or not type:
                self.fail("a type, as 2x?xf32, after ':'")
            self.take()
            sizes = [
                None if size == "?" else int(size) for size in (match[1] or "").split("x") if size
            ]
            shape = tuple(sizes) if sizes or type == "scalar" else None
            pattern = OfType(pattern, shape, match[2] or "")
        return pattern

    def untyped(self) -> Pattern:
        token = self.peek()
        if not token or not (token[0] in "*(%" or token[0].isalpha()):
            self.fail("an operation, *, %name, const, arg or (")
        self.take()
        if token == "(":
            pattern = self.alternatives()
            self.expect(")")
            return pattern
        if token in ("const", "arg"):
            return is_const() if token == "const" else is_arg()
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
