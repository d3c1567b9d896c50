"""RemoveUnusedFunctions: remove all functions that the entry functions do not reach."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .analysis.call_graph import CallGraph
from .dead_code.symbols import remove_unreachable_symbols

__all__ = ["RemoveUnusedFunctions"]


@dataclass(frozen=True)
class RemoveUnusedFunctions(ModulePass):
    """Remove the functions, public ones too, that the entry functions do not reach.

    If a function that stays refers to a symbol that the module does not define, nothing is
    removed. Errors: PassFailedException for an entry that is not in the module.
    Source: `relay.RemoveUnusedFunctions`.

    Before:

        func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "remove-unused-functions"
    changes_interface = True
    opt_level = 1
    preserves = ("infer-type",)

    entry_functions: tuple[str, ...] = ("main",)
    """Functions to keep, with all functions that they reach."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        remove_unreachable_symbols(
            module, self.entry_functions, graph, functions=True, actions=ctx.actions
        )
