"""The names by which ops are referred to."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

__all__ = ["PRIVATE", "symbol_of"]

PRIVATE = StringAttr("private")
"""The visibility of a symbol that only its own module refers to."""


def symbol_of(op: Operation) -> str:
    """The symbol name of `op`, empty if it has none."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""
