"""The classes of the ops in a module, which tell what a pass may have to do there."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from xdsl.ir import Operation

__all__ = ["OpClasses", "has_any"]

OpClasses: TypeAlias = frozenset[type[Operation]]
"""The classes of the ops in a module."""


@lru_cache(maxsize=256)
def has_any(ops: OpClasses, *classes: type) -> bool:
    """Return whether one of `ops` derives from one of `classes`."""
    wanted = frozenset(classes)
    # Not `issubclass`, which takes milliseconds for the first questions about abstract classes.
    return any(not wanted.isdisjoint(op.__mro__) for op in ops)
