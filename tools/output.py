"""The output file of a tool: stdout, or a file that is replaced when the run has succeeded."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from itertools import chain
from os.path import exists, isfile, realpath
from pathlib import Path
from typing import IO

from typing_extensions import Buffer


def is_same_file(name: str | None, other: str | None) -> bool:
    """Return whether two names are of one file, which may not exist yet; not of a device or a
    pipe, nor of `-`, which is a standard stream."""
    if not name or not other or "-" in (name, other):
        return False
    return realpath(name) == realpath(other) and (isfile(name) or not exists(name))


class ResultFile:
    """The output of a run: stdout is written at once, a file only by `commit`.

    `-`, None and `/dev/stdout` are stdout. Until `commit` the file keeps its content, even if it
    is the input. With `stream`, that is written to in place of stdout, and closed by `commit`.
    """

    def __init__(self, name: str | None, stream: IO[str] | None = None) -> None:
        self._path = None if name in (None, "-", "/dev/stdout") else Path(name)
        self._stream = stream
        self._parts: list[Iterable[str | Buffer]] = []

    def write(self, text: str) -> None:
        """Add text to the output."""
        if self._path is None:
            stream = sys.stdout if self._stream is None else self._stream
            if stream is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise OSError(errno.EBADF, "stdout is closed")
            stream.write(text)
            stream.flush()
        else:
            self._parts.append([text])

    def write_parts(self, parts: Iterable[Buffer]) -> None:
        """Add data, which is text on stdout; `commit` writes it to a file, part by part."""
        if self._path is None:
            for part in parts:
                self.write(bytes(part).decode())
        else:
            self._parts.append(parts)

    def commit(self) -> None:
        """Replace the content of the file by the output."""
        if self._stream is not None and self._stream is not sys.stdout:
            self._stream.close()
        if self._path is not None:
            from ..passmanager.output.files import replace_file

            replace_file(self._path, chain.from_iterable(self._parts))
