"""Removal of functions and other symbols that nothing reaches (MLIR: `symbol-dce`)."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.fast.edit import erase
from ....passmanager.ir.symbols import PRIVATE
from ....passmanager.registration.names import did_you_mean
from ..analysis.call_graph import CallGraph, symbols_of

__all__ = ["remove_unreachable_symbols"]


def remove_unreachable_symbols(
    module: ModuleOp,
    entries: Iterable[str] = (),
    graph: CallGraph | None = None,
    *,
    functions: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Erase the private functions and other private symbols of `module` that nothing reaches.

    The roots are the symbols named in `entries`, the public symbols, and the operations that are
    not symbols. With `functions`, only functions are erased, public ones too. If a reachable
    operation refers to a symbol that `module` does not define, nothing is erased. A symbol that
    `actions` does not allow to be erased stays, with all that it reaches.
    Errors: PassFailedException for an entry that is not in the module.
    """
    symbols = symbols_of(module) if graph is None else graph.symbols
    entries = set(entries)
    for name in sorted(entries - symbols.keys()):
        raise PassFailedException(
            f"entry function @{name} is not in the module{did_you_mean(name, symbols)}"
        )
    removable = {  # in the order of the module
        op: None
        for name, op in symbols.items()
        if name not in entries and (_is_function(op) if functions else _is_private(op))
    }
    if not removable:
        return
    graph = CallGraph(module) if graph is None else graph
    reached = graph.reachable(op for op in module.ops if op not in removable)
    # The definition of an unresolved name may refer back to a symbol here that seems unreachable.
    if any(graph.unresolved(op) for op in reached):
        return
    unreached = [op for op in removable if op not in reached]
    # Erasing what such a symbol refers to would leave it with a dangling reference.
    kept = graph.reachable([op for op in unreached if not actions.allowed(op)])
    reason = "nothing reaches it" if functions else "private, and nothing reaches it"
    for op in unreached:
        if op not in kept:
            actions.passed(op, "RemovedSymbol", reason)
            actions.count("removed-symbols")
            erase(op)


def _is_private(op: Operation) -> bool:
    return op.get_attr_or_prop("sym_visibility") == PRIVATE


def _is_function(op: Operation) -> bool:
    return op.get_attr_or_prop("function_type") is not None
