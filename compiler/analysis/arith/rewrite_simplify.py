"""Simpler values for expressions under the constraints in force (TVM `RewriteSimplifier`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log2

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, IndexType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ....passes.generic.arith_families import DIVISIONS
from .analyzer import Analyzer
from .canonical import CanonicalArithmetic
from .expressions import (
    BOOLEAN,
    CMPI_NUMBER,
    INDEX,
    SWAPPED,
    Predicate,
    expression_tree,
    is_expression,
    is_integer,
)
from .linear_form import LinearForm
from .materialize import FormBuilder, insert
from .ranges import Range

# Conjunctions and disjunctions of conditions: normal form, and members that others imply (TVM
# `conjunctive_normal_form.cc`).


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
            # O(n^2) assumptions for n up to MAX_MEMBERS: each member is proved from all others.
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


MAX_DEPTH = 4
"""How many levels of operands `simplify_in_context` visits."""

MAX_INTEGRAL_FLOAT = 1 << 52
"""From this magnitude on each f64 is an integer, which rounding would not change."""


SUMS = frozenset((arith.AddiOp, arith.SubiOp, arith.MuliOp))
"""Operations on indices that are folded by their forms alone."""


class RewriteSimplifier:
    """Finds simpler values for expressions, and inserts the operations that compute them.

    With `and_of_ors` conditions become conjunctions of disjunctions; with `constrain_branches`
    redundant members of conjunctions and disjunctions are removed.
    """

    def __init__(
        self, analyzer: Analyzer, and_of_ors: bool = False, constrain_branches: bool = False
    ) -> None:
        self.analyzer = analyzer
        self.and_of_ors = and_of_ors
        self.constrain_branches = constrain_branches

    def simplify(self, op: Operation) -> SSAValue | None:
        """Return a simpler value for the result of an expression; None if none is found.

        In the order of preference: a constant, an available value, fewer operations.
        """
        result = op.results[0]
        if isinstance(op, arith.ConstantOp):
            return None
        if result.type == BOOLEAN:
            truth = self.analyzer.prove(result)
            if truth is not None:
                return self._constant(int(truth), BOOLEAN, op)
        if isinstance(op, arith.CmpiOp) and (stronger := self._strengthen(op)) is not None:
            return stronger
        form = self.analyzer.linear(result)
        # The range, not the form: within `if x == 4` the form of `x` is still an atom.
        if is_integer(result.type):
            if (constant := self.analyzer.bounds(form).constant) is not None:
                return self._constant(constant, result.type, op)
        available = self.analyzer.available_value(form, result.type)
        if available is not None and available is not result:
            return available
        if (folded := self._fold(op)) is not None:
            return folded
        match op:
            case arith.CmpiOp():
                return self._rebuild_comparison(op)
            case arith.AndIOp() | arith.OrIOp() if result.type == BOOLEAN:
                return self._simplify_connective(op)
            case arith.SelectOp():
                return self._simplify_select(op)
            case _ if result.type == INDEX:
                return self._rebuild(op, form)
            case _:
                return None

    def simplify_in_context(
        self, value: SSAValue, at: InsertPoint, depth: int = MAX_DEPTH
    ) -> SSAValue | None:
        """Return a simpler value to use at `at`, where more is known than at its definition.

        Operations that only serve to compute `value` are copied to `at` with simpler operands.
        Divisions are not copied. Both operands of a select are computed, so IR may guard a division
        with a divisor that is 1 in the place of 0, and this guard must stay. None if nothing is
        simpler.
        """
        op = value.owner
        if value.type == BOOLEAN and not isinstance(op, arith.ConstantOp):
            if (truth := self.analyzer.prove(value)) is not None:
                return FormBuilder(self.analyzer, at).constant(int(truth), BOOLEAN)
        if depth == 0 or not isinstance(op, Operation) or not is_expression(op):
            return None
        if (chosen := self._chosen_operand(op)) is not None:
            return self.simplify_in_context(chosen, at, depth - 1) or chosen
        if not value.has_one_use() or type(op) in DIVISIONS:
            return None
        operands = [self.simplify_in_context(operand, at, depth - 1) for operand in op.operands]
        if all(operand is None for operand in operands):
            return None
        copy = op.clone()
        for number, operand in enumerate(operands):
            if operand is not None:
                copy.operands[number] = operand
        return insert(copy, at)

    # Constants and canonical forms

    def _constant(self, value: int, type: Attribute, before: Operation) -> SSAValue:
        constant = FormBuilder(self.analyzer, InsertPoint.before(before)).constant(value, type)
        self.analyzer.make_available(constant)
        return constant

    def _fold(self, op: Operation) -> SSAValue | None:
        """Fold an operation with a constant operand."""
        result_type = op.results[0].type
        if type(op) in SUMS and isinstance(result_type, IndexType):
            return None  # its form says as much, and xDSL's folding is slow
        if not any(isinstance(operand.owner, arith.ConstantOp) for operand in op.operands):
            return None
        folded = op.fold() if isinstance(op, HasFolderInterface) else None
        value = folded[0] if folded else _folded_float(op)
        if value is None or isinstance(value, SSAValue):
            return value
        constant = arith.ConstantOp.create(result_types=[result_type], properties={"value": value})
        return _insert_before(op, constant)

    def _rebuild(self, op: Operation, form: LinearForm) -> SSAValue | None:
        """Build the canonical form of an index if that takes fewer operations."""
        tree = expression_tree(op)
        if len(tree) < 2:
            return None
        builder = FormBuilder(self.analyzer, InsertPoint.before(op), {*tree})
        # Strictly fewer, as otherwise two ways to write a form would replace each other forever.
        return builder.build(form) if builder.cost(form, len(tree)) < len(tree) else None

    # Comparisons

    def _strengthen(self, op: arith.CmpiOp) -> SSAValue | None:
        """Build the comparison with a stronger predicate, if there is one."""
        comparison = self.analyzer.comparison(op)
        if comparison is None or op.lhs.type == BOOLEAN:  # true is 1 here, but -1 if signed
            return None
        predicate = stronger_predicate(self.analyzer, *comparison)
        if predicate == comparison[0]:
            return None
        lhs, rhs = op.operands
        if isinstance(lhs.owner, arith.ConstantOp):
            lhs, rhs, predicate = rhs, lhs, SWAPPED[predicate]
        return _insert_before(op, arith.CmpiOp(lhs, rhs, CMPI_NUMBER[predicate]))

    def _rebuild_comparison(self, op: arith.CmpiOp) -> SSAValue | None:
        """Build the comparison without common terms if that takes fewer operations."""
        comparison, tree = self.analyzer.comparison(op), expression_tree(op)
        if comparison is None or len(tree) < 2 or op.lhs.type != INDEX:
            return None
        builder = FormBuilder(self.analyzer, InsertPoint.before(op), {*tree})
        predicate, left, right = sides_of(self.analyzer, *comparison)
        if builder.cost(left, len(tree)) + builder.cost(right, len(tree)) + 1 >= len(tree):
            return None
        lhs, rhs = builder.build(left), builder.build(right)
        return _insert_before(op, arith.CmpiOp(lhs, rhs, CMPI_NUMBER[predicate]))

    # Connectives and selects

    def _simplify_connective(self, op: arith.AndIOp | arith.OrIOp) -> SSAValue | None:
        is_conjunction = isinstance(op, arith.AndIOp)
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if self.analyzer.prove(one) is is_conjunction or one is other:
                return other
        # Only the outermost connective of a nest is simplified: it includes the inner ones.
        connective = type(op)
        users = [use.operation for use in op.result.uses]
        at = InsertPoint.before(op)
        if self.constrain_branches and not any(isinstance(user, connective) for user in users):
            members = members_of(op, connective)
            left = drop_implied_members(self.analyzer, members, is_conjunction)
            if len(left) < len(members):
                return build_connective(left, connective, at)
        if self.and_of_ors and not any(isinstance(u, arith.AndIOp | arith.OrIOp) for u in users):
            clauses = normal_form_of(op.result)
            if clauses is not None:
                clauses = drop_implied_clauses(self.analyzer, clauses)
                if clauses != written_clauses_of(op):
                    return build_clauses(clauses, at)
        return None

    def _simplify_select(self, op: arith.SelectOp) -> SSAValue | None:
        chosen = self.analyzer.prove(op.cond)
        if chosen is not None:
            return op.lhs if chosen else op.rhs
        if op.lhs is op.rhs:
            return op.lhs
        at = InsertPoint.before(op)
        with self.analyzer.assuming(op.cond, True):
            lhs = self.simplify_in_context(op.lhs, at)
        with self.analyzer.assuming(op.cond, False):
            rhs = self.simplify_in_context(op.rhs, at)
        if lhs is None and rhs is None:
            return None
        return _insert_before(op, arith.SelectOp(op.cond, lhs or op.lhs, rhs or op.rhs))

    def _chosen_operand(self, op: Operation) -> SSAValue | None:
        """Return the operand that is known to be the result of an operation, or None."""
        match op:
            case arith.SelectOp():
                truth = self.analyzer.prove(op.cond)
                return None if truth is None else op.lhs if truth else op.rhs
            case arith.MinSIOp() | arith.MaxSIOp() if is_integer(op.result.type):
                a, b = self.analyzer.linear(op.lhs), self.analyzer.linear(op.rhs)
                is_less = self.analyzer.compare("sle", a, b)
                if is_less is None:
                    return None
                return op.lhs if is_less is isinstance(op, arith.MinSIOp) else op.rhs
            case arith.AndIOp() | arith.OrIOp() if op.result.type == BOOLEAN:
                is_conjunction = isinstance(op, arith.AndIOp)
                for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                    if self.analyzer.prove(one) is is_conjunction:
                        return other
                return None
            case _:
                return None


def _insert_before(op: Operation, new: Operation) -> SSAValue:
    return insert(new, InsertPoint.before(op))


def _folded_float(op: Operation) -> Attribute | None:
    """Return the value of a logarithm to base 2 or a rounding of a constant float, or None."""
    type, (operand, *others) = op.results[0].type, op.operands
    if others or not isinstance(operand.owner, arith.ConstantOp):
        return None
    given = operand.owner.value
    if not isinstance(given, FloatAttr) or not isinstance(type, Float32Type | Float64Type):
        return None
    value = given.value.data
    match op:
        case math.Log2Op() if value > 0:
            return FloatAttr(log2(value), type)
        case math.CeilOp() if abs(value) < MAX_INTEGRAL_FLOAT:
            return FloatAttr(float(ceil(value)), type)
        case math.FloorOp() if abs(value) < MAX_INTEGRAL_FLOAT:
            return FloatAttr(float(floor(value)), type)
        case _:
            return None


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
            return predicate, left + constant, right


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
