"""Copies of this process that compute something at the same time.

A forked process has all that this one has made, at no cost, where one that starts anew would read
modules and import packages first. Its memory is its own, so that it may change what it likes.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Self, TypeAlias

from ...passmanager.output.status import THREAD as STATUS
from .calls.interruption import THREAD

__all__ = ["Fork", "Lost", "Send", "can_fork"]

Send: TypeAlias = Callable[[object], None]
"""Sends a value to the process that has forked this one."""


def can_fork() -> bool:
    """Return whether a copy of this process can go on: another thread may hold a lock, which nobody
    would release in the copy. On macOS, libraries of the system do not survive a fork."""
    threads = [each for each in threading.enumerate() if each.name not in (THREAD, STATUS)]
    return sys.platform == "linux" and threads == [threading.current_thread()]


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
                self._process = os.fork()
            if self._process == 0:
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
            os.setpgid(self._process, self._process)
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
            os.killpg(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):  # the program ignores SIGCHLD
            os.waitpid(self._process, 0)


def _send(value: object, stream: IO[bytes]) -> None:
    pickle.dump(value, stream)
    stream.flush()
