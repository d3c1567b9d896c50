"""Passes on the IR of any dialect: their tables; the module of a pass is imported on first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...passmanager.names import factory_of, lazy_names, typed_places

if TYPE_CHECKING:
    from .canonicalize.canonicalize import Canonicalize as Canonicalize
    from .check_conditions import CheckConditions as CheckConditions
    from .composite_fixed_point_pass import CompositeFixedPointPass as CompositeFixedPointPass
    from .control_flow_sink import ControlFlowSink as ControlFlowSink
    from .cse import CommonSubexpressionElimination as CommonSubexpressionElimination
    from .dead_code_elimination import DeadCodeElimination as DeadCodeElimination
    from .eliminate_common_subexpr import EliminateCommonSubexpr as EliminateCommonSubexpr
    from .generate_runtime_verification import (
        GenerateRuntimeVerification as GenerateRuntimeVerification,
    )
    from .inline import Inline as Inline
    from .int_range_optimizations import IntRangeOptimizations as IntRangeOptimizations
    from .location_snapshot import SnapshotOpLocations as SnapshotOpLocations
    from .loop_invariant_code_motion import LoopInvariantCodeMotion as LoopInvariantCodeMotion
    from .mem2reg import Mem2Reg as Mem2Reg
    from .mlir_opt import MLIROpt as MLIROpt
    from .print_ir import PrintIR as PrintIR
    from .print_ir import PrintOpStats as PrintOpStats
    from .remove_dead_values import RemoveDeadValues as RemoveDeadValues
    from .remove_unused import RemoveUnusedFunctions as RemoveUnusedFunctions
    from .remove_unused import RemoveUnusedParameters as RemoveUnusedParameters
    from .sccp import SCCP as SCCP
    from .sroa import SROA as SROA
    from .strip_debuginfo import StripDebuginfo as StripDebuginfo
    from .symbol_dce import SymbolDCE as SymbolDCE
    from .symbol_privatize import SymbolPrivatize as SymbolPrivatize
    from .topological_sort import TopologicalSort as TopologicalSort
    from .view_op_graph import PrintOpGraph as PrintOpGraph
    from .view_op_graph import ViewOpGraph as ViewOpGraph

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)


def passes_of(package: str) -> dict[str, str]:
    """Return the passes of a package, whose names are those of their classes, with their places."""
    return {_pass_name(name): place for name, place in typed_places(package).items()}


def _pass_name(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
    return "cse" if words == "common-subexpression-elimination" else words  # MLIR's name


_PLACES = passes_of(__name__)
REPLACEMENTS = {
    name: factory_of(_PLACES[name], __name__) for name in ("canonicalize", "cse", "mlir-opt")
}
"""Passes that passline-opt runs instead of xDSL's passes of the same names."""
