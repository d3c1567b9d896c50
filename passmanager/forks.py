"""Copies of this process that compute something at the same time.

A forked process has all that this one has made, at no cost, where one that starts anew would read
modules and import packages first. Its memory is its own, so that it may change what it likes.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import IO, Self, TypeAlias, TypeVar, cast

from .errors import ConfigError
from .output.status import PASSIVE_THREADS
from .registry import whole

T = TypeVar("T")
Send: TypeAlias = Callable[[object], None]
"""Sends a value to the process that has forked this one."""


def can_fork() -> bool:
    """Return whether a copy of this process can go on: another thread may hold a lock, which nobody
    would release in the copy. On macOS, libraries of the system do not survive a fork."""
    threads = [each for each in threading.enumerate() if each.name not in PASSIVE_THREADS]
    return sys.platform == "linux" and threads == [threading.current_thread()]


THREADS = "PASSLINE_THREADS"
"""The environment variable with the default of `PassContext.workers`."""


def worker_count(workers: int | None) -> int:
    """Return a number of workers, by default that in the environment, or 1.

    Errors: TypeError if it is not an int, ConfigError if it is less than 1.
    """
    setting = "workers"
    if workers is None:
        if not (text := os.environ.get(THREADS, "")):
            return 1
        setting, workers = THREADS, int(text) if text.isascii() and text.isdigit() else 0
        if workers < 1:
            raise ConfigError(f"{THREADS} is a whole number of 1 or more, not '{text}'")
    if (number := whole(workers, setting)) < 1:
        raise ConfigError(f"{setting} is 1 or more, not {number}")
    return number


_limit: ContextVar[int | None] = ContextVar("passline_cores", default=None)


@contextmanager
def at_most_cores(number: int | None) -> Generator[None]:
    """Let `available_cores` return at most `number` in the body of the `with` statement; None sets
    no limit."""
    before = _limit.set(number)
    try:
        yield
    finally:
        _limit.reset(before)


def available_cores() -> int:
    """Return the number of cores on which this process may run, within `at_most_cores`."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(cores, _limit.get() or cores)


@contextmanager
def uninterrupted() -> Generator[None]:
    """Let a Ctrl-C that comes in the body of the `with` statement take effect at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Lost(Exception):
    """A forked process that has ended before it has sent all that was expected."""


class Fork:
    """A copy of this process that runs `work`, and ends. It ends, together with the tools that it
    runs, when the block of this object is left.

    Whatever goes wrong there, it sends nothing more: it prints no error.
    """

    def __init__(self, work: Callable[[Send], None]) -> None:
        reader, writer = os.pipe()
        parent, status = os.getpid(), 1
        try:
            with warnings.catch_warnings():
                # Python warns where libraries have threads; these hold no lock of Python.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process = os.fork()
            if self.process == 0:
                _limit.set(1)
                gc.freeze()  # what it has from its parent is no garbage
                os.setpgid(0, 0)  # so that its tools end with it
                os.close(reader)
                with open(writer, "wb") as stream:
                    work(lambda value: _send(value, stream))
                status = 0
        finally:
            if os.getpid() != parent:
                os._exit(status)  # nothing that encloses this frame may run twice
        os.close(writer)
        with suppress(OSError):  # whichever of the two processes comes first
            os.setpgid(self.process, self.process)
        self._stream = os.fdopen(reader, "rb")

    def receive(self) -> object:
        """Return the next value that the process sends; `Lost` if it has ended."""
        try:
            return pickle.load(self._stream)
        except (EOFError, pickle.UnpicklingError, OSError):
            raise Lost from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stream.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        with suppress(ChildProcessError):  # the program ignores SIGCHLD
            os.waitpid(self.process, 0)


def _send(value: object, stream: IO[bytes]) -> None:
    stream.write(pickle.dumps(value))  # all of it, or an exception before anything is written
    stream.flush()


def in_forks(number: int, work: Callable[[int], T]) -> list[T] | None:
    """Return the results of `work` for 0 to `number` - 1, each computed in a fork of this process
    at the same time; None if one of them raises, or ends in another way. The results are
    pickled."""

    def task(part: int) -> Callable[[Send], None]:
        return lambda send: send(work(part))

    with ExitStack() as stack:
        with uninterrupted():  # each of them is on the stack then
            forks = [stack.enter_context(Fork(task(part))) for part in range(number)]
        try:
            return [cast(T, fork.receive()) for fork in forks]
        except Lost:
            return None
