"""The limits on the elements of tensors, and on recursion."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from math import prod

# The limit on the number of elements of tensors whose size is a number in the input.


MAX_ELEMENTS = "passline.max_elements"
"""The option of contexts with the limit."""
DEFAULT_MAX_ELEMENTS = 1 << 28


def too_many_elements(shape: Iterable[int], limit: int) -> str | None:
    """Return why a tensor of `shape` is not made, or None if it has no more elements than `limit`.

    Whatever allocates a tensor whose size is written in the input, rather than that of data that
    the input contains, asks here first: parser, interpreters, folding, importer.
    """
    count = prod(shape)
    if count <= limit:
        return None
    return (
        f"a tensor of {count} elements exceeds the limit of {limit}; "
        f"--config {MAX_ELEMENTS}=N sets another"
    )


# The limit of recursion: xDSL and passes visit nested regions by recursion, by some 20 calls for
# each level.


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
