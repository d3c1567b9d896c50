"""Scopes: the values that `with` statements enter, in each thread and task for itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Entered(NamedTuple, Generic[T]):
    """An entered value. It is immutable, so that one value can be entered in two threads at
    once.
    """

    value: T
    outer: Entered[T] | None
    thread: int
    is_left: bool = False
    """Whether the value was left before one that was entered after it."""


class Scope(Generic[T]):
    """The entered values of one kind, as all `PassContext`s, innermost last.

    A thread begins with none, an asyncio task with those of the task that created it.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entered = ContextVar[Entered[T] | None](f"passline {kind}", default=None)

    def current(self) -> T | None:
        """Return the innermost value that was entered in this thread or task."""
        link = self._entered.get()
        while link is not None and link.is_left:
            link = link.outer
        # A copied `contextvars.Context`, as of `asyncio.to_thread`, has the link of another thread.
        if link is None or link.thread != threading.get_ident():
            return None
        return link.value

    def enter(self, value: T) -> None:
        """Make `value` the current one."""
        self._entered.set(Entered(value, self._entered.get(), threading.get_ident()))

    def leave(self, value: T, after: Callable[[], None] = lambda: None) -> None:
        """Leave the innermost link of `value`, then call `after`; RuntimeError, after that, if
        others were entered after it. To leave it once more changes nothing."""
        inner: list[Entered[T]] = []
        link = self._entered.get()
        while link is not None and link.value is not value:
            if not link.is_left:
                inner.append(link)
            link = link.outer
        message = f"a {self._kind} was left that is not the one entered last"
        if link is None:
            raise RuntimeError(message)
        left = link._replace(is_left=True) if inner and not link.is_left else link.outer
        for other in reversed(inner):
            left = other._replace(outer=left)
        self._entered.set(left)  # first: if `after` raises, the value does not stay entered
        if not link.is_left:
            after()
            if inner:
                raise RuntimeError(message)
