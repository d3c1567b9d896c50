"""RemoveUnusedFunctions, RemoveUnusedParameters: what no caller needs is removed."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .call_graph import CallGraph
from .dead_code_elimination import remove_unreachable_symbols
from .remove_dead_values import remove_dead_values

# RemoveUnusedFunctions: remove all functions that the entry functions do not reach.


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
    stage = "cleanup"
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


# RemoveUnusedParameters: remove the parameters and results of private functions that nothing
# needs.


@dataclass(frozen=True)
class RemoveUnusedParameters(ModulePass):
    """Remove the parameters and results of private functions that nothing needs.

    All references of the function must be calls. A parameter that is only passed on to an unneeded
    one, as in a recursion, goes, too. The calls stay: they may have effects. Source:
    `relax.RemoveUnusedParameters` and `relax.RemoveUnusedOutputs`.

    Before:

        func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>)
            -> (tensor<4xf32>, tensor<4xf32>) {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.exp %y : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0, %1 = func.call @g(%x, %x)
            : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "remove-unused-parameters"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        remove_dead_values(module, actions=ctx.actions, signatures=True)
