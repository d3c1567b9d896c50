"""The limit of recursion: xDSL and passes visit nested regions by recursion, by some 20 calls for
each level."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

__all__ = ["deep_recursion", "recursion_limit"]

STACK = 120 << 20
"""The stack in bytes that the recursion needs at most; Linux leaves room for 128 MiB."""
STACK_PER_CALL = 400
HIGHEST_LIMIT = 200_000
_THREAD_STACK = 8 << 20 if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()) else 512 << 10
"""The stack of a thread: glibc's default, or the least of other systems."""


def recursion_limit() -> int:
    """Return the limit of recursion for which this thread has enough stack; that of the main thread
    grows."""
    is_main = threading.current_thread() is threading.main_thread()
    stack = _grown_stack() if is_main else threading.stack_size() or _THREAD_STACK
    return min(HIGHEST_LIMIT, stack // STACK_PER_CALL)


@cache
def _grown_stack() -> int:
    """Raise the limit on the stack of this process; return the new limit in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return 1 << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < STACK:
        soft = STACK if hard == unlimited else min(STACK, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    return STACK if soft == unlimited else soft


class _Raised:
    """The limit of the process, raised as long as anything needs it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = self.before = self.limit = 0

    def enter(self, limit: int) -> None:
        with self.lock:
            if not self.users:
                self.before = sys.getrecursionlimit()
            self.users += 1
            self.limit = max(limit, sys.getrecursionlimit())
            sys.setrecursionlimit(self.limit)

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            # A pass may have set a limit of its own, which stays.
            if not self.users and sys.getrecursionlimit() == self.limit:
                sys.setrecursionlimit(self.before)


_raised = _Raised()


@contextmanager
def deep_recursion() -> Generator[None]:
    """Raise Python's limit of recursion, which is that of the process, for deeply nested IR."""
    _raised.enter(recursion_limit())
    try:
        yield
    finally:
        _raised.leave()
