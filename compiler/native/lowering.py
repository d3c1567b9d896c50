"""The completion of lowering: from any stage to MLIR's dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ...dialects.target import Target
from ...dialects.tir.ops import PrimFuncOp
from ...passes import LOWER_TO_MLIR, LOWER_TO_TIR
from ...passes.generic.remove_unused import RemoveUnusedFunctions
from ...passes.relax.tensor_conditions import is_on_tensors
from ...passes.tir.bind_target import BindTarget
from ...passes.tir.lower_tir import LowerTIR
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.sequential import Sequential
from ...passmanager.stages import StagedPipeline
from ..interpreters.signature import entry_function
from .jit import load_llvm

PIPELINES = ("complete-lowering", "lower-to-tir", "lower-to-mlir")
NECESSARY = (
    *PIPELINES,
    "tir-bind-target",
    "to-a-normal-form",
    "preallocate-collections",
    "legalize-ops",
    "plan-memory",
    "lower-tir",
)
"""The passes without which there is no machine code; the others in these pipelines optimize."""


def complete_lowering(entry: str, target: Target | None = None, threads: int = 1) -> Sequential:
    """Return the pipeline that lowers the function `entry`, and those that it calls, from any stage
    down to MLIR's dialects. Stages that the module has passed are left out.

    Without `target`, kernels are made for the target of the module, or else for this machine, which
    llvmlite describes. NotInstalledError without it. Loops are made for `threads` threads,
    however many cores the target has.
    """
    first, last = lowering_to_kernels(entry, target, threads), kernel_lowering()
    stages = {"prepare": first.passes, "kernels": last.passes}
    return Stage(first.options.name, first.is_needed, stages)


def lowering_to_kernels(entry: str, target: Target | None, threads: int) -> Stage:
    """Return the part of `complete_lowering` after which all functions are on buffers."""
    return Stage(
        "complete-lowering",
        lambda module: not is_lowered(module),
        {
            "prepare": [
                KeepEntry((entry,)),
                bind_target(target, threads),
                Stage("lower-to-tir", has_tensors, LOWER_TO_TIR.passes()),
            ]
        },
    )


def kernel_lowering() -> Stage:
    """Return the rest of `complete_lowering`, whose passes look at one function at a time."""
    # LLVM has the operations on vectors that xDSL lacks.
    stages = {
        name: [
            replace(each, scalarize=False) if isinstance(each, LowerTIR) else each
            for each in passes
        ]
        for name, passes in LOWER_TO_MLIR.passes().items()
    }
    last = Stage("lower-to-mlir", has_loops, stages)
    return Stage("complete-lowering", lambda module: not is_lowered(module), {"kernels": [last]})


def lowers_function_by_function(ctx: PassContext) -> bool:
    """Return whether the passes of other projects that take part in `kernel_lowering` under `ctx`
    look at one function at a time, too."""
    (last,) = kernel_lowering().passes
    assert isinstance(last, Stage)
    written = {*map(id, last.passes)}
    added = [pass_ for pass_ in last.under(ctx).passes if id(pass_) not in written]
    return all(isinstance(pass_, FunctionPass) for pass_ in added)


def bind_target(target: Target | None, threads: int) -> BindTarget:
    """Return the pass that binds `target`, or this machine if a module carries no target, with
    `threads` cores."""
    if target is not None:
        return BindTarget(str(target), cores=threads)
    load_llvm()  # the pass would raise a ValueError without it
    return BindTarget("host", keep=True, cores=threads)


class Stage(StagedPipeline):
    """A pipeline that does nothing to a module that does not need it."""

    def __init__(
        self,
        name: str,
        is_needed: Callable[[ModuleOp], bool],
        stages: Mapping[str, Iterable[ModulePass]],
    ) -> None:
        super().__init__(stages, name=name)
        self.is_needed = is_needed

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        if self.is_needed(module):
            super().transform(module, ctx)


class KeepEntry(RemoveUnusedFunctions):
    """RemoveUnusedFunctions at every level: other functions need not have machine code.

    PasslineError if an entry does not exist or cannot be run.
    """

    opt_level = 0

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for name in self.entry_functions:
            entry_function(module, name)
        super().transform_module(module, ctx)


def is_lowered(module: ModuleOp) -> bool:
    """Return whether all functions of `module` are in MLIR's dialects."""
    return not has_tensors(module) and not has_loops(module)


def has_tensors(module: ModuleOp) -> bool:
    """Return whether a function of `module` is on tensors."""
    return any(isinstance(op, FuncOp) and is_on_tensors(op) for op in module.ops)


def has_loops(module: ModuleOp) -> bool:
    """Return whether `module` has a function on buffers with the loops of `tir`."""
    return any(isinstance(op, PrimFuncOp) for op in module.ops)
