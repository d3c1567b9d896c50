"""Passes on the IR of any dialect: their tables; the module of a pass is imported on first use."""

from __future__ import annotations

from ...passmanager.registration.places import factory_of

__all__ = ["PASSES", "REPLACEMENTS", "REPLACING"]

PASSES = {
    "dead-code-elimination": "dead_code_elimination:DeadCodeElimination",
    "eliminate-common-subexpr": "eliminate_common_subexpr:EliminateCommonSubexpr",
    "print-ir": "print_ir:PrintIR",
    "print-op-stats": "print_op_stats:PrintOpStats",
    "remove-unused-functions": "remove_unused_functions:RemoveUnusedFunctions",
    "remove-unused-parameters": "remove_unused_parameters:RemoveUnusedParameters",
}
"""Pass name -> `module:Class`, the module relative to this package."""

REPLACING = {
    "canonicalize": "canonicalize.canonicalize:Canonicalize",
    "cse": "cse:CommonSubexpressionElimination",
    "mlir-opt": "mlir_opt:MLIROpt",
}
"""The passes that have the names of xDSL's, like `PASSES`."""

REPLACEMENTS = {name: factory_of(place, __name__) for name, place in REPLACING.items()}
"""Passes that passline-opt runs instead of xDSL's passes of the same names."""
