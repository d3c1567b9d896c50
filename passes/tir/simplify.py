"""tir-simplify: integers, conditions and branches, by what is known where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.arith.analyzer import Analyzer
from ...analysis.arith.canonical import ONE, ZERO
from ...analysis.arith.linear_form import Range
from ...analysis.arith.rewrite_simplify import Expressions, is_expression
from ...dialects.tir.ops import ForOp, PrimFuncOp, YieldOp
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from ..rewriting.dead_code import remove_dead_operations
from .base import PrimFuncPass

__all__ = ["Simplify", "simplify"]

BOOLEAN, INDEX = IntegerType(1), IndexType()

MOST_ROUNDS = 4
"""So often a function is gone through: a use that goes may let others be put together."""


def simplify(
    func: PrimFuncOp,
    *,
    transitive: bool = False,
    and_of_ors: bool = False,
    constrain_branches: bool = False,
    remarks: Remarks | None = None,
) -> Counter[str]:
    """Simplify a function until nothing changes: how often what was done.

    Facts are ranges of loops, conditions of branches, sizes of buffers. What memory holds is no
    fact; a value that was loaded from it is known as any other.
    """
    done: Counter[str] = Counter()
    removed = remove_dead_operations(func)
    for _ in range(MOST_ROUNDS):
        analyzer = Analyzer(transitive=transitive)
        expressions = Expressions(analyzer, and_of_ors, constrain_branches)
        walk = Walk(analyzer, expressions, remarks)
        walk.run(func)
        if not walk.done:
            break
        done += walk.done
        removed += remove_dead_operations(func)
    if removed:
        done["removed"] += removed
    return done


class Walk:
    """One walk through a function, in which what is known where is kept."""

    def __init__(
        self, analyzer: Analyzer, expressions: Expressions, remarks: Remarks | None
    ) -> None:
        self.analyzer = analyzer
        self.expressions = expressions
        self.remarks = remarks or None
        self.done: Counter[str] = Counter()
        self.asked: dict[SSAValue, int] = {}
        """The state of knowledge in which a condition has been simplified."""
        self.loaded: dict[SSAValue, int] = {}
        """For a value that was loaded, how many writes there had been."""
        self.writes = 0

    def run(self, func: PrimFuncOp) -> None:
        self.walk(func.body.block)

    def walk(self, block: Block) -> None:
        for argument in block.args:
            self.analyzer.hold(argument)
        op = block.first_op
        while op is not None:
            op = self.visit(op)

    def visit(self, op: Operation) -> Operation | None:
        """Simplify an operation and what is in it; the next one to visit."""
        next = op.next_op
        if is_expression(op):
            self.visit_expression(op)
            return next
        self.simplify_conditions(op)
        match op:
            case ForOp():
                self.visit_loop(op)
            case scf.IfOp():
                return self.visit_if(op, next)
            case memref.StoreOp():
                self.visit_store(op)
            case memref.LoadOp():
                self.loaded[op.res] = self.writes
                self.analyzer.hold(op.res)
            case memref.AllocOp() | memref.AllocaOp():
                for size in op.dynamic_sizes:
                    self.analyzer.facts.learn(self.analyzer.linear(size), Range(0))
            case YieldOp() | scf.YieldOp():
                pass
            case _:
                self.visit_other(op)
        return next

    def visit_expression(self, op: Operation) -> None:
        result = op.results[0]
        new = self.expressions.better(op)
        if new is None:
            self.analyzer.hold(result)
            if result.type == BOOLEAN:
                self.asked[result] = self.analyzer.facts.state
            return
        self.count("values", op, "Simplified", "it has a simpler form")
        if new.name_hint is None:
            new.name_hint = result.name_hint
        result.replace_all_uses_with(new)
        self.analyzer.hold(new)

    def simplify_conditions(self, op: Operation) -> None:
        """Simplify conditions that are used where more is known than where they were computed."""
        state = self.analyzer.facts.state
        for number, operand in enumerate(op.operands):
            if operand.type != BOOLEAN or self.asked.get(operand) == state:
                continue
            self.asked[operand] = state
            if isinstance(operand.owner, arith.ConstantOp):
                continue
            if (new := self.expressions.refined(operand, InsertPoint.before(op))) is not None:
                self.count("values", op, "Simplified", "a condition is known here")
                op.operands[number] = new

    def visit_loop(self, loop: ForOp) -> None:
        extent = self.analyzer.linear(loop.extent)
        if self.analyzer.can_prove("sle", extent, ZERO):
            self.count("loops", loop, "RemovedLoop", "it has no iteration")
            loop.detach()
            loop.drop_all_references()
            return
        self.writes += 1  # what a loop writes, its next iteration finds
        with self.analyzer.inside(loop):
            if extent == ONE and loop.variable.first_use is not None:
                self.count("values", loop, "Simplified", "its variable has one value")
                loop.variable.replace_all_uses_with(loop.min)
            self.walk(loop.body.block)
        self.writes += 1

    def visit_if(self, op: scf.IfOp, next: Operation | None) -> Operation | None:
        truth = self.analyzer.prove(op.cond)
        if truth is not None:
            self.count("branches", op, "RemovedBranch", "its condition is known")
            return splice(op, truth) or next
        for region, holds in ((op.true_region, True), (op.false_region, False)):
            for block in region.blocks:
                with self.analyzer.assuming(op.cond, holds):
                    self.walk(block)
        for result in op.results:
            self.analyzer.hold(result)
        return next

    def visit_store(self, op: memref.StoreOp) -> None:
        if self.loaded.get(op.value) == self.writes and self.is_same_place(op):
            self.count("stores", op, "RemovedStore", "the buffer holds that value there")
            op.detach()
            op.drop_all_references()
        else:
            self.writes += 1

    def is_same_place(self, store: memref.StoreOp) -> bool:
        """Whether the value that is stored was loaded from there."""
        load = store.value.owner
        if not isinstance(load, memref.LoadOp) or load.memref is not store.memref:
            return False
        form = self.analyzer.linear
        return [*map(form, load.indices)] == [*map(form, store.indices)]

    def visit_other(self, op: Operation) -> None:
        """An operation of which only this is known: it may write, and run its regions again."""
        self.writes += 1
        for region in op.regions:
            for block in region.blocks:
                with self.analyzer.scope():
                    self.walk(block)
                self.writes += 1
        for result in op.results:
            self.analyzer.hold(result)

    def count(self, kind: str, op: Operation, name: str, why: str) -> None:
        self.done[kind] += 1
        if self.remarks is not None:
            self.remarks.passed(op, name, why)


def splice(op: scf.IfOp, truth: bool) -> Operation | None:
    """Put what is in a branch in the place of the operation; the first of it, None if it is none.

    A branch that is not written has nothing in it.
    """
    region = op.true_region if truth else op.false_region
    first: Operation | None = None
    values: Sequence[SSAValue] = ()
    if region.blocks:
        block = region.block
        end = block.last_op
        assert isinstance(end, scf.YieldOp)
        values = tuple(end.operands)
        end.detach()
        end.drop_all_references()
        first = block.first_op
        Rewriter.inline_block(block, InsertPoint.before(op))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.drop_all_references()
    return first


@dataclass(frozen=True)
class Simplify(PrimFuncPass):
    """Simplify integers, conditions and branches by what is known where they stand; source:
    `tir.Simplify`."""

    name = "tir-simplify"

    transitively_prove_inequalities: bool = False
    """Whether conditions in force are added up: `i < j` and `j < k` give `i < k`."""

    convert_boolean_to_and_of_ors: bool = False
    """Whether conditions become conjunctions of disjunctions."""

    apply_constraints_to_boolean_branches: bool = False
    """Whether a member of a conjunction or disjunction goes if the others imply it."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if func.is_declaration:
            return
        done = simplify(
            func,
            transitive=self.transitively_prove_inequalities,
            and_of_ors=self.convert_boolean_to_and_of_ors,
            constrain_branches=self.apply_constraints_to_boolean_branches,
            remarks=ctx.remarks,
        )
        for kind, times in done.items():
            ctx.count(kind, times)
