"""Differences between releases of xDSL in the values of its interpreter functions, and in the
operations that its dialects have."""

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
    """Return a number as xDSL's interpreter functions take it: since xDSL 0.75 an attribute of
    `type`, before that the number itself."""
    if not _SCALARS_ARE_ATTRIBUTES:
        return value
    return builtin.scalar_attr(value, type, Interpreter.DEFAULT_BITWIDTH)


def by_name(dialect: Dialect, table: Mapping[str, T]) -> dict[type[Operation], T]:
    """Return a table of operation classes instead of names, without operations that this xDSL does
    not have."""
    return {op: table[op.name] for op in dialect.operations if op.name in table}
