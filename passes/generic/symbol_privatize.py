"""SymbolPrivatize: make the symbols of a module private."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import PRIVATE, symbol_of
from ...passmanager.names import did_you_mean
from .symbol_dce import is_symbol


def privatize_symbols(
    table: Operation, exclude: Collection[str] = (), actions: Actions = SILENT
) -> None:
    """Make the symbols directly in `table` private, but for those named in `exclude`."""
    for region in table.regions:
        for block in region.blocks:
            for op in block.ops:
                if not is_symbol(op) or symbol_of(op) in exclude:
                    continue
                if op.get_attr_or_prop("sym_visibility") != PRIVATE and actions.allowed(op):
                    _holder(op)["sym_visibility"] = PRIVATE
                    actions.passed(op, "Privatized", "made private")
                    actions.count("privatized")


def _holder(op: Operation) -> dict[str, Attribute]:
    """Return where `op` keeps its visibility: xDSL's modules have no property for it."""
    if isinstance(op, IRDLOperation):
        defined = op.get_irdl_definition().properties
        return op.properties if "sym_visibility" in defined else op.attributes
    return op.attributes


@dataclass(frozen=True)
class SymbolPrivatize(ModulePass):
    """Make the symbols of a module private, so that what nothing reaches can be removed.

    Source: MLIR's pass of this name.

    Before:

        func.func @helper() {
          func.return
        }

    After:

        func.func private @helper() {
          func.return
        }
    """

    name = "symbol-privatize"
    changes_interface = True

    exclude: tuple[str, ...] = ()
    """The names of symbols to leave as they are."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        known = {symbol_of(op) for op in module.body.block.ops}
        for name in self.exclude:
            if name not in known:
                hint = did_you_mean(name, known)
                ctx.diagnostics.warning(module, f"exclude: no symbol @{name} in the module{hint}")
        privatize_symbols(module, self.exclude, ctx.actions)
