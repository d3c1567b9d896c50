"""Where a tool's result goes: stdout, or a file that is replaced when the run has succeeded."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

__all__ = ["ResultFile"]


class ResultFile:
    """The result of a run: written to stdout as it comes, to a file only by `commit`.

    `-` and None are stdout. Until `commit` a file of that name keeps its content, also when it is
    the input.
    """

    def __init__(self, name: str | None) -> None:
        self._path = None if name in (None, "-") else Path(name)
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        """Add text to the result."""
        if self._path is None:
            if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise OSError(errno.EBADF, "stdout is closed")
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self._parts.append(text)

    def commit(self) -> None:
        """Make the result the content of the file."""
        if self._path is not None:
            from ..passmanager.files import replace_file

            replace_file(self._path, self._parts)
