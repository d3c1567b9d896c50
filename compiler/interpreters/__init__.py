"""The semantics of operations: for each dialect, a class of xDSL's `InterpreterFunctions`.

Another project registers its class under the name of its dialect with an entry point of the group
`passline.interpreters`, or with `register_semantics`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ...passmanager.registry import DialectTable, dialect_of

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


@cache  # the importer asks about each operation that it creates
def has_semantics(op: type[Operation]) -> bool:
    """Return whether the dialect of an operation class has semantics, without loading them."""
    return dialect_of(op) in _SEMANTICS


def semantics_of(op: type[Operation]) -> type[InterpreterFunctions] | None:
    """Return the interpreter functions for an operation class, or None.

    Those of other projects are adapted to our values, if they are on the values of xDSL's own.
    """
    functions = _SEMANTICS.get(dialect_of(op))
    if functions is None or functions.__module__.startswith(f"{__name__}."):
        return functions
    from .foreign import on_our_values

    return on_our_values(functions)


def register_semantics(dialect: str, functions: type[InterpreterFunctions]) -> None:
    """Register the interpreter functions of a dialect for this process."""
    _SEMANTICS.register(dialect, functions)
    has_semantics.cache_clear()
