"""Sums, products, quotients and minima of linear forms in canonical form (TVM
`CanonicalSimplifier`)."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from .bounds import BoundSearch, Constraints
from .expressions import Predicate
from .linear_form import ZERO, Atom, AtomKind, LinearForm
from .ranges import AtomTable, factors_of

MAX_PRODUCTS = 8
"""A product of two sums is multiplied out if that takes at most this many products of terms; a
larger product is an atom."""


class CanonicalArithmetic:
    """Operations on linear forms, simplified under `constraints`.

    Equal functions of equal forms are one atom. Integers do not overflow, and no divisor is 0.
    With `transitive`, comparisons add up several constraints.
    """

    def __init__(self, *, transitive: bool = False) -> None:
        self.constraints = Constraints()
        self.bound_search = BoundSearch(self.constraints, transitive)
        self.atoms = AtomTable()

    # Comparisons

    def is_non_negative(self, form: LinearForm) -> bool:
        """Return whether `form >= 0` can be proved."""
        return self.compare_with_zero("sge", form) is True

    def can_prove(self, predicate: Predicate, a: LinearForm, b: LinearForm) -> bool:
        """Return whether a comparison of two forms can be proved."""
        return self.compare(predicate, a, b) is True

    def compare(self, predicate: Predicate, a: LinearForm, b: LinearForm) -> bool | None:
        """Return whether a comparison of two forms holds; None if unknown."""
        return self.compare_with_zero(predicate, a - b)

    def compare_with_zero(self, predicate: Predicate, difference: LinearForm) -> bool | None:
        """Return whether a comparison of `difference` with 0 holds; None if unknown."""
        if predicate in ("eq", "ne"):
            difference = self.canonical_equation(difference)
            # 4*x + 6*y + 1 = 0 has no integer solution.
            if difference.terms and difference.constant % difference.primitive()[1]:
                return predicate == "ne"
        return self.bound_search.decide(predicate, difference)

    def canonical_equation(self, difference: LinearForm) -> LinearForm:
        """Return a form that is 0 for the same values as `difference`.

        `-x mod y` and `x mod y` are different forms, but one is 0 where the other is.
        """
        if difference.constant or len(difference.terms) != 1:
            return difference
        atom = difference.terms[0][0]
        if atom.kind is AtomKind.MOD and atom.operands[0].primitive()[1] < 0:
            return self.mod(-atom.operands[0], atom.operands[1])
        return difference

    # Operations

    def add(self, a: LinearForm, b: LinearForm, factor: int = 1) -> LinearForm:
        """Return `a + factor * b`; a quotient and its remainder are put together again."""
        return self._recombine(a + b * factor)

    def multiply(self, a: LinearForm, b: LinearForm) -> LinearForm:
        """Return the product, multiplied out unless that gives many terms (MAX_PRODUCTS)."""
        if not a.terms or not b.terms:
            return b * a.constant if not a.terms else a * b.constant
        sizes = [len(one.terms) + bool(one.constant) for one in (a, b)]
        # Opaque, but still hash-consed: the same product of sums is equal to itself.
        if sizes[0] * sizes[1] > MAX_PRODUCTS:
            return self.atoms.function(AtomKind.MUL, *sorted((a, b), key=_sort_key))
        total = a * b.constant + (b - b.constant) * a.constant
        for left, m in a.terms:
            for right, n in b.terms:
                product = self.atoms.product([*factors_of(left), *factors_of(right)])
                total = total + LinearForm(((product, m * n),), 0)
        return self._recombine(total)

    def floordiv(self, a: LinearForm, b: LinearForm | int) -> LinearForm:
        """Return the quotient, rounded down; any form if the divisor is 0."""
        b = LinearForm((), b) if isinstance(b, int) else b
        if not b.terms:
            if b.constant < 0:
                return self._quotient_by_constant(-a, -b.constant)
            return self._quotient_by_constant(a, b.constant) if b.constant else ZERO
        whole, left = self._divide_terms(a, b)
        if left == ZERO or self._is_remainder(left, b):
            return whole
        return whole + self.atoms.function(AtomKind.FLOORDIV, left, b)

    def mod(self, a: LinearForm, b: LinearForm | int) -> LinearForm:
        """Return the remainder of `floordiv`, with the sign of the divisor."""
        b = LinearForm((), b) if isinstance(b, int) else b
        if b.constant < 0 and not b.terms:
            return -self.mod(-a, -b.constant)
        if not b.terms:
            return self._remainder_by_constant(a, b.constant) if b.constant else ZERO
        _, left = self._divide_terms(self._drop_inner_mods(a, b), b)
        if left == ZERO or self._is_remainder(left, b):
            return left
        return self.atoms.function(AtomKind.MOD, left, b)

    def div(self, a: LinearForm, b: LinearForm) -> LinearForm:
        """Return the quotient, rounded to 0."""
        return self._truncating(AtomKind.DIV, self.floordiv, a, b)

    def rem(self, a: LinearForm, b: LinearForm) -> LinearForm:
        """Return the remainder of `div`, with the sign of the dividend."""
        return self._truncating(AtomKind.REM, self.mod, a, b)

    def minimum(self, a: LinearForm, b: LinearForm) -> LinearForm:
        """Return the minimum of two forms."""
        if (is_less := self.compare("sle", a, b)) is not None:
            return a if is_less else b
        return self.atoms.function(AtomKind.MIN, *sorted((a, b), key=_sort_key))

    def maximum(self, a: LinearForm, b: LinearForm) -> LinearForm:
        """Return the maximum of two forms."""
        if (is_greater := self.compare("sge", a, b)) is not None:
            return a if is_greater else b
        return self.atoms.function(AtomKind.MAX, *sorted((a, b), key=_sort_key))

    # Division

    def _truncating(
        self,
        kind: AtomKind,
        flooring: Callable[[LinearForm, LinearForm], LinearForm],
        a: LinearForm,
        b: LinearForm,
    ) -> LinearForm:
        """Return DIV or REM of `a` and `b`; if the signs are known, by means of `flooring`.

        The two kinds of division agree if nothing is negative, and signs can be taken out first:
        `-a div b = a div -b = -(a div b)`, `-a rem b = -(a rem b)` and `a rem -b = a rem b`.
        """
        if not b.terms and b.constant < 0:
            result = self._truncating(kind, flooring, a, -b)
            return -result if kind is AtomKind.DIV else result
        if self.can_prove("sgt", b, ZERO):
            if self.is_non_negative(a):
                return flooring(a, b)
            if self.can_prove("sle", a, ZERO):
                return -flooring(-a, b)
        inner = a.atom
        if kind is AtomKind.REM and inner is not None and inner.has_division:
            # (x rem (c*b)) rem b is x rem b.
            dividend, divisor = inner.operands[0], inner.operands[-1]
            is_rem = inner.kind is AtomKind.REM or (
                inner.kind is AtomKind.MOD and self.is_non_negative(dividend)
            )
            if is_rem and self._exact_quotient(divisor, b) is not None:
                return self.rem(dividend, b)
        if a.primitive()[1] < 0:
            return -self.atoms.function(kind, -a, b)
        return self.atoms.function(kind, a, b)

    def _divide_terms(self, a: LinearForm, b: LinearForm) -> tuple[LinearForm, LinearForm]:
        """Return `(q, r)` with `a = b * q + r`, where `q` has all terms that are multiples of `b`.

        For instance `8*x + 3*y + 5` by 4 gives `2*x + 1` and `3*y + 1`. If `b` is a sum, only one
        integer is tried as `q`, given by the coefficients of the first term of `b`.
        """
        if not b.terms:
            divisor = b.constant
            whole = tuple((atom, n // divisor) for atom, n in a.terms if n % divisor == 0)
            left = tuple((atom, n) for atom, n in a.terms if n % divisor)
            return LinearForm(whole, a.constant // divisor), LinearForm(left, a.constant % divisor)
        if b.constant or len(b.terms) > 1:
            atom, count = b.terms[0]
            times = a.coefficient(atom) // count
            left = a - b * times
            return (LinearForm((), times), left) if len(left.terms) < len(a.terms) else (ZERO, a)
        whole, left = ZERO, LinearForm((), a.constant)
        for term in a.terms:
            one = LinearForm((term,), 0)
            if (quotient := self._exact_quotient(one, b)) is not None:
                whole = whole + quotient
            else:
                left = left + one
        return whole, left

    def _exact_quotient(self, a: LinearForm, b: LinearForm) -> LinearForm | None:
        """Return `q` with `a = b * q`; None if none is found.

        A `b` with terms has to be one term without a constant, and `a` too.
        """
        if not b.terms:
            if not b.constant:
                return None
            counts = [count for _, count in a.terms] + [a.constant]
            if any(count % b.constant for count in counts):
                return None
            terms = tuple((x, n // b.constant) for x, n in a.terms)
            return LinearForm(terms, a.constant // b.constant)
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
            return LinearForm((), count // divided)
        return LinearForm(((self.atoms.product(factors), count // divided),), 0)

    def _quotient_by_constant(self, a: LinearForm, divisor: int) -> LinearForm:
        """Return `a floordiv divisor` for a positive integer."""
        whole, left = self._divide_terms(a, LinearForm((), divisor))
        found = self.constraints.range_of(left) // divisor
        if (constant := found.constant) is not None:
            return whole + constant
        terms, factor = left.primitive()
        if (common := gcd(factor, divisor)) > 1:
            # (6*x + 5) floordiv 4 is (3*x + 2) floordiv 2, as one may round down after each of two
            # divisions: a floordiv (c*d) = (a floordiv c) floordiv d.
            reduced = _divided(left, common)
            return whole + self._quotient_by_constant(reduced, divisor // common)
        if len(terms) == 1 and factor == 1 and terms[0][0].kind is AtomKind.FLOORDIV:
            # (x floordiv m + c) floordiv n is (x + c*m) floordiv (m*n).
            dividend, inner = terms[0][0].operands
            if not inner.terms and inner.constant > 0:
                dividend = dividend + left.constant * inner.constant
                return whole + self._quotient_by_constant(dividend, inner.constant * divisor)
        form = LinearForm((), divisor)
        if self._is_remainder(left, form):
            return whole
        return whole + self.atoms.function(AtomKind.FLOORDIV, left, form)

    def _remainder_by_constant(self, a: LinearForm, divisor: int) -> LinearForm:
        """Return `a mod divisor` for a positive integer."""
        form = LinearForm((), divisor)
        _, left = self._divide_terms(self._drop_inner_mods(a, form), form)
        found = self.constraints.range_of(left) // divisor
        if (constant := found.constant) is not None:
            return left - constant * divisor
        if (common := gcd(left.primitive()[1], divisor)) > 1:
            # (6*x + 5) mod 4 is 2 * ((3*x + 2) mod 2) + 1.
            reduced = _divided(left, common)
            remainder = self._remainder_by_constant(reduced, divisor // common)
            return remainder * common + left.constant % common
        if self._is_remainder(left, form):
            return left
        return self.atoms.function(AtomKind.MOD, left, form)

    def _drop_inner_mods(self, a: LinearForm, divisor: LinearForm) -> LinearForm:
        """Replace terms `c * (x mod y)` of `a` by `c * x` where `divisor` divides `c * y`.

        The forms are equal modulo `divisor`: they differ by a multiple of `c * y`.
        """
        for atom, count in a.terms:
            if atom.kind is AtomKind.MOD:
                dividend, inner = atom.operands
                if self._exact_quotient(inner * count, divisor) is not None:
                    a = a - LinearForm.of(atom) * count + dividend * count
        return a

    def _is_remainder(self, form: LinearForm, divisor: LinearForm) -> bool:
        """Return whether `0 <= form < divisor` can be proved."""
        return self.is_non_negative(form) and self.can_prove("slt", form, divisor)

    def _recombine(self, total: LinearForm) -> LinearForm:
        """Replace quotients in a sum where that makes it simpler.

        `y * (x floordiv y)` is `x - x mod y`. So `4 * (x floordiv 4) + x mod 4` becomes `x`, and
        `x - 4 * (x floordiv 4)` becomes `x mod 4`. Each replacement lowers `_complexity`, which
        ends the loop.
        """
        pending = [term for term in total.terms if term[0].has_division]
        while pending:
            atom, count = pending.pop()
            for quotient in factors_of(atom):
                if quotient.kind not in (AtomKind.FLOORDIV, AtomKind.DIV):
                    continue
                new = self._replace_quotient(total, atom, count, quotient)
                if new is not None and _complexity(new) < _complexity(total):
                    total = new
                    pending = [term for term in total.terms if term[0].has_division]
                    break
        return total

    def _replace_quotient(
        self, total: LinearForm, atom: Atom, count: int, quotient: Atom
    ) -> LinearForm | None:
        """Return `total` with dividend and remainder in place of the term `count * atom`, where
        `quotient` is a factor of `atom`. None if the other factors are not a multiple of its
        divisor."""
        rest = factors_of(atom)
        rest.remove(quotient)
        outer = LinearForm((), count)
        if rest:
            outer = LinearForm(((self.atoms.product(rest), count),), 0)
        dividend, divisor = quotient.operands
        if (times := self._exact_quotient(outer, divisor)) is None:
            return None
        remainder_of = self.mod if quotient.kind is AtomKind.FLOORDIV else self.rem
        remainder = remainder_of(dividend, divisor)
        without = total - LinearForm.of(atom) * count
        return without + self._times(dividend, times) - self._times(remainder, times)

    def _times(self, form: LinearForm, factor: LinearForm) -> LinearForm:
        """Return the product with a form of one term or a constant, always multiplied out."""
        if not factor.terms:
            return form * factor.constant
        (atom, count), total = factor.terms[0], ZERO
        if form.constant:
            total = LinearForm(((atom, count * form.constant),), 0)
        for other, n in form.terms:
            product = self.atoms.product([*factors_of(other), *factors_of(atom)])
            total = total + LinearForm(((product, n * count),), 0)
        return total


def _divided(form: LinearForm, divisor: int) -> LinearForm:
    """Divide `form`, rounding the constant down; `divisor` divides all coefficients."""
    terms = tuple((atom, count // divisor) for atom, count in form.terms)
    return LinearForm(terms, form.constant // divisor)


def _sort_key(form: LinearForm) -> tuple[list[tuple[int, int]], int]:
    """Return a key that orders the operands of commutative functions."""
    return [(atom.number, count) for atom, count in form.terms], form.constant


def _complexity(form: LinearForm) -> tuple[int, int]:
    """Return the numbers of terms with divisions and of all terms."""
    return sum(atom.has_division for atom, _ in form.terms), len(form.terms)
