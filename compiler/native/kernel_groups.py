"""Kernels that are lowered and compiled in groups at the same time, each in a process of its own.

The passes that follow `lower-to-tir` look at one function at a time, and so do MLIR and LLVM where
functions are not inlined. What a kernel and its callers have to agree on is small: how many
operations it has, and whether it may fail.

If anything goes wrong in a group, the module is compiled as a whole instead, and the user gets the
errors and warnings of that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects import cf, func, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, Region

from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passes.generic.call_graph import CallGraph
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.fast.clone import clone
from ...passmanager.forks import Fork, Lost, Send, available_cores, can_fork
from ...passmanager.ir.verifier import verify
from ...passmanager.ir.walk import walk
from ...passmanager.registry import make_ir_context
from ..analysis.constant_evaluator import constant_extent
from . import codegen
from .llvm_printer import llvm_ir
from .lowering import is_lowered, kernel_lowering, lowers_function_by_function
from .objects import balanced, compiling
from .preparation.assertions import Failures, report_assertions
from .preparation.owned_memory import Work, assert_allocated, insert_polls_in_long
from .preparation.preparation import (
    PREFIX,
    Elsewhere,
    Prepared,
    check_dialects,
    prepare_lowered,
    prepare_operations,
    widen_lanes,
    without_values,
)
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm


MIN_WORK = 500
"""The minimum number of operations for which a process of its own saves time."""
FUNCTION_WORK = 200
"""The number of operations that take as long to compile as an empty function."""


def is_divisible(module: ModuleOp) -> bool:
    """Return whether the kernels of a module may be compiled in processes of their own: this
    process can be forked, and nothing observes the passes."""
    return (
        available_cores() > 1
        and can_fork()
        and not PassContext.current().is_observed
        and not is_lowered(module)
        and lowers_function_by_function(PassContext.current())
    )


def compile_kernels(
    module: ModuleOp, entry: str, threads: int, machine: llvm.TargetMachine
) -> tuple[Prepared, list[bytes]] | None:
    """Compile a module whose functions are all on buffers to object files, its kernels in as many
    groups as there are cores. Return them with all but the kernels, prepared; None if there are
    too few kernels, or if anything goes wrong. The module is not changed."""
    groups = grouped(kernels_of(module, entry), available_cores())
    if len(groups) < 2:
        return None
    compiling = Compiling(threads, machine, len(groups) + 1)
    try:
        return compiling.run(module, entry, groups)
    except (Lost, PasslineError):
        return None


def kernels_of(module: ModuleOp, entry: str) -> list[PrimFuncOp]:
    """Return the functions that can be compiled by themselves: private ones that call no other
    function, cannot fail, and read no variables."""
    functions = [op for op in module.ops if isinstance(op, PrimFuncOp | func.FuncOp)]
    graph = CallGraph(module)
    return [
        op
        for op in functions
        if isinstance(op, PrimFuncOp)
        and not op.is_declaration
        and op.sym_visibility == StringAttr("private")
        and op.sym_name.data != entry
        and not graph.unresolved(op)
        and all(map(is_constant, graph.callees(op)))
        and not any(isinstance(inner, cf.AssertOp) for inner in walk(op))
    ]


def is_constant(op: Operation) -> bool:
    """Return whether `op` is a constant that each part of a module may have."""
    return (
        isinstance(op, memref.GlobalOp)
        and op.constant is not None
        and op.sym_visibility == StringAttr("private")
    )


def grouped(kernels: Sequence[PrimFuncOp], count: int) -> list[list[PrimFuncOp]]:
    """Return the kernels in up to `count` groups that take about as long to compile."""
    sizes = {kernel: size_of(kernel) for kernel in kernels}
    count = min(count, len(kernels), sum(sizes.values()) // MIN_WORK)
    return balanced(sizes, max(count, 1))


def size_of(kernel: PrimFuncOp) -> int:
    """Return an estimate of the operations of a kernel with its unrolled loops."""
    copies: dict[Operation | None, int] = {}
    size = FUNCTION_WORK
    for op in walk(kernel):  # outer operations first
        size += (count := copies.get(op.parent_op(), 1))
        if isinstance(op, ForOp) and op.for_kind is ForKind.UNROLLED:
            count *= constant_extent(op) or 1
        if op.regions:
            copies[op] = count
    return size


@dataclass(frozen=True)
class Report:
    """The facts about the kernels of a group that their callers depend on."""

    work: Mapping[str, int]
    """The number of operations that a call of each kernel executes."""
    failing: frozenset[str]
    """The kernels that get the status of the run."""
    is_long: bool
    """Whether they may be interrupted."""
    failures: Failures


@dataclass(frozen=True)
class Compiling:
    """The compilation of the groups of a module, each in a process, and of the rest in this one."""

    threads: int
    machine: llvm.TargetMachine
    parts: int
    """The groups and the rest."""

    def run(
        self, module: ModuleOp, entry: str, groups: Sequence[Sequence[PrimFuncOp]]
    ) -> tuple[Prepared, list[bytes]]:
        total, done = sum(map(len, groups)), list[int]()
        with ExitStack() as stack:
            stack.enter_context(compiling(total, lambda: sum(done)))
            forks: list[Fork] = []
            for number, group in enumerate(groups, 1):
                forks.append(stack.enter_context(self.fork(module, group, number)))
            lowered = without_bodies(module, {kernel for group in groups for kernel in group})
            lower(lowered)
            reports = [cast("Report", fork.receive()) for fork in forks]
            elsewhere = Elsewhere(
                {name: work for report in reports for name, work in report.work.items()},
                frozenset[str]().union(*(report.failing for report in reports)),
                self.parts,
            )
            prepared = prepare_lowered(lowered, entry, self.threads, elsewhere)
            code = self.object_code(prepared.module, [prepared.entry])
            codes = [code]
            for fork, group in zip(forks, groups, strict=True):
                codes.append(cast("bytes", fork.receive()))
                done.append(len(group))
        all_failures = [prepared.failures, *(report.failures for report in reports)]
        is_long = prepared.is_long or any(report.is_long for report in reports)
        failures = Failures.of_parts(all_failures)
        return replace(prepared, failures=failures, is_long=is_long), codes

    def fork(self, module: ModuleOp, group: Sequence[PrimFuncOp], number: int) -> Fork:
        """Return a process that sends the report of a group, and then its object file."""

        def work(send: Send) -> None:
            PassContext.current().renderer = refuse
            names = [kernel.sym_name.data for kernel in group]
            lowered = only(module, group)
            lower(lowered)
            send(self.prepare_group(lowered, names, number))
            send(self.object_code(lowered, [PREFIX + name for name in names]))

        return Fork(work)

    def prepare_group(self, module: ModuleOp, names: Sequence[str], number: int) -> Report:
        """Prepare the functions of a group, as `prepare_lowered` does with those of a module."""
        widen_lanes(module)
        check_dialects(module)
        work = Work(module)
        amounts = {name: work.of_function(name) for name in names}
        is_long = insert_polls_in_long(module, work)
        assert_allocated(module)
        before = parameters(module)
        failures = report_assertions(module, number, self.parts)
        after = parameters(module)
        prepare_operations(module, self.threads)
        without_values(module)
        failing = frozenset(name for name in names if before[name] != after[name])
        return Report(amounts, failing, is_long, failures)

    def object_code(self, module: ModuleOp, exported: Sequence[str]) -> bytes:
        """Compile a prepared part, whose functions `exported` others call."""
        ir = llvm_ir(module, exported=exported)
        return self.machine.emit_object(codegen.optimized(ir, exported, CONVERSION, self.machine))


def lower(module: ModuleOp) -> None:
    """Lower functions on buffers. Only the result is verified, not the module after each pass: if
    it is invalid, the module is compiled as a whole, and that verification names the pass."""
    ctx = PassContext.current()
    with ctx.at_level(ctx.opt_level) as inner:
        inner.verify_each = False
        kernel_lowering().apply(make_ir_context(), module)
    if ctx.verify_each:
        verify(module)


def only(module: ModuleOp, group: Sequence[PrimFuncOp]) -> ModuleOp:
    """Move the functions `group` and the constants that they read to a new module."""
    graph = CallGraph(module)
    ops = dict.fromkeys([constant for op in group for constant in graph.callees(op)])
    for op in (*ops, *group):
        op.detach()
    return ModuleOp([*ops, *group], module.attributes.copy())


def without_bodies(module: ModuleOp, kernels: Collection[PrimFuncOp]) -> ModuleOp:
    """Return a copy of `module` that only declares `kernels`."""
    ops = [
        PrimFuncOp(op.sym_name.data, [*op.function_type.inputs], Region(), visibility="private")
        if isinstance(op, PrimFuncOp) and op in kernels
        else clone(op)
        for op in module.ops
    ]
    return ModuleOp(ops, module.attributes.copy())


def parameters(module: ModuleOp) -> dict[str, int]:
    """Return the number of parameters of each function."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    return {op.sym_name.data: len(op.function_type.inputs) for op in functions}


def refuse(_: object) -> NoReturn:
    """Raise Lost at a diagnostic: the compilation of the whole module reports it."""
    raise Lost
