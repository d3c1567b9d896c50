"""Integers as linear forms: sums of whole multiples of atoms, and the ranges they lie in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import gcd
from typing import Generic, NamedTuple, TypeVar

from xdsl.ir import SSAValue

__all__ = ["Atom", "Function", "Linear", "Range", "Scoped", "Stack", "Terms"]

K = TypeVar("K")
V = TypeVar("V")


class Range(NamedTuple):
    """The integers from `low` to `high` but for `holes`; None is no bound."""

    low: int | None = None
    high: int | None = None
    holes: frozenset[int] = frozenset()

    @property
    def constant(self) -> int | None:
        """The only integer in it, if there is just one."""
        return self.low if self.low == self.high else None

    def plus(self, other: Range) -> Range:
        """All sums of an integer of each."""
        low = None if self.low is None or other.low is None else self.low + other.low
        high = None if self.high is None or other.high is None else self.high + other.high
        if (shift := other.constant) is not None:
            return Range(low, high, frozenset(hole + shift for hole in self.holes))
        if (shift := self.constant) is not None:
            return Range(low, high, frozenset(hole + shift for hole in other.holes))
        return Range(low, high)

    def scaled(self, factor: int) -> Range:
        """All multiples by a factor."""
        ends = [None if end is None else end * factor for end in (self.low, self.high)]
        if factor < 0:
            ends.reverse()
        holes = self.holes if factor == 1 else frozenset(hole * factor for hole in self.holes)
        return Range(ends[0], ends[1], holes)

    def times(self, other: Range) -> Range:
        """All products of an integer of each."""
        a, b = self, other
        if a.low is not None and b.low is not None and min(a.low, b.low) >= 0:
            high = None if a.high is None or b.high is None else a.high * b.high
            return Range(a.low * b.low, high)
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return Range()
        ends = [one * two for one in (a.low, a.high) for two in (b.low, b.high)]
        return Range(min(ends), max(ends))

    def meet(self, other: Range) -> Range:
        """The integers in both; may be empty, with `low` above `high`."""
        low = self.low if other.low is None else other.low
        if low is not None and self.low is not None:
            low = max(low, self.low)
        high = self.high if other.high is None else other.high
        if high is not None and self.high is not None:
            high = min(high, self.high)
        holes = self.holes | other.holes
        while low in holes:
            low += 1
        while high in holes:
            high -= 1
        return Range(low, high, holes)

    def join(self, other: Range) -> Range:
        """The least range that holds both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(low, high, self.holes & other.holes)

    def floordiv(self, divisor: int) -> Range:
        """The quotients by a positive integer, rounded down."""
        low = None if self.low is None else self.low // divisor
        return Range(low, None if self.high is None else self.high // divisor)

    @property
    def is_empty(self) -> bool:
        """Whether there is no integer in it."""
        return self.low is not None and self.high is not None and self.low > self.high


class Function(Enum):
    """What an atom is of its operands."""

    VALUE = "a value that nothing is known of but its range"
    LOOP = "the variable of a loop, from one operand up to the other"
    FLOORDIV = "the quotient, rounded down"
    MOD = "what that quotient leaves, of the sign of the divisor"
    DIV = "the quotient, rounded to 0"
    REM = "what that quotient leaves, of the sign of the dividend"
    MIN = "the least"
    MAX = "the greatest"
    MUL = "the product"
    OP = "what the operation that defines `value` gives for such operands"


@dataclass(eq=False, slots=True)
class Atom:
    """An integer that linear forms are made of; those of an analyzer that are equal are one object.

    `value` is a value that it is, None for one that is nowhere in the IR.
    """

    number: int
    function: Function
    operands: tuple[Linear, ...]
    value: SSAValue | None
    depth: int = 0
    divides: bool = False
    """Whether it is a quotient or a remainder, or has one as a factor."""


Terms = tuple[tuple[Atom, int], ...]
"""Atoms and how many of each, none of them 0, in the order in which the atoms were made."""


class Linear(NamedTuple):
    """The sum of the terms and a constant."""

    terms: Terms
    constant: int

    @staticmethod
    def of(atom: Atom) -> Linear:
        """The atom itself."""
        return Linear(((atom, 1),), 0)

    @property
    def atom(self) -> Atom | None:
        """The atom that it is, if it is one."""
        if self.constant or len(self.terms) != 1 or self.terms[0][1] != 1:
            return None
        return self.terms[0][0]

    def coefficient(self, atom: Atom) -> int:
        """How often it has the atom."""
        for other, factor in self.terms:
            if other is atom:
                return factor
        return 0

    def without(self, atom: Atom) -> Linear:
        """The rest, but for the multiple of the atom."""
        return Linear(tuple(term for term in self.terms if term[0] is not atom), self.constant)

    def shifted(self, constant: int) -> Linear:
        """The sum with an integer."""
        return Linear(self.terms, self.constant + constant) if constant else self

    def scaled(self, factor: int) -> Linear:
        """The product with an integer."""
        if factor == 1:
            return self
        if factor == 0:
            return Linear((), 0)
        return Linear(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum with `factor` times the other."""
        constant = self.constant + factor * other.constant
        if not other.terms:
            return Linear(self.terms, constant)
        if not self.terms:
            return Linear(other.scaled(factor).terms, constant)
        total = dict(self.terms)
        for atom, count in other.terms:
            total[atom] = total.get(atom, 0) + factor * count
        terms = [term for term in total.items() if term[1]]
        terms.sort(key=_number)
        return Linear(tuple(terms), constant)

    def minus(self, other: Linear) -> Linear:
        """The difference."""
        return self.plus(other, -1)

    def primitive(self) -> tuple[Terms, int]:
        """The terms divided by what they have in common, the first then positive; and by what."""
        if not self.terms:
            return (), 1
        factor = gcd(*(count for _, count in self.terms))
        if self.terms[0][1] < 0:
            factor = -factor
        if factor == 1:
            return self.terms, 1
        return tuple((atom, count // factor) for atom, count in self.terms), factor


def _number(term: tuple[Atom, int]) -> int:
    return term[0].number


class Scoped(dict[K, V], Generic[K, V]):
    """A dict that can go back to what it was."""

    def __init__(self) -> None:
        super().__init__()
        self._before: list[tuple[K, V | None]] = []

    def put(self, key: K, value: V) -> None:
        """Set what is at the key, until `back`; not None."""
        self._before.append((key, self.get(key)))
        self[key] = value

    def mark(self) -> int:
        """Where `back` is to go back to."""
        return len(self._before)

    def back(self, mark: int) -> None:
        """Forget what was put since the mark."""
        before = self._before
        while len(before) > mark:
            key, value = before.pop()
            if value is None:
                del self[key]
            else:
                self[key] = value


class Stack(NamedTuple, Generic[V]):
    """A list that shares its tail with others."""

    first: V
    rest: Stack[V] | None = None

    def entries(self) -> Iterator[V]:
        """From the one put last."""
        here: Stack[V] | None = self
        while here is not None:
            yield here.first
            here = here.rest
