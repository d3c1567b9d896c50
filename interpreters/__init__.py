"""The semantics of operations: functions of xDSL's interpreter on numpy arrays, by dialect.

Other projects register theirs with an entry point of the group `passline.interpreters`: the name of
the dialect -> a class of `InterpreterFunctions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ..passmanager.extensions import DialectTable, dialect_of

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = ["has_semantics", "register_semantics", "semantics_of"]


def _relax() -> type[InterpreterFunctions]:
    from .relax import RelaxFunctions

    return RelaxFunctions


def _tir() -> type[InterpreterFunctions]:
    from .tir import TirFunctions

    return TirFunctions


_SEMANTICS: DialectTable[type[InterpreterFunctions]] = DialectTable(
    "passline.interpreters", {"relax": _relax, "tir": _tir}
)


def has_semantics(op: type[Operation]) -> bool:
    """Return whether the dialect of an operation class has semantics, without loading them."""
    return dialect_of(op) in _SEMANTICS


def semantics_of(op: type[Operation]) -> type[InterpreterFunctions] | None:
    """Return the class that computes operations of a class, or None."""
    return _SEMANTICS.get(dialect_of(op))


def register_semantics(dialect: str, functions: type[InterpreterFunctions]) -> None:
    """Set the class that computes the operations of a dialect, for this process."""
    _SEMANTICS.register(dialect, functions)
