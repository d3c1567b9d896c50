"""tir-parallelize: mark the loops whose iterations threads share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.arith.analyzer import Analyzer
from ...analysis.constants import integer_constant
from ...analysis.loop_dependence import Dependence, dependence_of
from ...analysis.loop_work import FORK_WORK, extent_of, parallel_work, work_of
from ...dialects.target import target_of
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp, YieldOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ..rewriting.loop_builder import LoopBuilder
from .base import PrimFuncPass

__all__ = ["Parallelize", "parallelize_loops"]


def parallelize_loops(
    func: PrimFuncOp, threads: int, fork_work: int = FORK_WORK, *, actions: Actions = SILENT
) -> None:
    """Mark the loops of `func` that `threads` threads are to share as parallel, and make the
    parallel loops serial that are not worth it.

    Of the loops of a nest, those are taken with which it takes the least time: outer loops start
    threads less often, others may have more iterations. Nothing happens for one thread.
    """
    if threads == 1 or func.is_declaration:
        return
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
class Choice:
    """Nested loops, the outermost first, whose iterations threads share."""

    loops: Sequence[ForOp]
    count: int
    """The iterations of all together."""
    private: Sequence[Operation] = ()
    """The operations before the loop that each thread does for itself."""


@dataclass(frozen=True)
class Plan:
    """The loops to share in an operation, and the time that it takes then."""

    work: int
    choices: Sequence[Choice] = ()


@dataclass
class Planner:
    """Chooses the loops of a function that threads share."""

    threads: int
    fork_work: int
    analyzer: Analyzer
    may_alias: bool
    """Whether the buffers of the function may overlap."""

    def visit(self, op: Operation) -> Plan:
        """Return the best plan for `op`."""
        whole = work_of(op)
        if not isinstance(op, ForOp) or self.shared_work(whole, self.threads) >= whole:
            return Plan(whole)
        if op.for_kind not in (ForKind.SERIAL, ForKind.PARALLEL):
            return Plan(whole)
        plans = [Plan(whole), *self.shared(op, whole)]
        with self.analyzer.inside(op):
            inner = [self.visit(each) for each in op.body.block.ops]
        work = extent_of(op) * (1 + sum(plan.work for plan in inner))
        plans.append(Plan(work, [choice for plan in inner for choice in plan.choices]))
        return min(plans, key=lambda plan: plan.work)

    def shared_work(self, work: int, count: int) -> int:
        """Return the work that takes as long as `count` iterations when threads share them."""
        return parallel_work(work, count, self.threads, self.fork_work)

    def shared(self, loop: ForOp, whole: int) -> list[Plan]:
        """Return the plans in which threads share the iterations of `loop`, and those of loops
        that are all of its body."""
        plans: list[Plan] = []
        loops: list[ForOp] = []
        private: Sequence[Operation] = ()
        scopes = self.analyzer
        count = 1
        inner: ForOp | None = loop
        with scopes.scope():
            while inner is not None and not private:
                found = self.dependence(inner)
                if not found.is_none or (found.private and loops):
                    break
                private = found.private
                loops.append(inner)
                count *= extent_of(inner)
                work = self.shared_work(whole, count)
                plans.append(Plan(work, [Choice([*loops], count, private)]))
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
    """Replace a parallel loop by one over parts of its iterations, as many as there are threads,
    in which the iterations of a part run one after the other, after `private`.

        tir.for %i = %c0 extent %n {...}

    becomes, with `private` in place of the comment,

        tir.for parallel %t = %c0 extent %threads {
          // private
          tir.for %i = %first extent %count {...}
        }
    """
    build = LoopBuilder(InsertPoint.before(loop))
    count = integer_constant(loop.extent)
    parts = threads if count is None else min(threads, count)
    body = Block(arg_types=[IndexType()])
    outer = ForOp(build.value(0), build.value(parts), kind=ForKind.PARALLEL)
    outer.body.detach_block(0)
    outer.body.add_block(body)
    outer.location = loop.location
    Rewriter.insert_op(outer, InsertPoint.before(loop))
    for op in (*private, loop):
        op.detach()
        body.add_op(op)
    first, size = part_of(LoopBuilder(InsertPoint.before(loop)), body.args[0], loop, parts)
    loop.operands = [first, size]
    loop.kind = ForKindAttr(ForKind.SERIAL)
    body.add_op(YieldOp())


def part_of(
    build: LoopBuilder, number: SSAValue, loop: ForOp, parts: int
) -> tuple[SSAValue, SSAValue]:
    """Return the first iteration and the number of iterations of a part of `loop`; parts differ by
    at most one iteration."""

    def insert(op: Operation) -> SSAValue:
        return build.insert(op).results[0]

    def constant(value: int) -> SSAValue:
        return insert(arith.ConstantOp(IntegerAttr(value, IndexType())))

    extent = integer_constant(loop.extent)
    divisor = constant(parts)
    if extent is not None and extent % parts == 0:
        size = constant(extent // parts)
        start = insert(arith.MuliOp(number, size))
    else:
        after = insert(arith.AddiOp(number, constant(1)))
        bounds = [
            insert(arith.DivUIOp(insert(arith.MuliOp(end, loop.extent)), divisor))
            for end in (number, after)
        ]
        start, size = bounds[0], insert(arith.SubiOp(bounds[1], bounds[0]))
    if integer_constant(loop.min) != 0:
        start = insert(arith.AddiOp(start, loop.min))
    return start, size


@dataclass(frozen=True)
class Parallelize(PrimFuncPass):
    """Mark the loops as parallel whose iterations are worth sharing by threads, as many as the
    target of the module has cores. Loops that are parallel already, but not worth it, become
    serial. Nothing happens on one core.

    A loop is marked if its iterations provably write elements of their own; scratch memory outside
    of the loop becomes memory of each thread.

    Before, in a module with the target `x86-64-v3{cores=2}`:

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

    After:

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
    """

    name = "tir-parallelize"

    fork_work: int = field(default=FORK_WORK, metadata={"minimum": 0})
    """The number of operations that take as long as starting threads and waiting for them."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        threads = target_of(module).cores
        parallelize_loops(func, threads, self.fork_work, actions=ctx.actions)
