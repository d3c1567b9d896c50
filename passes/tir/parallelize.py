"""tir-parallelize: mark the loops whose iterations threads share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.constant_evaluator import integer_constant
from ...compiler.analysis.dependence import Dependence, dependence_of
from ...compiler.analysis.iteration_ranges import FORK_WORK, extent_of, parallel_work, work_of
from ...dialects.target import target_of
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp, YieldOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ..loops import LoopBuilder, chunk_of, known_index
from .base import PrimFuncPass


def parallelize_loops(
    func: PrimFuncOp, threads: int, fork_work: int = FORK_WORK, *, actions: Actions = SILENT
) -> None:
    """Mark the loops of `func` that `threads` threads are to share as parallel, and make the
    parallel loops serial that are not worth it.

    Of the loops of a nest, those are taken with which it takes the minimum time: outer loops start
    threads less often, others may have more iterations. Nothing happens for one thread.
    """
    if threads == 1 or func.is_declaration:
        return
    # Decisions first, changes after: a choice in one branch of the search may lose to one around
    # it.
    plan = Planner(threads, fork_work, Analyzer(), may_alias="tir.alias" in func.attributes)
    chosen = [choice for op in [*func.body.block.ops] for choice in plan.visit(op).choices]
    kept = {loop for choice in chosen for loop in choice.loops}
    for op in [op for op in walk(func) if isinstance(op, ForOp)]:
        if op.for_kind is ForKind.PARALLEL and op not in kept:
            op.kind = ForKindAttr(ForKind.SERIAL)
    for choice in chosen:
        outer = choice.loops[0]
        if not actions.allowed(outer):
            continue
        message = f"its iterations are shared by {threads} threads"
        actions.passed(outer, "Parallel", message, Iterations=choice.count)
        actions.count("parallel")
        for loop in choice.loops:
            loop.kind = ForKindAttr(ForKind.PARALLEL)
        if choice.private:
            split_loop(outer, choice.private, threads)


@dataclass(frozen=True)
class SharedLoops:
    """Nested loops, the outermost first, whose iterations threads share."""

    loops: Sequence[ForOp]
    count: int
    """The iterations of all together."""
    private: Sequence[Operation] = ()
    """The operations before the loop that each thread does for itself."""


@dataclass(frozen=True)
class ParallelPlan:
    """The loops to share in an operation, and the time that it takes then."""

    work: int
    choices: Sequence[SharedLoops] = ()


@dataclass
class Planner:
    """Chooses the loops of a function that threads share."""

    threads: int
    fork_work: int
    analyzer: Analyzer
    may_alias: bool
    """Whether the buffers of the function may overlap."""

    def visit(self, op: Operation) -> ParallelPlan:
        """Return the best plan for `op`."""
        whole = work_of(op)
        # A bound for all loops in it: with one iteration for each thread it would not be worth it
        # either.
        if not isinstance(op, ForOp) or self.shared_work(whole, self.threads) >= whole:
            return ParallelPlan(whole)
        if op.for_kind not in (ForKind.SERIAL, ForKind.PARALLEL):
            return ParallelPlan(whole)
        plans = [ParallelPlan(whole), *self.shared(op, whole)]
        with self.analyzer.inside(op):
            inner = [self.visit(each) for each in op.body.block.ops]
        # With the loops in it shared instead, a fork for each iteration of this one.
        work = extent_of(op) * (1 + sum(plan.work for plan in inner))
        plans.append(ParallelPlan(work, [choice for plan in inner for choice in plan.choices]))
        # Of equal plans the first: serial, then the outer loop.
        return min(plans, key=lambda plan: plan.work)

    def shared_work(self, work: int, count: int) -> int:
        """Return the work that takes as long as `count` iterations when threads share them."""
        return parallel_work(work, count, self.threads, self.fork_work)

    def shared(self, loop: ForOp, whole: int) -> list[ParallelPlan]:
        """Return the plans in which threads share the iterations of `loop`, and those of loops
        that are all of its body."""
        plans: list[ParallelPlan] = []
        loops: list[ForOp] = []
        private: Sequence[Operation] = ()
        count = 1
        inner: ForOp | None = loop
        with self.analyzer.scope():
            # An inner loop is added if the iterations of both are independent: more of them fill
            # the threads more evenly. With scratch memory only the outer loop, whose body is to
            # have it.
            while inner is not None and not private:
                found = self.dependence(inner)
                if not found.is_none or (found.private and loops):
                    break
                private = found.private
                loops.append(inner)
                count *= extent_of(inner)
                work = self.shared_work(whole, count)
                plans.append(ParallelPlan(work, [SharedLoops([*loops], count, private)]))
                inner = only_loop(inner)
        return plans

    def dependence(self, loop: ForOp) -> Dependence:
        if loop.for_kind is ForKind.PARALLEL:
            return Dependence()
        if self.may_alias:
            return Dependence("buffers may overlap")
        return dependence_of(loop, self.analyzer)


def only_loop(loop: ForOp) -> ForOp | None:
    """Return the loop that is all of the body of `loop`, and whose bounds are constants."""
    inner = loop.body.block.first_op
    if not isinstance(inner, ForOp) or not isinstance(inner.next_op, YieldOp):
        return None
    if inner.for_kind not in (ForKind.SERIAL, ForKind.PARALLEL):
        return None
    bounds = integer_constant(inner.min), integer_constant(inner.extent)
    return None if None in bounds else inner


def split_loop(loop: ForOp, private: Sequence[Operation], threads: int) -> None:
    """Replace a parallel loop by one over chunks of its iterations, as many as there are threads,
    in which the iterations of a chunk run one after the other, after `private`.

        tir.for %i = %c0 extent %n {...}

    becomes, with `private` in place of the comment,

        tir.for parallel %t = %c0 extent %threads {
          // private
          tir.for %i = %first extent %count {...}
        }
    """
    build = LoopBuilder(InsertPoint.before(loop))
    total = known_index(loop.extent)
    chunks = min(threads, total) if isinstance(total, int) else threads
    outer = ForOp(build.value(0), build.value(chunks), kind=ForKind.PARALLEL)
    outer.location = loop.location
    build.insert(outer)
    body = outer.body.block
    # Moved, not copied: each thread allocates what was shared before.
    for op in (*private, loop):
        op.detach()
        body.add_op(op)
    inside = LoopBuilder(InsertPoint.before(loop))
    first, size = chunk_of(inside, outer.variable, total, chunks)
    first = inside.add(first, known_index(loop.min))
    loop.operands = [inside.value(first), inside.value(size)]
    loop.kind = ForKindAttr(ForKind.SERIAL)
    body.add_op(YieldOp())


@dataclass(frozen=True)
class Parallelize(PrimFuncPass):
    """Mark the loops as parallel whose iterations are worth sharing by threads, as many as the
    target of the module has cores. Loops that are parallel already, but not worth it, become
    serial. Nothing happens on one core.

    A loop is marked if its iterations provably write elements of their own; scratch memory outside
    of the loop becomes memory of each thread.

    Before:

        builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
          tir.prim_func @f(%x: memref<4096x64xf32>, %y: memref<4096x64xf32>) {
            %c0 = arith.constant 0 : index
            %c64 = arith.constant 64 : index
            %c4096 = arith.constant 4096 : index
            tir.for %i = %c0 extent %c4096 {
              tir.for %j = %c0 extent %c64 {
                %0 = memref.load %x[%i, %j] : memref<4096x64xf32>
                %1 = math.exp %0 : f32
                memref.store %1, %y[%i, %j] : memref<4096x64xf32>
              }
            }
          }
        }

    After:

        builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
          tir.prim_func @f(%x: memref<4096x64xf32>, %y: memref<4096x64xf32>) {
            %c0 = arith.constant 0 : index
            %c64 = arith.constant 64 : index
            %c4096 = arith.constant 4096 : index
            tir.for parallel %i = %c0 extent %c4096 {
              tir.for %j = %c0 extent %c64 {
                %0 = memref.load %x[%i, %j] : memref<4096x64xf32>
                %1 = math.exp %0 : f32
                memref.store %1, %y[%i, %j] : memref<4096x64xf32>
              }
            }
          }
        }
    """

    name = "tir-parallelize"

    fork_work: int = field(default=FORK_WORK, metadata={"minimum": 0})
    """The number of operations that take as long as starting threads and waiting for them."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        threads = target_of(module).cores
        parallelize_loops(func, threads, self.fork_work, actions=ctx.actions)
