"""Simpler values in the place of expressions, by what an analyzer knows."""

from __future__ import annotations

from functools import cache
from math import ceil, floor, log2

from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, IndexType, IntegerType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import NoMemoryEffect, Pure

from ...passmanager.ir.access import read_step
from .analyzer import Analyzer, is_integer
from .booleans import (
    build_clauses,
    build_connective,
    clauses_of,
    members_of,
    without_implied,
    without_implied_clauses,
)
from .canonical import MIRRORED, Predicate
from .linear_form import Linear, Range
from .materialize import Builder, insert

__all__ = ["Expressions", "is_expression"]

BOOLEAN, INDEX = IntegerType(1), IndexType()

MOST_OPS = 12
"""So many operations at most are taken as one expression."""

DEPTH = 4
"""How deep an expression is gone into where more is known than where it was computed."""

PREDICATES: dict[Predicate, int] = {
    "eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5,
}  # fmt: skip


def is_expression(op: Operation) -> bool:
    """Whether an operation does nothing but compute its one result from its operands."""
    return _is_pure(type(op)) and len(op.results) == 1 and not op.regions


@cache
def _is_pure(cls: type[Operation]) -> bool:
    if issubclass(cls, memref.DimOp):
        return True
    return cls.name.startswith(("arith.", "math.", "tir.")) and (
        cls.get_trait(Pure) is not None or cls.get_trait(NoMemoryEffect) is not None
    )


