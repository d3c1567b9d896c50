"""DeadCodeElimination: remove unused operations and unreachable private symbols."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .analysis.purity import Purity
from .dead_code.dead_code import remove_dead_code
from .dead_code.symbols import remove_unreachable_symbols

__all__ = ["DeadCodeElimination"]


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Remove unused operations and unreachable private symbols, such as functions.

    An unused call is removed if its callee has no effects (`Purity`). Unused results of `scf.if`
    and unused loop-carried values of `scf.for` and `scf.while` are removed, too. Source:
    `relax.DeadCodeElimination`.

    Before:

        func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "dead-code-elimination"
    opt_level = 1
    preserves = ("infer-type",)

    entry_functions: tuple[str, ...] = ()
    """Private functions to keep, with all functions that they reach."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        remove_unreachable_symbols(module, self.entry_functions, actions=ctx.actions)
        if remove_dead_code(module, ctx.analyses.get(Purity, module), ctx.actions):
            # Once more: the erased operations may have held the last reference to a function.
            remove_unreachable_symbols(module, self.entry_functions, actions=ctx.actions)
