"""Bounds of linear forms from the constraints in force (TVM `TransitiveComparisonAnalyzer`)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ....passes.generic.scoped_dict import ScopedDict
from .expressions import Predicate, decide
from .linear_form import Atom, AtomKind, LinearForm, Terms
from .ranges import Range, range_of_function

# The constraints in force: ranges of linear forms, and conditions that are known.


MAX_RELATIONS = 16
"""The maximum number of constraints on one atom that are tried in a proof: those that were added
last."""


class Relation(NamedTuple):
    """A range of a sum of terms. Relations are looked up by the atoms in them."""

    form: LinearForm
    range: Range
    is_constraint: bool
    """Whether it was added as a constraint; others follow from the kind of the atom."""


@dataclass(slots=True)
class _Chain:
    """An immutable list of the constraints on an atom, the last one first: scopes share tails."""

    terms: Terms
    rest: _Chain | None

    def __iter__(self) -> Iterator[Terms]:
        here: _Chain | None = self
        while here is not None:
            yield here.terms
            here = here.rest


class Constraints:
    """Ranges of linear forms, from the ranges of their atoms and the constraints in force.

    A constraint is a range of a primitive sum of terms (`LinearForm.primitive`): from
    `2*i < 2*j + 5` follows `i - j <= 2`. Constraints last until the scope ends in which they were
    added.
    """

    def __init__(self) -> None:
        self.conditions: ScopedDict[Atom, bool] = ScopedDict()
        """Conditions, as atoms, and whether they hold."""
        self.state = 0
        """A version stamp: equal at two times only if the constraints are equal."""
        self._last_state = 0
        self._ranges: ScopedDict[Terms, Range] = ScopedDict()
        self._relations: ScopedDict[Atom, _Chain] = ScopedDict()
        self._atom_ranges: dict[Atom, tuple[int, Range]] = {}
        """A cache: the state in which a range was computed, and the range."""

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a scope; constraints added in it are removed when it ends."""
        tables = (self._ranges, self._relations, self.conditions)
        marks = [table.mark() for table in tables]
        state = self.state
        try:
            yield
        finally:
            for table, mark in zip(tables, marks, strict=True):
                table.rollback(mark)
            # Ranges that were cached before the scope are valid again, without being computed anew:
            # the constraints are those of that state. `_last_state` still grows, so no state is
            # used twice.
            self.state = state

    # Adding constraints

    def add(self, form: LinearForm, within: Range) -> None:
        """Add the constraint that `form` is in a range; ignore it if it contradicts the others.

        Constraints contradict each other only in unreachable code, where all proofs are sound:
        dropping one loses nothing, and ranges stay non-empty.
        """
        terms, factor = form.primitive()
        if not terms:
            return
        within = (within + Range(-form.constant, -form.constant)).unscaled(factor)
        old = self._ranges.get(terms)
        new = within if old is None else old.meet(within)
        # A constraint that says nothing new does not change the state, so caches stay valid.
        if new == old or self._sum_of_ranges(terms).meet(new).is_empty:
            return
        self._ranges.put(terms, new)
        self._renew()
        if len(terms) == 1:
            self._add_for_operands(terms[0][0], new)
        # Once for each sum; `_ranges` has the newest range of it.
        elif old is None:
            for atom, _ in terms:
                self._relations.put(atom, _Chain(terms, self._relations.get(atom)))

    def set_initial(self, atom: Atom, within: Range) -> None:
        """Set the range of an atom that was just made, and so occurs in no constraint."""
        self._ranges.put(((atom, 1),), within)

    def add_condition(self, atom: Atom, truth: bool) -> None:
        """Add the constraint that a condition holds, or with `truth` false that it does not."""
        if atom not in self.conditions:
            self.conditions.put(atom, truth)
            self._renew()

    def _renew(self) -> None:
        self._last_state += 1
        self.state = self._last_state

    def _add_for_operands(self, atom: Atom, within: Range) -> None:
        """Add the constraints on the operands of `atom` that its range implies.

        `x floordiv 4 <= 2` gives `x <= 11`. `min(x, y) >= 3` gives `x >= 3` and `y >= 3`.
        `x * y >= 1` with `x >= 0` gives `x >= 1`.
        """
        match atom.kind, atom.operands:
            # `low <= x floordiv d <= high` is `low*d <= x <= high*d + d - 1`, without loss.
            case AtomKind.FLOORDIV, (dividend, LinearForm((), divisor)) if divisor > 0:
                low = None if within.low is None else within.low * divisor
                high = None if within.high is None else within.high * divisor + divisor - 1
                self.add(dividend, Range(low, high))
            case AtomKind.MIN, operands if within.low is not None:
                for operand in operands:
                    self.add(operand, Range(within.low))
            case AtomKind.MAX, operands if within.high is not None:
                for operand in operands:
                    self.add(operand, Range(None, within.high))
            case AtomKind.MUL, operands if within.low is not None and within.low > 0:
                for operand in operands:
                    if self.range_of(operand).low == 0:
                        self.add(operand, Range(1))
            case _:
                pass

    # Ranges

    def range_of(self, form: LinearForm) -> Range:
        """Return the range of `form`, from the ranges of its atoms and a constraint on exactly
        its terms."""
        constant = form.constant
        if not form.terms:
            return Range(constant, constant)
        if len(form.terms) == 1:
            atom, count = form.terms[0]
            return self.range_of_atom(atom) * count + Range(constant, constant)
        found = self._sum_of_ranges(form.terms)
        if self._ranges:
            terms, factor = form.primitive()
            if (constraint := self._ranges.get(terms)) is not None:
                found = found.meet(constraint * factor)
        return found + Range(constant, constant)

    def range_of_atom(self, atom: Atom) -> Range:
        """Return the range of `atom`, from its operands and the constraints on it alone."""
        # By state and not by scope: without this, ranges of nested quotients are computed
        # exponentially often, once for each path from the root to the leaf.
        cached = self._atom_ranges.get(atom)
        if cached is not None and cached[0] == self.state:
            return cached[1]
        found = range_of_function(atom, self.range_of)
        if (constraint := self._ranges.get(((atom, 1),))) is not None:
            found = found.meet(constraint)
        self._atom_ranges[atom] = self.state, found
        return found

    def upper_bound_of_atoms(self, form: LinearForm) -> int | None:
        """Return the upper bound of `form` from the ranges of its atoms alone."""
        high = self._sum_of_ranges(form.terms).high
        return None if high is None else high + form.constant

    def _sum_of_ranges(self, terms: Terms) -> Range:
        # The operators of `Range` inlined: this is the hottest code of the analyzer.
        low: int | None = 0
        high: int | None = 0
        for atom, count in terms:
            one = self.range_of_atom(atom)
            minimum, maximum = (one.low, one.high) if count > 0 else (one.high, one.low)
            low = None if low is None or minimum is None else low + count * minimum
            high = None if high is None or maximum is None else high + count * maximum
        return Range(low, high)

    # Relations

    @property
    def has_relations(self) -> bool:
        """Whether a constraint on several atoms is in force."""
        return bool(self._relations)

    def relations_of(self, atom: Atom) -> Iterator[Relation]:
        """Yield the relations of `atom` to other atoms.

        A loop variable is at least its first and at most its last value; a minimum is at most,
        and a maximum at least, each operand.
        """
        match atom.kind:
            case AtomKind.LOOP:
                first, last = atom.operands
                bounds = [(first, Range(0)), (last, Range(None, 0))]
            case AtomKind.MIN:
                bounds = [(operand, Range(None, 0)) for operand in atom.operands]
            case AtomKind.MAX:
                bounds = [(operand, Range(0)) for operand in atom.operands]
            case _:
                bounds = []
        for bound, within in bounds:
            if bound.terms:
                yield Relation(LinearForm.of(atom) - bound, within, False)
        for terms in islice(self._relations.get(atom, ()), MAX_RELATIONS):
            yield Relation(LinearForm(terms, 0), self._ranges[terms], True)


