"""Whether what a server has imported is still what a new process would import."""

from __future__ import annotations

import os
import sys
import time

Stamp = tuple[int, int, int]


class Freshness:
    """The times and sizes of all files that this process has imported, and of the folders in which
    it looks for packages.
    """

    def __init__(self) -> None:
        self._started = time.time_ns()
        self._stamps: dict[str, Stamp | None] = {}
        self._modules: set[str] = set()

    def note(self) -> None:
        """Take in what was imported since the last call."""
        for name, module in list(sys.modules.items()):
            if name not in self._modules:
                self._modules.add(name)
                if file := getattr(module, "__file__", None):
                    self._stamps[file] = _stamp(file)
        for folder in sys.path:
            self._stamps.setdefault(folder, _stamp(folder))

    def is_outdated(self) -> bool:
        """Return whether one of the files was changed since this process has started.

        What was changed while it was imported counts as changed.
        """
        return any(
            (now := _stamp(path)) != stamp or (now is not None and now[0] >= self._started)
            for path, stamp in self._stamps.items()
        )


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
