"""Conjunctions and disjunctions of conditions: normal form, and members that others imply."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from .analyzer import Analyzer
from .materialize import insert

__all__ = [
    "Clauses",
    "build_clauses",
    "build_connective",
    "clauses_of",
    "members_of",
    "without_implied",
    "without_implied_clauses",
]

Connective = type[arith.AndIOp] | type[arith.OrIOp]

Clauses = list[list[SSAValue]]
"""A conjunction of disjunctions."""

MOST_MEMBERS = 16
"""A connective of more members is left as it is: each is held against all others."""


def members_of(op: Operation, connective: Connective) -> list[SSAValue]:
    """The members of a conjunction or disjunction, those of its operands that are one included."""
    members: list[SSAValue] = []
    pending: list[SSAValue] = [op.results[0]]
    while pending:
        value = pending.pop()
        if isinstance(value.owner, connective):
            pending += reversed(value.owner.operands)
        else:
            members.append(value)
    return members


def clauses_of(value: SSAValue) -> Clauses | None:
    """A condition as a conjunction of disjunctions; None if that is long."""
    op = value.owner
    if isinstance(op, arith.AndIOp | arith.OrIOp):
        one = clauses_of(op.lhs)
        other = None if one is None else clauses_of(op.rhs)
        if one is None or other is None:
            return None
        if isinstance(op, arith.AndIOp):
            joined = one + other
        else:
            joined = [[*a, *(b for b in second if b not in a)] for a in one for second in other]
        return joined if sum(map(len, joined)) <= MOST_MEMBERS * 2 else None
    return [[value]]


def without_implied(
    analyzer: Analyzer, members: Sequence[SSAValue], conjunction: bool
) -> list[SSAValue]:
    """A conjunction without the members that the others imply; a disjunction without those that
    are false where all others are."""
    left = list(dict.fromkeys(members))
    if len(left) > MOST_MEMBERS:
        return left
    for member in members:
        others = [other for other in left if other is not member]
        with analyzer.scope():
            for other in others:
                analyzer.assume(other, conjunction)
            if analyzer.prove(member) is conjunction:
                left = others
    return left


def without_implied_clauses(analyzer: Analyzer, clauses: Clauses) -> Clauses:
    """The clauses, each without what is of no account in it, that are not implied by another."""
    clauses = [without_implied(analyzer, clause, False) for clause in clauses]
    left = list(clauses)
    for number in reversed(range(len(clauses))):
        others = left[:number] + left[number + 1 :]
        if any(_implies(analyzer, other, left[number]) for other in others):
            left = others
    return left


def _implies(analyzer: Analyzer, one: Sequence[SSAValue], other: Sequence[SSAValue]) -> bool:
    """Whether each member of a disjunction implies a member of the other."""
    for member in one:
        if member in other:
            continue
        with analyzer.assuming(member):
            if not any(analyzer.prove(implied) for implied in other):
                return False
    return True


def build_connective(
    members: Sequence[SSAValue], connective: Connective, at: InsertPoint
) -> SSAValue:
    """The conjunction or disjunction of one or more conditions."""
    total, *others = members
    for other in others:
        total = insert(connective(total, other), at)
    return total


def build_clauses(clauses: Clauses, at: InsertPoint) -> SSAValue:
    """The condition that clauses stand for."""
    disjunctions = [build_connective(clause, arith.OrIOp, at) for clause in clauses]
    return build_connective(disjunctions, arith.AndIOp, at)
