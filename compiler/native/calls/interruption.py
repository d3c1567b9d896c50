"""Ctrl-C during machine code: a thread that waits for the signal stops the run.

Python handles signals between its own instructions, so not while machine code runs. The operating
system tells of a signal at once, though, through the wake-up file of the module `signal`.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

__all__ = ["THREAD", "interruptible"]

THREAD = "passline-interruption"
"""The name of the thread that waits for signals."""


class interruptible:
    """Call `stop` from another thread if the user interrupts this block; `KeyboardInterrupt` is
    then raised when the block ends.

    This holds in the main thread, which alone gets signals, unless the program handles SIGINT by
    itself. The block takes two microseconds longer.
    """

    __slots__ = ("_stop", "_watcher")

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._watcher: Watcher | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._watcher = watcher(os.getpid())
            self._watcher.watch(self._stop)

    def __exit__(self, *_: object) -> None:
        if self._watcher is not None:
            self._watcher.end()


@cache
def watcher(process: int) -> Watcher:
    """Return the watcher of a process: a forked one has none of the threads of its parent."""
    return Watcher()


class Watcher:
    """A thread that waits for signals."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._previous = -1
        """The wake-up file of the program, which gets the signals, too."""
        self._lock = threading.Lock()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        threading.Thread(target=self._watch, name=THREAD, daemon=True).start()

    def watch(self, stop: Callable[[], None]) -> None:
        """Call `stop` at a SIGINT from now on."""
        self._previous = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._stop = stop

    def end(self) -> None:
        """Leave signals to the program again."""
        signal.set_wakeup_fd(self._previous)
        with self._lock:
            self._stop = None

    def _watch(self) -> None:
        while numbers := self._reader.recv(64):
            # False if the program has a handler of its own.
            is_raised = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            with self._lock:
                if self._stop is not None and signal.SIGINT in numbers and is_raised:
                    self._stop()
            if self._previous >= 0:
                with suppress(OSError):
                    os.write(self._previous, numbers)
