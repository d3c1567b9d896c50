"""Conjunctions and disjunctions of conditions: normal form, and members that others imply (TVM
`conjunctive_normal_form.cc`)."""

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
    "drop_implied_clauses",
    "drop_implied_members",
    "members_of",
    "normal_form_of",
    "written_clauses_of",
]

Connective = type[arith.AndIOp] | type[arith.OrIOp]

Clauses = list[list[SSAValue]]
"""A conjunction of disjunctions."""

MAX_MEMBERS = 16
"""A connective with more members is not simplified: each is compared with all others."""

MAX_LITERALS = 2 * MAX_MEMBERS
"""The most members that all clauses of a normal form may have together: distributing a disjunction
over conjunctions multiplies them."""


def members_of(op: Operation, connective: Connective) -> list[SSAValue]:
    """Return the members of a conjunction or disjunction, nested ones included, in order."""
    members: list[SSAValue] = []
    pending: list[SSAValue] = [op.results[0]]
    while pending:
        value = pending.pop()
        if isinstance(value.owner, connective):
            pending += reversed(value.owner.operands)
        else:
            members.append(value)
    return members


def normal_form_of(condition: SSAValue, depth: int = MAX_LITERALS) -> Clauses | None:
    """Return `condition` as a conjunction of disjunctions; None if that has too many literals.

    Connectives may be nested up to `depth`.
    """
    op = condition.owner
    if not isinstance(op, arith.AndIOp | arith.OrIOp):
        return [[condition]]
    if depth == 0:
        return None
    left = normal_form_of(op.lhs, depth - 1)
    right = None if left is None else normal_form_of(op.rhs, depth - 1)
    if left is None or right is None:
        return None
    if isinstance(op, arith.AndIOp):
        clauses = left + right
    else:  # (a and b) or c is (a or c) and (b or c)
        clauses = [[*a, *(member for member in b if member not in a)] for a in left for b in right]
    # Checked at each level, so that products are always of two small forms.
    return clauses if sum(map(len, clauses)) <= MAX_LITERALS else None


def written_clauses_of(op: arith.AndIOp | arith.OrIOp) -> Clauses:
    """Return the clauses of `op` as written, without distributing disjunctions."""
    return [
        members_of(made, arith.OrIOp) if isinstance(made := member.owner, arith.OrIOp) else [member]
        for member in members_of(op, arith.AndIOp)
    ]


def drop_implied_members(
    analyzer: Analyzer, members: Sequence[SSAValue], is_conjunction: bool
) -> list[SSAValue]:
    """Return the members of a connective without those that the others make redundant.

    A member of a conjunction is redundant if it holds wherever all others hold; a member of a
    disjunction if it fails wherever all others fail.
    """
    left = list(dict.fromkeys(members))
    if len(left) > MAX_MEMBERS:
        return left
    for member in members:
        others = [other for other in left if other is not member]
        with analyzer.scope():
            # O(n^2) assumptions, for n up to MAX_MEMBERS: each member is proved from all others but
            # itself.
            for other in others:
                analyzer.assume(other, is_conjunction)
            if analyzer.prove(member) is is_conjunction:
                left = others
    return left


def drop_implied_clauses(analyzer: Analyzer, clauses: Clauses) -> Clauses:
    """Return the clauses that no other one implies, without redundant members."""
    clauses = [drop_implied_members(analyzer, clause, False) for clause in clauses]
    left = list(clauses)
    # From the end, so that of two equal clauses the first stays, as a reader expects, and the
    # numbers of the clauses before stay valid.
    for number in reversed(range(len(clauses))):
        others = left[:number] + left[number + 1 :]
        if any(_implies(analyzer, other, left[number]) for other in others):
            left = others
    return left


def _implies(analyzer: Analyzer, one: Sequence[SSAValue], other: Sequence[SSAValue]) -> bool:
    """Return whether each member of the disjunction `one` implies a member of `other`."""
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
    """Build the conjunction or disjunction of one or more conditions."""
    total, *others = members
    for other in others:
        total = insert(connective(total, other), at)
    return total


def build_clauses(clauses: Clauses, at: InsertPoint) -> SSAValue:
    """Build the condition that `clauses` stand for."""
    disjunctions = [build_connective(clause, arith.OrIOp, at) for clause in clauses]
    return build_connective(disjunctions, arith.AndIOp, at)
