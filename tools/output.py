"""Where a tool's result goes: stdout, or a file that is replaced in one step when the run has
succeeded.
"""

from __future__ import annotations

import os
import sys
import tempfile
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
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self._parts.append(text)

    def commit(self) -> None:
        """Make the result the content of the file: written beside it and renamed, so that it is
        never half there.
        """
        if self._path is None:
            return
        path = self._path
        if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
            path.write_text("".join(self._parts))
            return
        target = path.resolve()
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w") as file:
                file.writelines(self._parts)
            os.chmod(beside, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
