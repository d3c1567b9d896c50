"""RemoveUnusedFunctions, RemoveUnusedParameters: what no caller needs is removed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from .call_graph import CallGraph
from .dead_code_elimination import remove_unreachable_symbols, without, without_results
from .liveness import SignatureLiveness, direct_calls

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


def remove_unused_parameters(
    module: ModuleOp, graph: CallGraph | None = None, actions: Actions = SILENT
) -> None:
    """Remove the parameters and results of the private functions of `module` that nothing needs,
    with the operations that compute with them.

    A parameter that is only passed on to an unneeded one, as in a recursion, is not needed, and a
    result likewise. Operations whose results are unused afterwards stay, as calls do.
    """
    calls = direct_calls(module, graph)
    asked: set[FuncOp] = set()
    # A function that may not change keeps its parameters, and the arguments that others pass to it:
    # the liveness of the rest is computed again without it.
    while True:
        liveness = SignatureLiveness(module, calls)
        dead = {
            func: (liveness.dead_parameters(func), liveness.dead_results(func)) for func in calls
        }
        changed = [func for func, unneeded in dead.items() if any(unneeded)]
        refused = [func for func in changed if func not in asked and not actions.allowed(func)]
        if not refused:
            break
        asked.update(changed)
        for func in refused:
            del calls[func]
    values: list[SSAValue] = []
    for func in changed:
        parameters, results = dead[func]
        values += [func.args[i] for i in parameters]
        values += [call.results[i] for call in calls[func] for i in results]
    for op in liveness.users(values):
        erase(op)
    for func in changed:
        parameters, results = dead[func]
        # Operands before signatures: a call passes a dead parameter on to another dead one, so no
        # use is left when the argument goes.
        for end in liveness.returns[func]:
            end.operands = without(end.operands, results)
        for call in calls[func]:
            call.operands = without(call.operands, parameters)
    for func in changed:
        parameters, results = dead[func]
        if results:
            for call in calls[func]:
                without_results(call, results, call.operands)
        change_signature(func, parameters, results)
        actions.passed(
            func,
            "RemovedUnused",
            "parameters or results that nothing needs",
            Parameters=len(parameters),
            Results=len(results),
        )
        actions.count("removed-parameters", len(parameters))
        actions.count("removed-results", len(results))


def change_signature(func: FuncOp, parameters: Collection[int], results: Collection[int]) -> None:
    """Remove parameters without uses, and the types of results, by their indices."""
    types = func.function_type
    for index in sorted(parameters, reverse=True):
        (argument := func.args[index]).block.erase_arg(argument)
    func.function_type = type(types).from_lists(
        without(types.inputs.data, parameters), without(types.outputs.data, results)
    )
    func.arg_attrs = _attributes(func.arg_attrs, parameters)
    func.res_attrs = _attributes(func.res_attrs, results)


def _attributes(
    attributes: ArrayAttr[DictionaryAttr] | None, indices: Collection[int]
) -> ArrayAttr[DictionaryAttr] | None:
    return attributes and ArrayAttr(without(attributes.data, indices))


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
        remove_unused_parameters(module, ctx.analyses.get(CallGraph, module), ctx.actions)
