"""Bounds of linear forms by adding up relations (TVM `TransitiveComparisonAnalyzer`)."""

from __future__ import annotations

from ..linear_form import LinearForm
from ..predicates import Predicate, decide
from .constraints import Constraints
from .ranges import Range

__all__ = ["BoundSearch"]

MAX_DEPTH = 2
MAX_TRANSITIVE_DEPTH = 5
"""The largest number of relations that are added up, without and with `transitive`."""

MAX_SUMS = 200
"""How many sums are tried for one bound: the search is exponential in the depth."""


class BoundSearch:
    """Finds bounds of linear forms that follow from several relations together.

    To bound `i - k` from above with `i - j <= -1` and `j - k <= -1`, the search subtracts the
    first relation: `i - k = (i - j) + (j - k)`, whose bound is -1 plus that of `j - k`. It tries
    each relation that has an atom with the form, and keeps the smallest bound.

    The relations of loop variables, minima and maxima to their bounds are always added up; of
    constraints only one, unless `transitive`.
    """

    def __init__(self, constraints: Constraints, transitive: bool) -> None:
        self.constraints = constraints
        self.transitive = transitive
        self._sums_left = 0

    def decide(self, predicate: Predicate, difference: LinearForm) -> bool | None:
        """Return whether `difference` compares with 0 as `predicate` says; None if unknown.

        Searches for bounds only where the range is not enough.
        """
        found = self.constraints.range_of(difference)
        answer = decide(predicate, found)
        if answer is not None or not difference.terms:
            return answer
        # Each bound is a search of its own, and one usually decides.
        found = found.meet(Range(None, self.upper_bound(difference)))
        if (answer := decide(predicate, found)) is not None:
            return answer
        return decide(predicate, found.meet(Range(self.lower_bound(difference))))

    def upper_bound(self, form: LinearForm) -> int | None:
        """Return the smallest upper bound that is found, or None."""
        self._sums_left = MAX_SUMS
        depth = MAX_TRANSITIVE_DEPTH if self.transitive else MAX_DEPTH
        return self._upper_bound(form, depth, has_constraint=False)

    def lower_bound(self, form: LinearForm) -> int | None:
        """Return the maximum lower bound that is found, or None."""
        high = self.upper_bound(-form)
        return None if high is None else -high

    def _upper_bound(self, form: LinearForm, depth: int, has_constraint: bool) -> int | None:
        """Return the bound with up to `depth` more relations; `has_constraint` says that a
        constraint was added already."""
        constraints_used_up = has_constraint and not self.transitive
        # A sum may have a constraint of its own, which would be a second one. The range of a single
        # atom includes the constraints on it anyway.
        if constraints_used_up and len(form.terms) > 1:
            best = self.constraints.upper_bound_of_atoms(form)
        else:
            best = self.constraints.range_of(form).high
        if depth == 0:
            return best
        for atom, count in form.terms:
            for relation, within, is_constraint in self.constraints.relations_of(atom):
                if self._sums_left <= 0:
                    return best
                if is_constraint and constraints_used_up:
                    continue
                # form = factor * relation + left, so that form <= factor * bound + high(left).
                # Only whole multiples, as forms have integer coefficients: `3*i` is not bounded by
                # a relation of `2*i`, though `3/2` of it would do (Fourier-Motzkin scales both
                # sides instead).
                factor, rest = divmod(count, relation.coefficient(atom))
                bound = within.high if factor > 0 else within.low
                if rest or bound is None:
                    continue
                left = form - relation * factor
                # The search is to cancel atoms. One more is allowed: in a tiled loop, `j` is
                # replaced by a bound of two terms, such as `n - 4*i`, and the next step cancels
                # `4*i`.
                if len(left.terms) > len(form.terms) + 1:
                    continue
                self._sums_left -= 1
                high = self._upper_bound(left, depth - 1, has_constraint or is_constraint)
                if high is not None and (best is None or high + factor * bound < best):
                    best = high + factor * bound
        return best
