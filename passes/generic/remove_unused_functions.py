"""RemoveUnusedFunctions: only what entry functions reach is kept."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...analysis.call_graph import CallGraph
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .dead_code_elimination import remove_unreachable_symbols

__all__ = ["RemoveUnusedFunctions"]


@dataclass(frozen=True)
class RemoveUnusedFunctions(ModulePass):
    """Remove the functions that the entries do not reach, public ones too; source:
    `relay.RemoveUnusedFunctions`.

    If what stays refers to a symbol that is not in the module, nothing is removed.
    Errors: PassFailedException for an entry that is not in the module.
    """

    name = "remove-unused-functions"
    opt_level = 1
    preserves = ("infer-type",)

    entry_functions: tuple[str, ...] = ("main",)
    """Functions to keep, with all that they call."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        removed = remove_unreachable_symbols(
            module,
            self.entry_functions,
            ctx.analyses.get(CallGraph, module),
            gate=ctx.gate(self.name),
            remarks=ctx.remarks,
            functions=True,
        )
        ctx.count("removed-symbols", removed)
