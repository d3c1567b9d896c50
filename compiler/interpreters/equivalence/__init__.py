"""The check that a transformation does not change what the functions of a module compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import Equivalence, find_difference
    from .difference import Difference, NotCheckedError, SemanticsError
    from .instrument import SemanticsInstrument

__all__ = [
    "Difference",
    "Equivalence",
    "NotCheckedError",
    "SemanticsError",
    "SemanticsInstrument",
    "find_difference",
]

_MODULES = {
    "Difference": "difference",
    "Equivalence": "check",
    "NotCheckedError": "difference",
    "SemanticsError": "difference",
    "SemanticsInstrument": "instrument",
    "find_difference": "check",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
