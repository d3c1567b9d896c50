"""A call when a signal is about to end the process, as after `abort()` in compiled code."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

TIME_LIMIT = 60
"""The seconds that the call may take: memory may be damaged, and locks held."""


class CrashSignals:
    """A watch for the signals by which compiled code ends the process, but for an overflow of the
    stack.

    `report` is called with the name of the signal; then the process ends by it all the same.
    Python's own handlers would not do: they run only when compiled code returns. Source: LLVM's
    CrashRecoveryContext.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._before: dict[int, int | None] = {}
        if os.name == "posix":
            self._library = ctypes.CDLL(None)
            self._library.signal.restype = ctypes.c_void_p
            self._library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_int)(self._end)

    def start(self) -> None:
        """Watch for the signals."""
        if os.name == "posix":
            address = ctypes.cast(self._callback, ctypes.c_void_p)
            names = ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")
            numbers: list[int] = [getattr(signal, name) for name in names]
            self._before = {n: self._library.signal(n, address) for n in numbers}

    def stop(self) -> None:
        """Put the handlers back that were there before."""
        for number, handler in self._before.items():
            self._library.signal(number, handler)
        self._before = {}

    def _end(self, number: int) -> None:
        self._library.alarm(TIME_LIMIT)
        for each in self._before:
            self._library.signal(each, None)  # the default, which ends the process
        try:
            self._report(signal.Signals(number).name)
        finally:
            os.kill(os.getpid(), number)
