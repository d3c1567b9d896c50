"""Passes on the IR of any dialect: their tables; the module of a pass is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...passmanager.registration.places import factory_of, lazy_names, typed_places

if TYPE_CHECKING:
    from .canonicalize.canonicalize import Canonicalize as Canonicalize
    from .cse import CommonSubexpressionElimination as CommonSubexpressionElimination
    from .dead_code_elimination import DeadCodeElimination as DeadCodeElimination
    from .eliminate_common_subexpr import EliminateCommonSubexpr as EliminateCommonSubexpr
    from .mlir_opt import MLIROpt as MLIROpt
    from .print_ir import PrintIR as PrintIR
    from .print_op_stats import PrintOpStats as PrintOpStats
    from .remove_unused_functions import RemoveUnusedFunctions as RemoveUnusedFunctions
    from .remove_unused_parameters import RemoveUnusedParameters as RemoveUnusedParameters

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)


def passes_of(package: str) -> dict[str, str]:
    """Return the passes of a package, whose names are those of their files, with their places."""
    files = {place.partition(":")[0]: place for place in typed_places(package).values()}
    return {file.rpartition(".")[2].replace("_", "-"): place for file, place in files.items()}


_PLACES = passes_of(__name__)
REPLACEMENTS = {
    name: factory_of(_PLACES[name], __name__) for name in ("canonicalize", "cse", "mlir-opt")
}
"""Passes that passline-opt runs instead of xDSL's passes of the same names."""
