"""The kinds of things that can be removed from a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from .control_flow_reductions import branches, successors
from .edit import Edit
from .operation_reductions import attributes, constants, operations, regions
from .symbol_reductions import arguments, bodies, results, symbols

__all__ = ["REDUCTIONS", "Reduction"]

Reduction: TypeAlias = Callable[[ModuleOp], list[Edit]]
"""Returns the edits of one kind that a module allows."""

REDUCTIONS: dict[str, Reduction] = {
    "symbols": symbols,
    "bodies": bodies,
    "operations": operations,
    "regions": regions,
    "successors": successors,
    "branches": branches,
    "results": results,
    "arguments": arguments,
    "attributes": attributes,
    "constants": constants,
}
"""The reductions in the order in which they are tried: those that remove most come first."""
