"""The dialects of Passline: a table from name to factory, which imports the dialect when called."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect

__all__ = ["DIALECTS", "EXTENSIONS"]


def _relax() -> Dialect:
    from .relax import Relax

    return Relax


def _tir() -> Dialect:
    from .tir import Tir

    return Tir


def _llvm(dialect: Dialect) -> Dialect:
    from .llvm_extension import extend

    return extend(dialect)


DIALECTS: dict[str, Callable[[], Dialect]] = {"relax": _relax, "tir": _tir}

EXTENSIONS: dict[str, Callable[[Dialect], Dialect]] = {"llvm": _llvm}
"""Additions to dialects of xDSL, by the names of these."""
