"""Differences between releases of xDSL in values of interpreters, and in its operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from xdsl.interpreter import Interpreter
from xdsl.interpreters import builtin
from xdsl.ir import Attribute, Dialect, Operation

__all__ = ["by_name", "xdsl_scalar"]

T = TypeVar("T")

_SCALARS_ARE_ATTRIBUTES = TYPE_CHECKING or hasattr(builtin, "scalar_attr")


def xdsl_scalar(value: float, type: Attribute) -> object:
    """Return a number as xDSL's functions take it: an attribute of `type` since xDSL 0.75."""
    if not _SCALARS_ARE_ATTRIBUTES:
        return value
    return builtin.scalar_attr(value, type, Interpreter.DEFAULT_BITWIDTH)


def by_name(dialect: Dialect, table: Mapping[str, T]) -> dict[type[Operation], T]:
    """Return a table by classes, without the operations that this xDSL does not have."""
    return {op: table[op.name] for op in dialect.operations if op.name in table}
