"""tir-simplify: simplify integers, conditions and branches by the constraints around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.expressions import BOOLEAN, is_expression
from ...compiler.analysis.arith.linear_form import ONE, ZERO
from ...compiler.analysis.arith.ranges import Range
from ...compiler.analysis.arith.rewrite_simplify import RewriteSimplifier
from ...dialects.tir.ops import AssumeOp, ForOp, PrimFuncOp, YieldOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ..generic.dead_code_elimination import remove_dead_operations
from ..loops import inline_branch
from .base import PrimFuncPass

MAX_SWEEPS = 4
"""The largest number of sweeps over a function: when a use is removed, more expressions have a
single use and can be rebuilt."""


def simplify(
    func: PrimFuncOp,
    *,
    transitive: bool = False,
    and_of_ors: bool = False,
    constrain_branches: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Simplify the integers, conditions and branches of `func`, and remove operations that become
    dead.

    Constraints come from the ranges of loops, the conditions of branches and the sizes of buffers.
    The contents of memory are unknown, but conditions constrain loaded values like any others.
    `transitive` adds up several constraints; `and_of_ors` and `constrain_branches` are options of
    `RewriteSimplifier`.
    """
    _remove_dead(func, actions)
    for _ in range(MAX_SWEEPS):
        # A new one for each sweep: forms were read from operations that are gone.
        analyzer = Analyzer(transitive=transitive)
        simplifier = RewriteSimplifier(analyzer, and_of_ors, constrain_branches)
        sweep = FunctionSimplifier(analyzer, simplifier, actions)
        sweep.visit_block(func.body.block)
        computing = _computing(sweep.replaced)
        if sweep.is_changed or actions.decides:  # a step that is not allowed leaves its operations
            _remove_dead(func, actions)
        if not sweep.is_unfinished and not _has_single_use(computing):
            break


def _remove_dead(func: PrimFuncOp, actions: Actions) -> None:
    if removed := remove_dead_operations(func):
        actions.count("removed", removed)


def _computing(ops: Iterable[Operation]) -> dict[Operation, tuple[SSAValue, ...]]:
    """Return `ops`, and the expressions from which they are computed, with their operands."""
    found: dict[Operation, tuple[SSAValue, ...]] = {}
    pending = [*ops]
    while pending:
        if (op := pending.pop()) not in found:
            found[op] = operands = tuple(op.operands)
            owners = (operand.owner for operand in operands)
            pending += [o for o in owners if isinstance(o, Operation) and is_expression(o)]
    return found


def _has_single_use(computing: dict[Operation, tuple[SSAValue, ...]]) -> bool:
    """Return whether an expression has a single use left after a user of it, among `computing`, was
    erased: it may be rebuilt together with the other one."""
    return any(
        operand.owner in computing
        and operand.has_one_use()
        and not isinstance(operand.owner, arith.ConstantOp)
        for op, operands in computing.items()
        if op.parent is None
        for operand in operands
    )