# Bounds of linear forms by adding up relations (TVM `TransitiveComparisonAnalyzer`).


MAX_DEPTH = 2
MAX_TRANSITIVE_DEPTH = 5
"""The largest number of relations that are added up, without and with `transitive`."""

MAX_SUMS = 200
"""How many sums are tried for one bound: the search is exponential in the depth."""


class BoundSearch:
    """Finds bounds of linear forms that follow from several relations together.

    Let `i - j <= -1` and `j - k <= -1`. To bound `i - k` from above, the search subtracts the
    first relation: as `i - k = (i - j) + (j - k)`, the bound is -1 plus that of `j - k`. It tries
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
        found = found.meet(Range(self.lower_bound(difference)))
        if (answer := decide(predicate, found)) is None and predicate in ("eq", "ne"):
            answer = self._decide_by_equations(predicate, difference)
        return answer

    def _decide_by_equations(self, predicate: Predicate, difference: LinearForm) -> bool | None:
        """Return whether an equation or its negation holds with the equations in force put into it,
        if constraints are added up.

        Only equations keep the integers that a range leaves out: from `i == j` and `j != k` follows
        `i != k`, of which no bound says anything.
        """
        pending = [(difference, MAX_TRANSITIVE_DEPTH if self.transitive else 0)]
        seen = {difference}
        for form, depth in pending:
            if (answer := decide(predicate, self.constraints.range_of(form))) is not None:
                return answer
            if depth == 0 or len(seen) > MAX_SUMS:
                continue
            for atom, count in form.terms:
                for relation, within, _ in self.constraints.relations_of(atom):
                    factor, rest = divmod(count, relation.coefficient(atom))
                    if rest or within.constant is None:
                        continue
                    left = form - relation * factor + factor * within.constant
                    if left not in seen and len(left.terms) <= len(form.terms) + 1:
                        seen.add(left)
                        pending.append((left, depth - 1))
        return None

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
