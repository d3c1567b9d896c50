"""Sums, products, quotients, minima of linear forms, simplified by what is known of them."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Literal

from xdsl.ir import SSAValue

from .constraints import Facts
from .linear_form import Atom, Function, Linear, Range, Scoped

__all__ = ["MIRRORED", "NEGATED", "ONE", "ZERO", "Algebra", "Predicate"]

Predicate = Literal["eq", "ne", "slt", "sle", "sgt", "sge"]
"""How two integers are compared, named as in `arith.cmpi`."""

NEGATED: dict[Predicate, Predicate] = {
    "eq": "ne",
    "ne": "eq",
    "slt": "sge",
    "sge": "slt",
    "sle": "sgt",
    "sgt": "sle",
}
MIRRORED: dict[Predicate, Predicate] = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}
"""How `b` compares with `a`, where that differs from how `a` does with `b`."""

MOST_PRODUCTS = 8
"""A product of sums that is one of more terms is not multiplied out."""

DIVIDING = frozenset((Function.FLOORDIV, Function.MOD, Function.DIV, Function.REM))

ZERO, ONE = Linear((), 0), Linear((), 1)


class Algebra:
    """Linear forms under what `facts` knows; equal functions of equal forms are one atom.

    Integers do not overflow, and nothing is divided by 0.
    """

    def __init__(self, transitive: bool = False) -> None:
        self.facts = Facts(transitive)
        self.atoms: Scoped[tuple[object, ...], Atom] = Scoped()
        self._number = 0

    # Comparisons

    def is_non_negative(self, form: Linear) -> bool:
        """Whether a form is shown to be 0 or greater."""
        return self.can_prove("sge", form, ZERO)

    def can_prove(self, predicate: Predicate, a: Linear, b: Linear) -> bool:
        """Whether a comparison of two forms is shown to hold."""
        return self.compare(predicate, a, b) is True

    def compare(self, predicate: Predicate, a: Linear, b: Linear) -> bool | None:
        """Whether a comparison of two forms is shown to hold or shown not to; signed."""
        return self.compared(predicate, a.minus(b))

    def compared(self, predicate: Predicate, difference: Linear) -> bool | None:
        """Whether a comparison of a form with 0 is shown to hold or not to."""
        if predicate in ("eq", "ne"):
            difference = self.even(difference)
            if difference.terms and difference.constant % difference.primitive()[1]:
                return predicate == "ne"
        return self.facts.decide(difference, ANSWERS[predicate])

    def even(self, difference: Linear) -> Linear:
        """A form that is 0 where another one is: `x mod y` for `-x mod y`."""
        if difference.constant or len(difference.terms) != 1:
            return difference
        atom = difference.terms[0][0]
        if atom.function is Function.MOD and atom.operands[0].primitive()[1] < 0:
            return self.mod(atom.operands[0].scaled(-1), atom.operands[1])
        return difference

    # Operations

    def add(self, a: Linear, b: Linear, factor: int = 1) -> Linear:
        """`a + factor * b`, in which quotients and what they leave are put together again."""
        return self._recombined(a.plus(b, factor))

    def multiply(self, a: Linear, b: Linear) -> Linear:
        """The product, multiplied out unless that is long."""
        if not a.terms or not b.terms:
            return b.scaled(a.constant) if not a.terms else a.scaled(b.constant)
        sizes = [len(one.terms) + bool(one.constant) for one in (a, b)]
        if sizes[0] * sizes[1] > MOST_PRODUCTS:
            return self._function(Function.MUL, *sorted((a, b), key=_order))
        total = a.scaled(b.constant).plus(b.shifted(-b.constant), a.constant)
        for left, m in a.terms:
            for right, n in b.terms:
                factors = [*factors_of(left), *factors_of(right)]
                total = total.plus(Linear(((self._product(factors), m * n),), 0))
        return self._recombined(total)

    def floordiv(self, a: Linear, b: Linear | int) -> Linear:
        """The quotient, rounded down; dividing by 0 may give anything."""
        b = Linear((), b) if isinstance(b, int) else b
        if not b.terms:
            if b.constant < 0:
                return self._divided_by_constant(a.scaled(-1), -b.constant)
            return self._divided_by_constant(a, b.constant) if b.constant else ZERO
        whole, left = self._split(a, b)
        if left == ZERO or self._is_remainder(left, b):
            return whole
        return whole.plus(self._function(Function.FLOORDIV, left, b))

    def mod(self, a: Linear, b: Linear | int) -> Linear:
        """What `floordiv` leaves: of the sign of the divisor."""
        b = Linear((), b) if isinstance(b, int) else b
        if b.constant < 0 and not b.terms:
            return self.mod(a.scaled(-1), -b.constant).scaled(-1)
        if not b.terms:
            return self._left_by_constant(a, b.constant) if b.constant else ZERO
        _, left = self._split(self._without_mod(a, b), b)
        if left == ZERO or self._is_remainder(left, b):
            return left
        return self._function(Function.MOD, left, b)

    def div(self, a: Linear, b: Linear) -> Linear:
        """The quotient, rounded to 0."""
        return self._truncating(a, b, self.floordiv, Function.DIV)

    def rem(self, a: Linear, b: Linear) -> Linear:
        """What `div` leaves: of the sign of the dividend."""
        return self._truncating(a, b, self.mod, Function.REM)

    def minimum(self, a: Linear, b: Linear) -> Linear:
        """The lesser."""
        if (lesser := self.compare("sle", a, b)) is not None:
            return a if lesser else b
        return self._function(Function.MIN, *sorted((a, b), key=_order))

    def maximum(self, a: Linear, b: Linear) -> Linear:
        """The greater."""
        if (greater := self.compare("sge", a, b)) is not None:
            return a if greater else b
        return self._function(Function.MAX, *sorted((a, b), key=_order))

    def _truncating(
        self,
        a: Linear,
        b: Linear,
        flooring: Callable[[Linear, Linear], Linear],
        function: Function,
    ) -> Linear:
        """A division that is the flooring one where nothing is negative."""
        if not b.terms and b.constant < 0:
            result = self._truncating(a, b.scaled(-1), flooring, function)
            return result.scaled(-1) if function is Function.DIV else result
        if self.can_prove("sgt", b, ZERO):
            if self.is_non_negative(a):
                return flooring(a, b)
            if self.can_prove("sle", a, ZERO):
                return flooring(a.scaled(-1), b).scaled(-1)
        inner = a.atom
        if function is Function.REM and inner is not None and inner.divides:
            dividend, divisor = inner.operands[0], inner.operands[-1]
            same = inner.function is Function.REM or (
                inner.function is Function.MOD and self.is_non_negative(dividend)
            )
            if same and self._exact(divisor, b) is not None:
                return self.rem(dividend, b)
        if a.primitive()[1] < 0:
            return self._function(function, a.scaled(-1), b).scaled(-1)
        return self._function(function, a, b)

    def _split(self, a: Linear, b: Linear) -> tuple[Linear, Linear]:
        """`(q, r)` with `a = b * q + r`, where `q` takes all terms that are multiples of `b`."""
        if not b.terms:
            divisor = b.constant
            whole = tuple((atom, n // divisor) for atom, n in a.terms if n % divisor == 0)
            left = tuple((atom, n) for atom, n in a.terms if n % divisor)
            return Linear(whole, a.constant // divisor), Linear(left, a.constant % divisor)
        if b.constant or len(b.terms) > 1:
            atom, count = b.terms[0]
            times = a.coefficient(atom) // count
            left = a.plus(b, -times)
            return (Linear((), times), left) if len(left.terms) < len(a.terms) else (ZERO, a)
        whole, left = ZERO, Linear((), a.constant)
        for term in a.terms:
            one = Linear((term,), 0)
            if (quotient := self._exact(one, b)) is not None:
                whole = whole.plus(quotient)
            else:
                left = left.plus(one)
        return whole, left

    def _exact(self, a: Linear, b: Linear) -> Linear | None:
        """`q` with `a = b * q`, where both are one term or a constant; None if there is none."""
        if not b.terms:
            if not b.constant:
                return None
            counts = [count for _, count in a.terms] + [a.constant]
            if any(count % b.constant for count in counts):
                return None
            return Linear(tuple((x, n // b.constant) for x, n in a.terms), a.constant // b.constant)
        if a.constant or b.constant or len(a.terms) != 1 or len(b.terms) != 1:
            return None
        (atom, count), (divisor, divided) = a.terms[0], b.terms[0]
        factors = factors_of(atom)
        for factor in factors_of(divisor):
            if factor not in factors:
                return None
            factors.remove(factor)
        if count % divided:
            return None
        if not factors:
            return Linear((), count // divided)
        return Linear(((self._product(factors), count // divided),), 0)

    def _divided_by_constant(self, a: Linear, divisor: int) -> Linear:
        whole, left = self._split(a, Linear((), divisor))
        found = self.facts.range_of(left).floordiv(divisor)
        if (constant := found.constant) is not None:
            return whole.shifted(constant)
        terms, factor = left.primitive()
        if (common := gcd(factor, divisor)) > 1:
            less = Linear(tuple((x, n * factor // common) for x, n in terms), 0)
            less = less.shifted(left.constant // common)
            return whole.plus(self._divided_by_constant(less, divisor // common))
        if len(terms) == 1 and factor == 1 and terms[0][0].function is Function.FLOORDIV:
            dividend, inner = terms[0][0].operands
            if not inner.terms and inner.constant > 0:
                dividend = dividend.shifted(left.constant * inner.constant)
                return whole.plus(self._divided_by_constant(dividend, inner.constant * divisor))
        if self._is_remainder(left, Linear((), divisor)):
            return whole
        return whole.plus(self._function(Function.FLOORDIV, left, Linear((), divisor)))

    def _left_by_constant(self, a: Linear, divisor: int) -> Linear:
        _, left = self._split(self._without_mod(a, Linear((), divisor)), Linear((), divisor))
        found = self.facts.range_of(left).floordiv(divisor)
        if (constant := found.constant) is not None:
            return left.shifted(-constant * divisor)
        terms, factor = left.primitive()
        if (common := gcd(factor, divisor)) > 1:
            less = Linear(tuple((x, n * factor // common) for x, n in terms), 0)
            less = less.shifted(left.constant // common)
            kept = left.constant % common
            return self._left_by_constant(less, divisor // common).scaled(common).shifted(kept)
        if self._is_remainder(left, Linear((), divisor)):
            return left
        return self._function(Function.MOD, left, Linear((), divisor))

    def _without_mod(self, a: Linear, divisor: Linear) -> Linear:
        """`a` with `x` for each `x mod y` of which `divisor` takes away all that that took."""
        for atom, count in a.terms:
            if atom.function is Function.MOD:
                dividend, inner = atom.operands
                if self._exact(inner.scaled(count), divisor) is not None:
                    a = a.plus(Linear.of(atom), -count).plus(dividend, count)
        return a

    def _is_remainder(self, left: Linear, divisor: Linear) -> bool:
        """Whether `0 <= left < divisor` is shown."""
        return self.is_non_negative(left) and self.can_prove("slt", left, divisor)

    def _recombined(self, total: Linear) -> Linear:
        """A sum with `x` for each `x div y * y + x mod y`, and `x mod y` for what that leaves."""
        pending = [term for term in total.terms if term[0].divides]
        while pending:
            atom, count = pending.pop()
            for quotient in factors_of(atom):
                if quotient.function not in (Function.FLOORDIV, Function.DIV):
                    continue
                rest = factors_of(atom)
                rest.remove(quotient)
                outer = Linear(((self._product(rest), count),), 0) if rest else Linear((), count)
                dividend, divisor = quotient.operands
                if (times := self._exact(outer, divisor)) is None:
                    continue
                flooring = quotient.function is Function.FLOORDIV
                left = (self.mod if flooring else self.rem)(dividend, divisor)
                new = total.plus(Linear.of(atom), -count)
                new = new.plus(self._scaled(dividend, times)).minus(self._scaled(left, times))
                if _weight(new) < _weight(total):
                    total = new
                    pending = [term for term in total.terms if term[0].divides]
                    break
        return total

    def _scaled(self, form: Linear, times: Linear) -> Linear:
        """The product with one term or a constant."""
        if not times.terms:
            return form.scaled(times.constant)
        (atom, count), total = times.terms[0], Linear((), 0)
        if form.constant:
            total = Linear(((atom, count * form.constant),), 0)
        for other, n in form.terms:
            product = self._product([*factors_of(other), *factors_of(atom)])
            total = total.plus(Linear(((product, n * count),), 0))
        return total

    # Atoms

    def _function(self, function: Function, *operands: Linear) -> Linear:
        key = (function, operands)
        if (atom := self.atoms.get(key)) is None:
            atom = self._make(function, operands, None)
            self.atoms.put(key, atom)
        return Linear.of(atom)

    def _product(self, factors: list[Atom]) -> Atom:
        if len(factors) == 1:
            return factors[0]
        factors.sort(key=lambda atom: atom.number)
        product = self._function(Function.MUL, *map(Linear.of, factors)).atom
        assert product is not None
        return product

    def _make(
        self, function: Function, operands: tuple[Linear, ...], value: SSAValue | None
    ) -> Atom:
        atoms = [atom for operand in operands for atom, _ in operand.terms]
        depth = max((atom.depth for atom in atoms), default=0) + 1
        divides = function in DIVIDING or (
            function is Function.MUL and any(atom.divides for atom in atoms)
        )
        self._number += 1
        return Atom(self._number, function, operands, value, depth, divides)


def _order(form: Linear) -> tuple[list[tuple[int, int]], int]:
    return [(atom.number, count) for atom, count in form.terms], form.constant


def _weight(form: Linear) -> tuple[int, int]:
    """What of two equal forms is less for the simpler one."""
    return sum(atom.divides for atom, _ in form.terms), len(form.terms)


def factors_of(atom: Atom) -> list[Atom]:
    """The atoms that an atom is the product of."""
    if atom.function is Function.MUL:
        factors = [operand.atom for operand in atom.operands]
        if None not in factors:
            return [factor for factor in factors if factor is not None]
    return [atom]


def _is_zero(found: Range) -> bool | None:
    if found.constant == 0:
        return True
    apart = (found.low is not None and found.low > 0) or (found.high is not None and found.high < 0)
    return False if apart or 0 in found.holes else None


def _is_negative(found: Range) -> bool | None:
    if found.high is not None and found.high < 0:
        return True
    return False if found.low is not None and found.low >= 0 else None


def _is_positive(found: Range) -> bool | None:
    return _is_negative(found.scaled(-1))


def _not(question: Callable[[Range], bool | None]) -> Callable[[Range], bool | None]:
    def answer(found: Range) -> bool | None:
        truth = question(found)
        return None if truth is None else not truth

    return answer


ANSWERS: dict[Predicate, Callable[[Range], bool | None]] = {
    "eq": _is_zero,
    "ne": _not(_is_zero),
    "slt": _is_negative,
    "sge": _not(_is_negative),
    "sgt": _is_positive,
    "sle": _not(_is_positive),
}
"""Whether the integers of a range compare with 0 in that way."""
