"""Linear forms: sums of integer multiples of atoms (TVM `SumExpr`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from math import gcd
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue


class AtomKind(Enum):
    """The function that an atom applies to its operands."""

    VALUE = "an SSA value; only its range is known"
    LOOP = "a loop variable, from the first operand to the second, both included"
    FLOORDIV = "quotient, rounded down"
    MOD = "remainder of FLOORDIV, with the sign of the divisor"
    DIV = "quotient, rounded to 0"
    REM = "remainder of DIV, with the sign of the dividend"
    MIN = "minimum"
    MAX = "maximum"
    MUL = "product"
    OP = "result of the operation that defines `value`, on these operands"


DIVISIONS = frozenset((AtomKind.FLOORDIV, AtomKind.MOD, AtomKind.DIV, AtomKind.REM))


@dataclass(eq=False, slots=True)
class Atom:
    """An integer that a linear form does not take apart.

    Atoms are hash-consed: equal functions of equal operands are one object in an analyzer, so that
    atoms compare by identity. `value` is an SSA value with the value of the atom, or None if the
    IR has none.
    """

    number: int
    """The position in the order in which the atoms were made: terms are sorted by it."""
    kind: AtomKind
    operands: tuple[LinearForm, ...]
    value: SSAValue | None
    depth: int = 1
    """How deep functions are nested in it: 1 more than the deepest atom of its operands."""
    has_division: bool = False
    """Whether it is a quotient or a remainder, or a product with one as a factor."""


Terms = tuple[tuple[Atom, int], ...]
"""Pairs of an atom and its coefficient, which is not 0, sorted by the number of the atom."""


class LinearForm(NamedTuple):
    """The sum of `constant` and, for each of `terms`, an atom times its coefficient.

    Forms are added to forms and integers, and multiplied by integers. Equal forms are equal tuples.
    Integers do not overflow.
    """

    terms: Terms
    constant: int

    @staticmethod
    def of(atom: Atom) -> LinearForm:
        """Return the form of a single atom."""
        return LinearForm(((atom, 1),), 0)

    @property
    def atom(self) -> Atom | None:
        """The atom of a form that is a single atom; None for any other form."""
        if self.constant or len(self.terms) != 1 or self.terms[0][1] != 1:
            return None
        return self.terms[0][0]

    def coefficient(self, atom: Atom) -> int:
        """Return the coefficient of `atom`; 0 if it is not a term."""
        for other, factor in self.terms:
            if other is atom:
                return factor
        return 0

    def without(self, atom: Atom) -> LinearForm:
        """Return the form without the term of `atom`."""
        return LinearForm(tuple(term for term in self.terms if term[0] is not atom), self.constant)

    def __add__(self, other: LinearForm | int) -> LinearForm:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(other, int):
            return LinearForm(self.terms, self.constant + other) if other else self
        constant = self.constant + other.constant
        if not other.terms:
            return LinearForm(self.terms, constant)
        if not self.terms:
            return LinearForm(other.terms, constant)
        # A dict and a sort instead of a merge of two sorted tuples: sums are short (MAX_TERMS).
        total = dict(self.terms)
        for atom, count in other.terms:
            total[atom] = total.get(atom, 0) + count
        terms = [term for term in total.items() if term[1]]
        terms.sort(key=_number)
        return LinearForm(tuple(terms), constant)

    def __neg__(self) -> LinearForm:
        return self * -1

    def __sub__(self, other: LinearForm | int) -> LinearForm:
        return self + -other

    def __mul__(self, factor: int) -> LinearForm:  # pyright: ignore[reportIncompatibleMethodOverride]
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return LinearForm(tuple([(a, c * factor) for a, c in self.terms]), self.constant * factor)

    def primitive(self) -> tuple[Terms, int]:
        """Return the primitive part of the terms and the factor that was taken out.

        The primitive part has coefficients without a common divisor, the first of them positive:
        `-4*x + 6*y` is -2 times `2*x - 3*y`. Constraints are stored by primitive part, so that one
        on `2*x - 3*y` is found for all its multiples.
        """
        if not self.terms:
            return (), 1
        # The constant is left out: `4*x + 2 <= 9` and `4*x <= 7` are one constraint on `x`.
        factor = gcd(*(count for _, count in self.terms))
        if self.terms[0][1] < 0:
            factor = -factor
        if factor == 1:
            return self.terms, 1
        return tuple((atom, count // factor) for atom, count in self.terms), factor


ZERO, ONE = LinearForm((), 0), LinearForm((), 1)


def _number(term: tuple[Atom, int]) -> int:
    return term[0].number


def depends_on(form: LinearForm, atom: Atom) -> bool:
    """Return whether `atom` occurs in `form`, as a term or nested in the operands of one."""
    # Atoms are shared, so the operands form a DAG: without `seen` the walk may be exponential.
    seen: set[Atom] = set()
    pending: list[Iterable[tuple[Atom, int]]] = [form.terms]
    while pending:
        for other, _ in pending.pop():
            if other is atom:
                return True
            if other not in seen:
                seen.add(other)
                pending += (operand.terms for operand in other.operands)
    return False


def varies_in(op: Operation, atom: Atom) -> bool:
    """Return whether `atom` may have several values while `op` runs once."""
    # A value that no operation defines is taken to vary, which is the safe answer.
    if atom.kind in (AtomKind.VALUE, AtomKind.LOOP):
        return atom.value is None or op.is_ancestor(atom.value.owner)
    return any(varies_in(op, other) for form in atom.operands for other, _ in form.terms)
