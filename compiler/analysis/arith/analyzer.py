"""The arithmetic analyzer (TVM `arith.Analyzer`): canonical forms, ranges and proofs.

    analyzer = Analyzer()
    analyzer.linear(value)  # 4 * xo + xi
    analyzer.bounds(value)  # Range(low=0, high=63)
    with analyzer.assuming(condition):
        analyzer.prove(other)  # True, False, or None if unknown

`materialize.FormBuilder` creates operations that compute a form.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

from ....dialects.tir.ops import ForOp, LikelyOp
from ....passes.generic.scoped_dict import ScopedDict
from .expressions import NEGATED, Predicate, bit_width, negated_operand
from .linear_form import LinearForm
from .linearizer import Linearizer
from .ranges import Range

PROOF_DEPTH = 16
"""Recursion limit of `Analyzer.prove`."""

ASSUMING_DEPTH = 2
"""In this many outermost levels of `Analyzer.prove`, one side of a connective is also proved under
the assumption of the other: each level doubles the work."""

RANGES: dict[Predicate, Range] = {
    "eq": Range(0, 0),
    "ne": Range(holes=frozenset([0])),
    "slt": Range(None, -1),
    "sle": Range(None, 0),
    "sgt": Range(1),
    "sge": Range(0),
}
"""Predicate -> the integers x for which `x predicate 0` holds."""


class Analyzer(Linearizer):
    """Knowledge about the integers of a function at one place, with proofs.

    Ranges come from constants, loops, buffer sizes and conditions that were assumed. The user of an
    analyzer walks the function in order of dominance and opens a scope for each region: forms,
    constraints and available values are forgotten when the scope ends.
    """

    def __init__(self, *, transitive: bool = False) -> None:
        super().__init__(transitive=transitive)
        self._available: ScopedDict[tuple[LinearForm, int], SSAValue] = ScopedDict()

    # Scopes

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a scope; facts added in it are removed when it ends."""
        tables = (self.forms, self.atoms, self._available)
        marks = [table.mark() for table in tables]
        with self.constraints.scope():
            try:
                yield
            finally:
                for table, mark in zip(tables, marks, strict=True):
                    table.rollback(mark)

    @contextmanager
    def assuming(self, condition: SSAValue, truth: bool = True) -> Generator[None]:
        """Open a scope in which `condition` holds, or with `truth` false does not."""
        with self.scope():
            self.assume(condition, truth)
            yield

    @contextmanager
    def inside(self, loop: ForOp) -> Generator[None]:
        """Open a scope for the body of `loop`, where its extent is positive."""
        with self.scope():
            self.constraints.add(self.linear(loop.extent), Range(1))
            yield

    def assume(self, condition: SSAValue, truth: bool = True) -> None:
        """Add the constraint that `condition` holds, or does not, until the scope ends.

        A conjunction that holds is taken apart, and so is a disjunction that does not hold. If a
        disjunction holds and one of its sides is known to fail, the other side is added: `a or b`
        gives `b` if `a` fails. The same applies, negated, to a conjunction that does not hold.
        """
        pending = [(condition, truth)]
        while pending:
            condition, truth = pending.pop()
            op = condition.owner
            match op:
                case LikelyOp():
                    pending.append((op.condition, truth))
                case arith.AndIOp() | arith.OrIOp():
                    if truth == isinstance(op, arith.AndIOp):
                        pending += [(op.lhs, truth), (op.rhs, truth)]
                        continue
                    # TVM's `EnterConstraint` only splits conjunctions. Here `i == 0 or j < n` in
                    # the else branch of `if i == 0` gives `j < n`.
                    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                        if self.prove(one) is (not truth):
                            pending.append((other, truth))
                            break
                    self._assume_atom(condition, truth)
                case arith.XOrIOp() if (operand := negated_operand(op)) is not None:
                    pending.append((operand, not truth))
                case arith.CmpiOp() if (comparison := self.comparison(op)) is not None:
                    predicate, difference = comparison
                    self.assume_comparison(predicate if truth else NEGATED[predicate], difference)
                case _:
                    self._assume_atom(condition, truth)

    def assume_comparison(self, predicate: Predicate, difference: LinearForm) -> None:
        """Add the constraint that `difference` compares with 0 as `predicate` says."""
        if predicate in ("eq", "ne"):
            difference = self.canonical_equation(difference)
        self.constraints.add(difference, RANGES[predicate])

    def _assume_atom(self, condition: SSAValue, truth: bool) -> None:
        if (atom := self.linear(condition).atom) is not None:
            self.constraints.add_condition(atom, truth)

    # Available values

    def make_available(self, value: SSAValue) -> None:
        """Offer `value` for reuse until the scope ends; it must dominate the users of the forms."""
        key = self.linear(value), bit_width(value.type)
        if key not in self._available:
            self._available.put(key, value)

    def available_value(self, form: LinearForm, type: Attribute) -> SSAValue | None:
        """Return the first available value of `form` and `type`."""
        return self._available.get((form, bit_width(type)))

    # Queries

    def constant_of(self, value: SSAValue) -> int | None:
        """Return the only integer that `value` can be, or None."""
        return self.bounds(value).constant

    def bounds(self, of: SSAValue | LinearForm) -> Range:
        """Return the range of a value or a form, without adding up constraints."""
        return self.constraints.range_of(of if isinstance(of, LinearForm) else self.linear(of))

    def prove(self, condition: SSAValue, depth: int = PROOF_DEPTH) -> bool | None:
        """Return whether a condition, of type i1, holds; None if unknown."""
        op = condition.owner
        # A condition is an atom, or a constant: its form is found by value numbering, so a
        # condition that was assumed is known wherever the same expression is computed again.
        form = self.linear(condition)
        if not form.terms:
            return bool(form.constant)
        if (atom := form.atom) is not None:
            if (known := self.constraints.conditions.get(atom)) is not None:
                return known
        if depth == 0:
            return None
        match op:
            case LikelyOp():
                return self.prove(op.condition, depth - 1)
            case arith.CmpiOp():
                comparison = self.comparison(op)
                return None if comparison is None else self.compare_with_zero(*comparison)
            case arith.AndIOp() | arith.OrIOp():
                return self._prove_connective(op, isinstance(op, arith.AndIOp), depth - 1)
            case arith.XOrIOp():
                sides = self.prove(op.lhs, depth - 1), self.prove(op.rhs, depth - 1)
                return None if None in sides else sides[0] is not sides[1]
            case arith.SelectOp():
                chosen = self.prove(op.cond, depth - 1)
                if chosen is not None:
                    return self.prove(op.lhs if chosen else op.rhs, depth - 1)
                both = self.prove(op.lhs, depth - 1), self.prove(op.rhs, depth - 1)
                return both[0] if both[0] is both[1] else None
            case _:
                return None

    def _prove_connective(
        self, op: arith.AndIOp | arith.OrIOp, is_conjunction: bool, depth: int
    ) -> bool | None:
        """Return whether a conjunction or disjunction holds.

        Written for a conjunction: it fails if one side fails, or if the right side fails where the
        left one holds. A disjunction is the negated conjunction of the negated sides.
        """
        sides = self.prove(op.lhs, depth), self.prove(op.rhs, depth)
        if (not is_conjunction) in sides:
            return not is_conjunction
        if sides[0] is not None and sides[0] is sides[1]:
            return is_conjunction
        # Neither side alone decides: `i < 4 and i > 6` fails, as the right one fails where the left
        # one holds. A conjunction is symmetric, so the other order is not tried: it could help only
        # where the prover is incomplete.
        if sides == (None, None) and depth >= PROOF_DEPTH - ASSUMING_DEPTH:
            with self.assuming(op.lhs, is_conjunction):
                if self.prove(op.rhs, depth) is (not is_conjunction):
                    return not is_conjunction
        return None
