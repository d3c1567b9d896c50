"""The dialect whose operations need no prefix in the regions of an operation.

Parsers find names without a dialect in those of the operations around them. Source:
`OpAsmOpInterface::getDefaultDialect` of MLIR.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.traits import OpTrait

from ..per_class import PerClass

__all__ = ["DefaultDialect", "has_short_names", "short_name"]


@dataclass(frozen=True)
class DefaultDialect(OpTrait):
    """Operations in the regions are printed without the name of the dialect of this operation, if
    they are of this dialect, and not in generic form."""


def has_short_names(op: Operation | None) -> bool:
    """Return whether some operations in the regions of an op are printed without a dialect."""
    return op is not None and bool(_prefix[type(op)])


def short_name(op: Operation) -> str | None:
    """Return the name of an op without its dialect if it is printed so where it stands, or None."""
    parent = op.parent_op()
    if parent is None or not (prefix := _prefix[type(parent)]) or not op.name.startswith(prefix):
        return None
    return None if type(op).print is Operation.print else op.name.removeprefix(prefix)


def _prefix_of(op: type[Operation]) -> str:
    is_default = op.has_trait(DefaultDialect, value_if_unregistered=False)
    return f"{op.dialect_name()}." if is_default else ""


_prefix = PerClass[Operation, str](_prefix_of)
