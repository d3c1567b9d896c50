"""What differs between releases of xDSL in the values that its interpreter functions take, and in
the operations that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from xdsl.ir import Dialect, Operation

__all__ = ["by_name"]

T = TypeVar("T")


def by_name(dialect: Dialect, table: Mapping[str, T]) -> dict[type[Operation], T]:
    """Return a table of operation classes instead of names, without operations that this xDSL does
    not have."""
    return {op: table[op.name] for op in dialect.operations if op.name in table}
