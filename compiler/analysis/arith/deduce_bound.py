"""Intervals of a loop variable in which a comparison is known (TVM `arith::DeduceBound`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, Operation

from ....dialects.tir.ops import ForOp
from .analyzer import Analyzer
from .canonical import CanonicalArithmetic
from .expressions import SWAPPED, Predicate, cannot_trap
from .linear_form import DIVISIONS, Atom, AtomKind, LinearForm, depends_on

BLOCK_TAG = "blockIdx"
"""The start of the tags of loops over blocks of threads; all others are over threads."""


class Interval(NamedTuple):
    """The integers from one form to another, both included; None is unbounded."""

    low: LinearForm | None = None
    high: LinearForm | None = None


@dataclass(eq=False)
class KnownIntervals:
    """A comparison in a loop, with intervals of the loop variable.

    The comparison holds in each interval of `holds` and fails in each of `fails`, for all values
    of the other variables in the loop.
    """

    op: arith.CmpiOp
    holds: Sequence[Interval]
    fails: Sequence[Interval]

    def where(self, truth: bool) -> Sequence[Interval]:
        """Return `holds` or `fails`."""
        return self.holds if truth else self.fails


def intersection(arithmetic: CanonicalArithmetic, one: Interval, other: Interval) -> Interval:
    """Return the values in both intervals."""
    lows = [low for low in (one.low, other.low) if low is not None]
    highs = [high for high in (one.high, other.high) if high is not None]
    return Interval(
        reduce(arithmetic.maximum, lows) if lows else None,
        reduce(arithmetic.minimum, highs) if highs else None,
    )


def solve(
    arithmetic: CanonicalArithmetic, predicate: Predicate, difference: LinearForm, atom: Atom
) -> Interval | None:
    """Return the values of `atom` for which `difference` compares with 0 as `predicate` says.

    The interval is exact, and its bounds do not depend on `atom`: `4*x - n < 0` gives
    `x <= (n - 1) floordiv 4`. None if `atom` is not a term of `difference` or occurs in another
    term too, and for `ne`, whose values are two intervals.
    """
    factor, rest = difference.coefficient(atom), difference.without(atom)
    if factor == 0 or depends_on(rest, atom):
        return None
    # Only then does one floor division serve for all predicates: the factor is positive.
    if factor < 0:
        factor, rest, predicate = -factor, -rest, SWAPPED[predicate]
    # factor * atom is compared with `limit`.
    limit = -rest
    up = limit + (factor - 1)  # rounds the quotient up
    match predicate:
        case "slt":
            return Interval(high=arithmetic.floordiv(limit - 1, factor))
        case "sle":
            return Interval(high=arithmetic.floordiv(limit, factor))
        case "sgt":
            return Interval(low=arithmetic.floordiv(limit, factor) + 1)
        case "sge":
            return Interval(low=arithmetic.floordiv(up, factor))
        case "eq":
            low = arithmetic.floordiv(up, factor)
            return Interval(low, arithmetic.floordiv(limit, factor))
        case "ne":
            return None


class BoundDeducer:
    """Deduces the intervals of the variable of `loop` in which comparisons are known.

    The bounds of the intervals can be computed before the loop, once for all threads. Other
    variables in a comparison are relaxed: each is replaced by the bound that makes the comparison
    hardest to satisfy. The interval may be too small, but not too large: with `0 <= j <= 3`,
    `i + j < n` holds for `i <= n - 4` and fails for `i >= n`; nothing is known in between.
    """

    def __init__(self, analyzer: Analyzer, loop: ForOp) -> None:
        self.analyzer = analyzer
        self.loop = loop

    def deduce(self, comparisons: Sequence[arith.CmpiOp]) -> list[KnownIntervals]:
        """Return the comparisons that depend on the loop variable, with their intervals."""
        variable = self.analyzer.linear(self.loop.variable).atom
        if variable is None or variable.value is not self.loop.variable:
            return []  # the loop has one iteration
        found = (self._deduce(op, variable) for op in comparisons)
        return [known for known in found if known is not None]

    def _deduce(self, op: arith.CmpiOp, variable: Atom) -> KnownIntervals | None:
        comparison = self.analyzer.comparison(op)
        if comparison is None or not depends_on(comparison[1], variable):
            return None
        predicate, form = comparison
        negative = -form

        def at_least(one: LinearForm, minimum: int) -> list[Interval]:
            interval = self._where_non_negative(one - minimum, variable)
            return [] if interval is None else [interval]

        match predicate:
            case "sge":
                holds, fails = at_least(form, 0), at_least(negative, 1)
            case "sgt":
                holds, fails = at_least(form, 1), at_least(negative, 0)
            case "sle":
                holds, fails = at_least(negative, 0), at_least(form, 1)
            case "slt":
                holds, fails = at_least(negative, 1), at_least(form, 0)
            case _:
                # `a == 0` is `a >= 0 and -a >= 0`; it fails where one of `a >= 1` and `-a >= 1`
                # holds. If one bound is not found, nothing is known of where it holds.
                both = [*at_least(form, 0), *at_least(negative, 0)]
                holds = [intersection(self.analyzer, *both)] if len(both) == 2 else []
                fails = [*at_least(form, 1), *at_least(negative, 1)]
                if predicate == "ne":
                    holds, fails = fails, holds
        return KnownIntervals(op, holds, fails) if holds or fails else None

    def _where_non_negative(self, form: LinearForm, variable: Atom) -> Interval | None:
        """Return an interval of `variable` in which `form >= 0`, or None.

        A quotient is resolved step by step: `x floordiv 4 - n >= 0` becomes `x - 4*n >= 0`.
        """
        minimum = self._relax(form, variable)
        if minimum is None:
            return None
        # In `i + i floordiv 4` the quotient was relaxed. In `i floordiv 4 + i floordiv 8` neither
        # quotient was, so the comparison stays unsolved.
        dependent = [term for term in minimum.terms if depends_on(LinearForm.of(term[0]), variable)]
        if len(dependent) != 1:
            return None
        ((atom, count),) = dependent
        if atom is variable:
            return solve(self.analyzer, "sge", minimum, atom)
        # count * (dividend floordiv divisor) + rest >= 0
        dividend, divisor = atom.operands
        rest = minimum.without(atom)
        # `x floordiv d >= q` is `x >= d*q`, and `x floordiv d <= q` is `x <= d*q + d - 1`, for
        # integers: the rewriting is exact, so the interval is not made smaller by it.
        if count > 0:
            quotient = self.analyzer.floordiv(-rest + (count - 1), count)
            inner = dividend - quotient * divisor.constant
        else:
            quotient = self.analyzer.floordiv(rest, -count)
            inner = quotient * divisor.constant + (divisor.constant - 1) - dividend
        return self._where_non_negative(inner, variable)

    def _relax(self, form: LinearForm, variable: Atom) -> LinearForm | None:
        """Return a lower bound of `form` that depends on `variable` and on atoms known before the
        loop only; None if an atom has no bound.

        Quotients of the variable are kept, unless the variable is a term too: the comparison is
        solved for one term only.
        """
        is_changed = True
        # The loop ends, as each atom is replaced by atoms with smaller numbers: operands are made
        # first.
        while is_changed:
            is_changed = False
            for atom, count in form.terms:
                if atom is variable or self._is_known_before(atom):
                    continue
                if _is_quotient(atom) and depends_on(LinearForm.of(atom), variable):
                    if not form.coefficient(variable):
                        continue
                bound = self._bound_of(atom, upper=count < 0)
                if bound is None:
                    return None
                form = form - LinearForm.of(atom) * count + bound * count
                is_changed = True
                break
        return form

    def _bound_of(self, atom: Atom, upper: bool) -> LinearForm | None:
        """Return the upper or lower bound of `atom`; for a loop variable it may be symbolic."""
        if atom.kind is AtomKind.LOOP:
            return atom.operands[1 if upper else 0]
        within = self.analyzer.bounds(LinearForm.of(atom))
        bound = within.high if upper else within.low
        return None if bound is None else LinearForm((), bound)

    def _is_known_before(self, atom: Atom) -> bool:
        """Return whether `atom` can be computed before the loop, with one value for all threads.

        The operations that compute it would then run before the loop, so none of them may trap.
        """
        if atom.kind in (AtomKind.LOOP, AtomKind.VALUE):
            assert atom.value is not None
            definition = atom.value.owner
            loop = definition.parent_op() if isinstance(definition, Block) else None
            if isinstance(loop, ForOp) and loop.thread_tag is not None and not is_block_bound(loop):
                return False
            return not self.loop.is_ancestor(definition)
        if atom.kind in DIVISIONS:
            divisor = self.analyzer.bounds(atom.operands[1])
            if not ((divisor.low or 0) > 0 or (divisor.high or 0) < 0):
                return False
        elif atom.kind is AtomKind.OP:
            op = None if atom.value is None else atom.value.owner
            if not isinstance(op, Operation) or not cannot_trap(op):
                return False
        inner = (atom for operand in atom.operands for atom, _ in operand.terms)
        return all(map(self._is_known_before, inner))


def is_block_bound(loop: ForOp) -> bool:
    """Return whether `loop` is bound to blocks of threads."""
    return loop.thread_tag is not None and loop.thread_tag.data.startswith(BLOCK_TAG)


def _is_quotient(atom: Atom) -> bool:
    """Return whether `atom` is a quotient by a positive constant."""
    if atom.kind is not AtomKind.FLOORDIV:
        return False
    divisor = atom.operands[1]
    return not divisor.terms and divisor.constant > 0
