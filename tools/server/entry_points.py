"""Entry points of the environment, read once by a server for all of its runs.

A tool reads the files of all installed distributions in each run: most of its time, if it is warm.
"""

from __future__ import annotations

import importlib.metadata as metadata
import os
import sys
from collections.abc import Callable
from itertools import chain
from typing import Any, cast


class KnownEntryPoints:
    """A function in the place of `importlib.metadata.entry_points`, before a tool imports that.

    With other folders to look in than those of the server it reads the files.
    """

    def __init__(self) -> None:
        self._read: Callable[..., Any] = metadata.entry_points
        self._folders: set[str] | None = None
        self._known = metadata.EntryPoints()
        setattr(metadata, "entry_points", self)

    def read(self) -> None:
        """Read the entry points of this process, once."""
        if self._folders is None:
            found = self._read()
            groups = cast("dict[str, Any]", found).values() if isinstance(found, dict) else [found]
            self._known = metadata.EntryPoints(chain.from_iterable(groups))
            self._folders = set(sys.path)

    def __call__(self, **selection: Any) -> Any:
        """Return entry points as `importlib.metadata` does."""
        own = {os.path.dirname(sys.executable)}
        if not selection or self._folders is None or set(sys.path) - own != self._folders - own:
            return self._read(**selection)
        return self._known.select(**selection)