class FunctionSimplifier:
    """One sweep over a function in order; the constraints in force follow the visit."""

    def __init__(self, analyzer: Analyzer, simplifier: RewriteSimplifier, actions: Actions) -> None:
        self.analyzer = analyzer
        self.simplifier = simplifier
        self.actions = actions
        self.is_changed = False
        self.is_unfinished = False
        """Whether another sweep may find more because of the changes of this one, apart from
        expressions that have a single use now."""
        self.replaced: list[Operation] = []
        """Expressions that were replaced by values that there were, or by constants."""
        self.simplified_in: dict[SSAValue, int] = {}
        """The state of the constraints in which a condition was simplified last."""
        self.loaded_at: dict[SSAValue, int] = {}
        """The value of `writes` when a value was loaded."""
        self.writes = 0
        """How many operations that may write memory were visited."""

    def visit_block(self, block: Block) -> None:
        """Simplify the operations of a block in order."""
        for argument in block.args:
            self.analyzer.make_available(argument)
        op = block.first_op
        while op is not None:
            op = self.visit(op)

    def visit(self, op: Operation) -> Operation | None:
        """Simplify an operation and its regions; return the next one to visit."""
        # Read first: the operation may be erased. What replaces it is simple already.
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
                self.loaded_at[op.res] = self.writes
                self.analyzer.make_available(op.res)
            case memref.AllocOp() | memref.AllocaOp():
                for size in op.dynamic_sizes:
                    self.analyzer.constraints.add(self.analyzer.linear(size), Range(0))
            case AssumeOp():
                self.analyzer.assume(op.condition)
            case YieldOp() | scf.YieldOp():
                pass
            case _:
                self.visit_other(op)
        return next

    def visit_expression(self, op: Operation) -> None:
        result = op.results[0]
        before = op.prev_op
        new = self.simplifier.simplify(op)
        if new is None or not self.actions.allowed(op):
            self.analyzer.make_available(result)
            if result.type == BOOLEAN:
                self.simplified_in[result] = self.analyzer.constraints.state
            return
        self.report("values", op, "Simplified", "it has a simpler form", is_final=True)
        if op.prev_op is before or isinstance(new.owner, arith.ConstantOp):
            self.replaced.append(op)
        else:
            self.is_unfinished = True  # the new operations were not visited
        if new.name_hint is None:
            new.name_hint = result.name_hint
        result.replace_all_uses_with(new)
        self.analyzer.make_available(new)

    def simplify_conditions(self, op: Operation) -> None:
        """Simplify the conditions that `op` uses if more is known here than at their definition."""
        state = self.analyzer.constraints.state
        for number, operand in enumerate(op.operands):
            # In the same state nothing more is known than when it was tried.
            if operand.type != BOOLEAN or self.simplified_in.get(operand) == state:
                continue
            self.simplified_in[operand] = state
            if isinstance(operand.owner, arith.ConstantOp):
                continue
            new = self.simplifier.simplify_in_context(operand, InsertPoint.before(op))
            if new is not None and self.actions.allowed(op):
                self.report("values", op, "Simplified", "a condition is known here")
                op.operands[number] = new

    def visit_loop(self, loop: ForOp) -> None:
        """Simplify the body of a loop; erase a loop without iterations."""
        extent = self.analyzer.linear(loop.extent)
        if self.analyzer.can_prove("sle", extent, ZERO) and self.actions.allowed(loop):
            self.report("loops", loop, "RemovedLoop", "it has no iteration")
            erase(loop)
            return
        self.writes += 1  # an iteration reads the memory that the one before wrote
        with self.analyzer.inside(loop):
            if extent == ONE and loop.variable.first_use is not None and self.actions.allowed(loop):
                self.report("values", loop, "Simplified", "its variable has one value")
                loop.variable.replace_all_uses_with(loop.min)
            self.visit_block(loop.body.block)
        self.writes += 1

    def visit_if(self, op: scf.IfOp, next: Operation | None) -> Operation | None:
        """Simplify the branches of an `scf.if`, or replace it by the one that is taken.

        Return the next operation to visit: the first of that branch, else `next`.
        """
        truth = self.analyzer.prove(op.cond)
        if truth is not None and self.actions.allowed(op):
            self.report("branches", op, "RemovedBranch", "its condition is known")
            # The branch is visited in the scope around it: its operations are part of that block
            # now.
            return inline_branch(op, truth) or next
        for region, holds in ((op.true_region, True), (op.false_region, False)):
            for block in region.blocks:
                with self.analyzer.assuming(op.cond, holds):
                    self.visit_block(block)
        for result in op.results:
            self.analyzer.make_available(result)
        return next

    def visit_store(self, op: memref.StoreOp) -> None:
        """Erase a store of a value that was loaded from there, with no write in between."""
        is_unchanged = self.loaded_at.get(op.value) == self.writes and self.is_load_place(op)
        if is_unchanged and self.actions.allowed(op):
            self.report("stores", op, "RemovedStore", "the buffer holds that value there")
            erase(op)
        else:
            self.writes += 1

    def is_load_place(self, store: memref.StoreOp) -> bool:
        """Return whether the stored value was loaded from the place of the store."""
        load = store.value.owner
        if not isinstance(load, memref.LoadOp) or load.memref is not store.memref:
            return False
        form = self.analyzer.linear
        # By form, not by value: `i + 1` computed twice is one place.
        return [*map(form, load.indices)] == [*map(form, store.indices)]

    def visit_other(self, op: Operation) -> None:
        """Simplify the regions of any other operation: it may write, and run a region twice."""
        self.writes += 1
        for region in op.regions:
            for block in region.blocks:
                with self.analyzer.scope():
                    self.visit_block(block)
                self.writes += 1
        for result in op.results:
            self.analyzer.make_available(result)

    def report(
        self, counter: str, op: Operation, name: str, message: str, *, is_final: bool = False
    ) -> None:
        """Report a change; after one that `is_final` there is nothing new to find."""
        self.is_changed = True
        self.is_unfinished |= not is_final
        self.actions.count(counter)
        self.actions.passed(op, name, message)


@dataclass(frozen=True)
class Simplify(PrimFuncPass):
    """Simplify integers, conditions and branches by the constraints on them; source:
    `tir.Simplify`.

    Before:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c64 = arith.constant 64 : index
          tir.for %i = %c0 extent %c64 {
            %inside = arith.cmpi slt, %i, %c64 : index
            scf.if %inside {
              memref.store %x, %a[%i] : memref<64xf32>
            }
          }
        }

    After:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c64 = arith.constant 64 : index
          tir.for %i = %c0 extent %c64 {
            memref.store %x, %a[%i] : memref<64xf32>
          }
        }
    """

    name = "tir-simplify"

    transitively_prove_inequalities: bool = False
    """Add up several constraints: `i < j` and `j < k` give `i < k`."""

    convert_boolean_to_and_of_ors: bool = False
    """Rewrite conditions as conjunctions of disjunctions."""

    apply_constraints_to_boolean_branches: bool = False
    """Remove members of conjunctions and disjunctions that the other members imply."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if func.is_declaration:
            return
        simplify(
            func,
            transitive=self.transitively_prove_inequalities,
            and_of_ors=self.convert_boolean_to_and_of_ors,
            constrain_branches=self.apply_constraints_to_boolean_branches,
            actions=ctx.actions,
        )