class Expressions:
    """What there is to make of expressions, with the options of the pass."""

    def __init__(
        self, analyzer: Analyzer, and_of_ors: bool = False, constrain_branches: bool = False
    ) -> None:
        self.analyzer = analyzer
        self.and_of_ors = and_of_ors
        self.constrain_branches = constrain_branches

    def better(self, op: Operation) -> SSAValue | None:
        """A value for the result of an operation that is simpler; None if there is none."""
        result = op.results[0]
        if isinstance(op, arith.ConstantOp):
            return None
        if result.type == BOOLEAN:
            truth = self.analyzer.prove(result)
            if truth is not None:
                return self.constant(int(truth), BOOLEAN, op)
        if isinstance(op, arith.CmpiOp) and (sharper := self.sharpened(op)) is not None:
            return sharper
        form = self.analyzer.linear(result)
        if is_integer(result.type):
            if (constant := self.analyzer.bounds(form).constant) is not None:
                return self.constant(constant, result.type, op)
        held = self.analyzer.held_value(form, result.type)
        if held is not None and held is not result:
            return held
        if (folded := self.folded(op)) is not None:
            return folded
        match op:
            case arith.CmpiOp():
                return self.better_comparison(op)
            case arith.AndIOp() | arith.OrIOp() if result.type == BOOLEAN:
                return self.better_connective(op)
            case arith.SelectOp():
                return self.better_choice(op)
            case _ if result.type == INDEX:
                return self.rebuilt(op, form)
            case _:
                return None

    def constant(self, value: int, type: Attribute, before: Operation) -> SSAValue:
        made = Builder(self.analyzer, InsertPoint.before(before)).constant(value, type)
        self.analyzer.hold(made)
        return made

    def folded(self, op: Operation) -> SSAValue | None:
        """What xDSL folds an operation to, or what a float comes to."""
        if not any(isinstance(operand.owner, arith.ConstantOp) for operand in op.operands):
            return None
        folded = op.fold() if isinstance(op, HasFolderInterface) else None
        value = folded[0] if folded else _folded_float(op)
        if value is None or isinstance(value, SSAValue):
            return value
        type = op.results[0].type
        made = arith.ConstantOp.create(result_types=[type], properties={"value": value})
        return _inserted(made, op)

    def rebuilt(self, op: Operation, form: Linear) -> SSAValue | None:
        """The result by its normal form, if that takes fewer operations."""
        tree = tree_of(op)
        if len(tree) < 2:
            return None
        builder = Builder(self.analyzer, InsertPoint.before(op), {*tree})
        return builder.build(form) if builder.cost(form, len(tree)) < len(tree) else None

    # Comparisons

    def better_comparison(self, op: arith.CmpiOp) -> SSAValue | None:
        """The comparison without what is on both sides, if that takes fewer operations."""
        comparison, tree = self.analyzer.comparison(op), tree_of(op)
        if comparison is None or len(tree) < 2 or op.lhs.type != INDEX:
            return None
        builder = Builder(self.analyzer, InsertPoint.before(op), {*tree})
        predicate, left, right = self.sides(*comparison)
        if builder.cost(left, len(tree)) + builder.cost(right, len(tree)) + 1 >= len(tree):
            return None
        lhs, rhs = builder.build(left), builder.build(right)
        return _inserted(arith.CmpiOp(lhs, rhs, PREDICATES[predicate]), op)

    def sharpened(self, op: arith.CmpiOp) -> SSAValue | None:
        """The comparison as one that fewer integers hold of, by what is known of them."""
        if (comparison := self.analyzer.comparison(op)) is None:
            return None
        predicate = self.sharper(*comparison)
        if predicate == comparison[0]:
            return None
        lhs, rhs = op.operands
        if isinstance(lhs.owner, arith.ConstantOp):
            lhs, rhs, predicate = rhs, lhs, MIRRORED.get(predicate, predicate)
        return _inserted(arith.CmpiOp(lhs, rhs, PREDICATES[predicate]), op)

    def sharper(self, predicate: Predicate, difference: Linear) -> Predicate:
        """A comparison of fewer integers with 0 that says the same, by what is known."""
        facts = self.analyzer.facts
        found = facts.range_of(difference)
        if facts.relations:
            found = found.meet(Range(facts.lower(difference), facts.upper(difference)))
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

    def sides(self, predicate: Predicate, difference: Linear) -> tuple[Predicate, Linear, Linear]:
        """A comparison with 0 as one of two forms whose terms are all positive."""
        if predicate in ("eq", "ne"):
            difference = self.analyzer.even(difference)
        factor = abs(difference.primitive()[1])
        constant = difference.constant
        match predicate:
            case "slt":
                constant = -((-constant - 1) // factor) - 1
            case "sle" | "sgt":
                constant = -(-constant // factor)
            case "sge":
                constant = constant // factor
            case _:
                constant //= factor  # without a rest, or it were known
        left = tuple((atom, n // factor) for atom, n in difference.terms if n > 0)
        right = tuple((atom, -n // factor) for atom, n in difference.terms if n < 0)
        if not left:
            mirrored = MIRRORED.get(predicate, predicate)
            return mirrored, Linear(right, 0), Linear((), constant)
        if not right:
            return predicate, Linear(left, 0), Linear((), -constant)
        match predicate, constant:
            case "sle", 1:
                return "slt", Linear(left, 0), Linear(right, 0)
            case "slt", -1:
                return "sle", Linear(left, 0), Linear(right, 0)
            case "sge", -1:
                return "sgt", Linear(left, 0), Linear(right, 0)
            case "sgt", 1:
                return "sge", Linear(left, 0), Linear(right, 0)
            case _:
                return predicate, Linear(left, constant), Linear(right, 0)

    # Conjunctions, disjunctions, choices

    def better_connective(self, op: arith.AndIOp | arith.OrIOp) -> SSAValue | None:
        conjunction = isinstance(op, arith.AndIOp)
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if self.analyzer.prove(one) is conjunction or one is other:
                return other
        connective = type(op)
        users = [use.operation for use in op.result.uses]
        at = InsertPoint.before(op)
        if self.constrain_branches and not any(isinstance(user, connective) for user in users):
            members = members_of(op, connective)
            left = without_implied(self.analyzer, members, conjunction)
            if len(left) < len(members):
                return build_connective(left, connective, at)
        if self.and_of_ors and not any(isinstance(u, arith.AndIOp | arith.OrIOp) for u in users):
            clauses = clauses_of(op.result)
            if clauses is not None:
                left = without_implied_clauses(self.analyzer, clauses)
                if left != _written_clauses(op):
                    return build_clauses(left, at)
        return None

    def better_choice(self, op: arith.SelectOp) -> SSAValue | None:
        chosen = self.analyzer.prove(op.cond)
        if chosen is not None:
            return op.lhs if chosen else op.rhs
        if op.lhs is op.rhs:
            return op.lhs
        at = InsertPoint.before(op)
        with self.analyzer.assuming(op.cond, True):
            lhs = self.refined(op.lhs, at)
        with self.analyzer.assuming(op.cond, False):
            rhs = self.refined(op.rhs, at)
        if lhs is None and rhs is None:
            return None
        return _inserted(arith.SelectOp(op.cond, lhs or op.lhs, rhs or op.rhs), op)

    def refined(self, value: SSAValue, at: InsertPoint, depth: int = DEPTH) -> SSAValue | None:
        """A simpler value where more is known than where it was computed; None if there is none."""
        op = value.owner
        if depth == 0 or not isinstance(op, Operation) or not is_expression(op):
            if value.type == BOOLEAN and (truth := self.analyzer.prove(value)) is not None:
                return Builder(self.analyzer, at).constant(int(truth), BOOLEAN)
            return None
        if value.type == BOOLEAN and not isinstance(op, arith.ConstantOp):
            if (truth := self.analyzer.prove(value)) is not None:
                return Builder(self.analyzer, at).constant(int(truth), BOOLEAN)
        if (chosen := self.chosen(op)) is not None:
            return self.refined(chosen, at, depth - 1) or chosen
        if not value.has_one_use():
            return None
        operands = [self.refined(operand, at, depth - 1) for operand in op.operands]
        if all(operand is None for operand in operands):
            return None
        made = op.clone()
        for number, operand in enumerate(operands):
            if operand is not None:
                made.operands[number] = operand
        return insert(made, at)

    def chosen(self, op: Operation) -> SSAValue | None:
        """The operand that the result of an operation is known to be."""
        match op:
            case arith.SelectOp():
                truth = self.analyzer.prove(op.cond)
                return None if truth is None else op.lhs if truth else op.rhs
            case arith.MinSIOp() | arith.MaxSIOp() if is_integer(op.result.type):
                a, b = self.analyzer.linear(op.lhs), self.analyzer.linear(op.rhs)
                lesser = self.analyzer.compare("sle", a, b)
                if lesser is None:
                    return None
                return op.lhs if lesser is isinstance(op, arith.MinSIOp) else op.rhs
            case arith.AndIOp() | arith.OrIOp() if op.result.type == BOOLEAN:
                conjunction = isinstance(op, arith.AndIOp)
                for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                    if self.analyzer.prove(one) is conjunction:
                        return other
                return None
            case _:
                return None


def tree_of(op: Operation) -> list[SSAValue]:
    """The results of an operation and of those that nothing else uses; constants are none."""
    tree: list[SSAValue] = []
    pending = [op]
    while pending and len(tree) < MOST_OPS:
        operands, results, _, _ = read_step(pending.pop())
        tree.append(results[0])
        for operand in operands:
            if not isinstance(operand, OpResult) or not operand.has_one_use():
                continue
            made = operand.op
            if type(made) is not arith.ConstantOp and is_expression(made):
                if is_integer(operand.type):
                    pending.append(made)
    return tree


def _written_clauses(op: arith.AndIOp | arith.OrIOp) -> list[list[SSAValue]]:
    """The members of the disjunctions whose conjunction an operation is, as it is written."""
    return [
        members_of(made, arith.OrIOp) if isinstance(made := member.owner, arith.OrIOp) else [member]
        for member in members_of(op, arith.AndIOp)
    ]


def _inserted(op: Operation, before: Operation) -> SSAValue:
    return insert(op, InsertPoint.before(before))


def _folded_float(op: Operation) -> Attribute | None:
    """The constant that a function of a constant float is, or a conversion of one."""
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
        case math.CeilOp() if abs(value) < 1 << 52:
            return FloatAttr(float(ceil(value)), type)
        case math.FloorOp() if abs(value) < 1 << 52:
            return FloatAttr(float(floor(value)), type)
        case _:
            return None
