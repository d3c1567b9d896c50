"""The standard streams of a process, a line on progress, and control characters made visible."""

from __future__ import annotations

import os
import select
import shutil
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedWriter, RawIOBase, TextIOWrapper
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = [
    "PASSIVE_THREADS",
    "THREAD",
    "CompleteFile",
    "CompleteStream",
    "clear_status",
    "complete_streams",
    "doing",
    "status_on_terminal",
]


# A line on the terminal that says what a command is doing, while that takes long.


THREAD = "passline status"
"""The name of the thread that draws the line."""
PASSIVE_THREADS = {THREAD}
"""The names of threads that hold no lock that a forked process needs."""
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


# The standard output and error streams of a process, every byte of which is written.


@contextmanager
def complete_streams() -> Generator[None]:
    """Let stdout and stderr write every byte, as UTF-8; raise OSError at the end if stdout did not.

    A stream that is closed, or is not that of the process, stays as it is. An exception from the
    body takes precedence, unless it is an exit with status 0.
    """
    stdout, stderr = sys.stdout, sys.stderr
    sys.stdout = _complete(stdout, sys.__stdout__)
    sys.stderr = _complete(stderr, sys.__stderr__)
    try:
        yield
        _finish(sys.stdout)
    except SystemExit as end:
        if not end.code:
            _finish(sys.stdout)
        raise
    finally:
        with suppress(OSError):
            _finish(sys.stdout)
        sys.stdout, sys.stderr = stdout, stderr


def _complete(stream: TextIO, standard: TextIO | None) -> TextIO:
    is_standard = stream is standard and hasattr(stream, "buffer")
    return CompleteStream(stream) if is_standard else stream


def _finish(stream: TextIO) -> None:
    if isinstance(stream, CompleteStream):
        stream.finish()


class CompleteStream(TextIOWrapper):
    """A stream to the file of another one, through a CompleteFile, and buffered like that one."""

    def __init__(self, stream: TextIO) -> None:
        stream.flush()
        self._file = file = CompleteFile(stream.fileno(), stream.name)
        is_buffered = isinstance(stream.buffer, BufferedWriter)
        super().__init__(
            BufferedWriter(file) if is_buffered else cast(BinaryIO, file),
            encoding="utf-8",
            errors=stream.errors,
            line_buffering=bool(stream.line_buffering),
            write_through=not is_buffered,
        )

    def finish(self) -> None:
        """Write what is buffered; raise OSError if a write has failed, now or earlier."""
        self.flush()
        if self._file.failure is not None:
            raise self._file.failure


class CompleteFile(RawIOBase):
    """An open file whose `write` writes all bytes, or raises; it stays open when this is closed.

    Python's own unbuffered stdout ignores that a full disk, a pipe or a file that does not block
    has taken a part of the bytes only. The first failure is kept, for callers that have caught it;
    what is written after it is dropped without another error. A failure has the `name` of the file.
    """

    def __init__(self, handle: int, name: str | None = None) -> None:
        self._handle = handle
        self._name = name
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def isatty(self) -> bool:
        return os.isatty(self._handle)

    def write(self, data: ReadableBuffer, /) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest and self.failure is None:
            try:
                rest = rest[os.write(self._handle, rest) :]
            except BlockingIOError:
                select.select([], [self._handle], [])
            except OSError as error:
                error.filename = self._name
                self.failure = error
                raise
        return size
