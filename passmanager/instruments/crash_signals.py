"""A call when a signal is about to end the process, as after `abort()` in compiled code."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from functools import cache
from typing import ClassVar

TIME_LIMIT = 60
"""The seconds that the call may take: memory may be damaged, and locks held."""


class CrashSignals:
    """A watch for the signals by which compiled code ends the process, but for an overflow of the
    stack.

    `report` of each watch that was started is called with the name of the signal; then the process
    ends by it all the same. Python's own handlers would not do: they run only when compiled code
    returns. Source: LLVM's CrashRecoveryContext.
    """

    _started: ClassVar[list[CrashSignals]] = []
    _before: ClassVar[dict[int, int | None]] = {}
    """The handlers that were there before the first watch was started."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def start(self) -> None:
        """Watch for the signals."""
        if not self._started and os.name == "posix":
            numbers: list[int] = [getattr(signal, name) for name in _SIGNALS]
            address = ctypes.cast(_callback, ctypes.c_void_p)
            self._before.update({n: _library().signal(n, address) for n in numbers})
        self._started.append(self)

    def stop(self) -> None:
        """End the watch; the last one puts the handlers back that were there before."""
        self._started.remove(self)
        if not self._started:
            for number, handler in self._before.items():
                _library().signal(number, handler)
            self._before.clear()

    @staticmethod
    def end(number: int) -> None:
        """Report a signal, by which the process then ends: the handler."""
        _library().alarm(TIME_LIMIT)
        for each in CrashSignals._before:
            _library().signal(each, None)  # the default, which ends the process
        try:
            for watch in reversed(CrashSignals._started):
                watch._report(signal.Signals(number).name)
        finally:
            os.kill(os.getpid(), number)


_SIGNALS = ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")
_callback = ctypes.CFUNCTYPE(None, ctypes.c_int)(CrashSignals.end)


@cache
def _library() -> ctypes.CDLL:
    """Return the C library of this process."""
    library = ctypes.CDLL(None)
    library.signal.restype = ctypes.c_void_p
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    return library
