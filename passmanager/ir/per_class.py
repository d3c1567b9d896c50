"""Answers that depend on the class of an object alone, computed once for each class; and the
classes of the ops in a module, which tell what a pass may have to do there."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeAlias, TypeVar

from xdsl.ir import Operation

__all__ = ["OpClasses", "PerClass", "has_any"]

C = TypeVar("C")
T = TypeVar("T")


class PerClass(dict[type[C], T], Generic[C, T]):
    """The answers of `ask` by class: `per_class[type(op)]` is one dictionary look-up once known."""

    def __init__(self, ask: Callable[[type[C]], T]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, cls: type[C]) -> T:
        self[cls] = answer = self._ask(cls)
        return answer


OpClasses: TypeAlias = frozenset[type[Operation]]
"""The classes of the ops in a module."""


@lru_cache(maxsize=256)
def has_any(ops: OpClasses, *classes: type) -> bool:
    """Return whether one of `ops` derives from one of `classes`."""
    wanted = frozenset(classes)
    # Not `issubclass`, which takes milliseconds for the first questions about abstract classes.
    return any(not wanted.isdisjoint(op.__mro__) for op in ops)
