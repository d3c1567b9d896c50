"""Answers that depend on the class of an object alone, computed once for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerClass"]

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
