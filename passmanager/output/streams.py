"""The standard output and error streams of a process, every byte of which is written."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["CompleteFile", "CompleteStream", "complete_streams"]


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
