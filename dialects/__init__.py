"""The dialects of Passline: a table from name to factory, which imports the dialect when called."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect

__all__ = ["DIALECTS"]


def _relax() -> Dialect:
    from .relax import Relax

    return Relax


def _tir() -> Dialect:
    from .tir import Tir

    return Tir


DIALECTS: dict[str, Callable[[], Dialect]] = {"relax": _relax, "tir": _tir}
