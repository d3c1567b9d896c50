"""Simpler comparisons: stronger predicates, and sides without common terms."""

from __future__ import annotations

from .bounds.ranges import Range
from .canonical import CanonicalArithmetic
from .linear_form import LinearForm
from .predicates import SWAPPED, Predicate

__all__ = ["sides_of", "stronger_predicate"]


def stronger_predicate(
    arithmetic: CanonicalArithmetic, predicate: Predicate, difference: LinearForm
) -> Predicate:
    """Return the predicate that holds for the fewest integers but is the same for `difference`.

    Where `x >= 0` is known, `x <= 0` is `x == 0`, and `x != 0` is `x > 0`.
    """
    constraints, search = arithmetic.constraints, arithmetic.bound_search
    found = constraints.range_of(difference)
    # Without constraints on several atoms the search is left out: it costs more than all else here.
    if constraints.has_relations:
        bounds = Range(search.lower_bound(difference), search.upper_bound(difference))
        found = found.meet(bounds)
    match predicate:
        case "sle" if found.low == 0:
            return "eq"
        case "sge" if found.high == 0:
            return "eq"
        case "sle" if 0 in found.holes:
            return "slt"
        case "sge" if 0 in found.holes:
            return "sgt"
        case "ne" if found.high == 0:
            return "slt"
        case "ne" if found.low == 0:
            return "sgt"
        case _:
            return predicate


def sides_of(
    arithmetic: CanonicalArithmetic, predicate: Predicate, difference: LinearForm
) -> tuple[Predicate, LinearForm, LinearForm]:
    """Return a comparison of two forms that holds where `difference` compares with 0.

    All terms of the two forms are positive, and a common factor is divided out: from
    `4*i - 2*j + 3 < 0` comes `2*i + 1 < j`.
    """
    if predicate in ("eq", "ne"):
        difference = arithmetic.canonical_equation(difference)
    factor = abs(difference.primitive()[1])
    constant = _divided_constant(predicate, difference.constant, factor)
    left = LinearForm(tuple((atom, n // factor) for atom, n in difference.terms if n > 0), 0)
    right = LinearForm(tuple((atom, -n // factor) for atom, n in difference.terms if n < 0), 0)
    if not left.terms:
        return SWAPPED[predicate], right, LinearForm((), constant)
    if not right.terms:
        return predicate, left, LinearForm((), -constant)
    match predicate, constant:  # a constant of 1 or -1 goes into the predicate
        case "sle", 1:
            return "slt", left, right
        case "slt", -1:
            return "sle", left, right
        case "sge", -1:
            return "sgt", left, right
        case "sgt", 1:
            return "sge", left, right
        case _:
            return predicate, left.shifted(constant), right


def _divided_constant(predicate: Predicate, constant: int, factor: int) -> int:
    """Return `c` such that `factor * x + constant` compares with 0 as `x + c` does."""
    match predicate:
        case "slt":
            return -((-constant - 1) // factor) - 1
        case "sle" | "sgt":
            return -(-constant // factor)
        case "sge":
            return constant // factor
        case "eq" | "ne":
            return constant // factor  # exact: else the comparison would be known
