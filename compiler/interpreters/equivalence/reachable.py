"""The top-level operations that a function refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from ....passmanager.ir.walk import walk

__all__ = ["reachable"]


def reachable(func: Operation, symbols: Mapping[str, Operation]) -> set[Operation]:
    """Return the top-level ops that `func` refers to, directly or not, and itself."""
    found, pending = {func}, [func]
    while pending:
        for op in walk(pending.pop()):
            for attribute in (*op.properties.values(), *op.attributes.values()):
                for name in _references(attribute):
                    target = symbols.get(name)
                    if target is not None and target not in found:
                        found.add(target)
                        pending.append(target)
    return found


def _references(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for part in cast("ArrayAttr[Attribute]", attribute):
            yield from _references(part)
