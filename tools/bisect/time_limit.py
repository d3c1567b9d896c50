"""A limit on the time of a call, so that a pass that does not end is a failure like another."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["TimeLimitError", "time_limit"]


class TimeLimitError(BaseException):
    """The error for a call that takes too long. No Exception, as code may expect those."""


@contextmanager
def time_limit(seconds: float | None) -> Generator[None]:
    """Raise TimeLimitError in the body if it takes longer.

    Nothing is limited without `seconds`, in other threads than the first, and on systems without
    SIGALRM; one long call of C code is not interrupted.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
