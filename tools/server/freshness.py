"""Whether what a server has imported is still what a new process would import."""

from __future__ import annotations

import marshal
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
        self._stamps = marshal.dumps({})
        """The stamps by path. In one piece: forks share the objects of this process until they are
        looked at, and to read each of these in each run would copy hundreds of pages."""
        self._modules = 0

    def note(self) -> None:
        """Take in what was imported since the last call."""
        if len(sys.modules) == self._modules:
            return
        self._modules = len(sys.modules)
        stamps: dict[str, Stamp | None] = marshal.loads(self._stamps)
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        for path in (*filter(None, files), *sys.path):
            if path not in stamps:
                stamps[path] = _stamp(path)
        self._stamps = marshal.dumps(stamps)

    def is_outdated(self) -> bool:
        """Return whether one of the files was changed since this process has started.

        What was changed while it was imported counts as changed.
        """
        return any(
            (now := _stamp(path)) != stamp or (now is not None and now[0] >= self._started)
            for path, stamp in marshal.loads(self._stamps).items()
        )


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
