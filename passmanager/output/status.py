"""A line on the terminal that says what a command is doing, while that takes long."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

__all__ = ["THREAD", "clear_status", "doing", "status_on_terminal"]

THREAD = "passline status"
"""The name of the thread that draws the line. It takes no lock that a forked process needs."""
_DELAY, _INTERVAL = 1.0, 0.2
_ERASE = b"\r\x1b[2K"


@dataclass(eq=False)
class _Activity:
    text: str | Callable[[], str]
    fraction: Callable[[], float] | None
    began: float = field(default_factory=monotonic)

    def line(self) -> str:
        done = "" if self.fraction is None else f" {100 * min(self.fraction(), 1):.0f} %"
        text = self.text if isinstance(self.text, str) else self.text()
        return f"{text}{done} ({monotonic() - self.began:.0f} s)"


_activities: list[_Activity] = []


@contextmanager
def doing(
    text: str | Callable[[], str], fraction: Callable[[], float] | None = None
) -> Generator[None]:
    """Say what is done in the block, and which part of it is done.

    It is shown on the terminal of a command if it takes longer than a second; functions are then
    called by another thread.
    """
    _activities.append(activity := _Activity(text, fraction))
    try:
        yield
    finally:
        _activities.remove(activity)
        clear_status()


class _Line:
    """The line on stderr, drawn by a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._is_drawn = False
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self.clear()

    def clear(self) -> None:
        with self._lock:
            if self._is_drawn:
                os.write(2, _ERASE)
            self._is_drawn = False

    def _run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            for activity in _activities[-1:]:
                if monotonic() - activity.began >= _DELAY:
                    self._draw(activity)

    def _draw(self, activity: _Activity) -> None:
        width = shutil.get_terminal_size().columns - 1
        line = activity.line()[:width].encode(errors="replace")
        with self._lock:
            if activity in _activities:
                os.write(2, _ERASE + line)
                self._is_drawn = True


_line: _Line | None = None


def _forget_line() -> None:
    global _line
    _line = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_line)


@contextmanager
def status_on_terminal() -> Generator[None]:
    """Show what `doing` says, if stderr is a terminal."""
    global _line
    if _line is not None or not _is_on_terminal():
        yield
        return
    _line = line = _Line()
    try:
        yield
    finally:
        _line = None
        line.end()


def _is_on_terminal() -> bool:
    try:
        return sys.stderr.isatty() and sys.stderr.fileno() == 2
    except (OSError, ValueError):  # stderr is closed, or not a file
        return False


def clear_status() -> None:
    """Erase the line, before something else is written to the terminal."""
    if _line is not None:
        _line.clear()
