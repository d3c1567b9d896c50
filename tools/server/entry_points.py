"""Entry points of the environment, read once by a server for all of its runs.

A tool reads the files of all installed distributions in each run: most of its time, if it is warm.
"""

from __future__ import annotations

import importlib.metadata as metadata
import os
import sys
from collections.abc import Callable, Set
from typing import Any


class KnownEntryPoints:
    """A function in the place of `importlib.metadata.entry_points`, before a tool imports that.

    With other folders to look in than those of the server it reads the files.
    """

    def __init__(self) -> None:
        self._read: Callable[..., Any] = metadata.entry_points
        self._known: Any = None
        self._folders: set[str] = set()
        setattr(metadata, "entry_points", self)

    def read(self) -> None:
        """Read the entry points of this process, once."""
        if self._known is None:
            self._known = self._read()
            self._folders = _folders()

    def plugins_of(self, projects: Set[str]) -> set[str]:
        """Return the packages of entry points whose group begins with the name of a project, as
        `xdsl.universe` does: its tools import them in each run.
        """
        if (known := self._known) is None:
            return set()
        return {
            point.module.partition(".")[0]
            for group in known.groups
            if group.partition(".")[0] in projects
            for point in known.select(group=group)
        }

    def __call__(self, **selection: Any) -> Any:
        """Return entry points as `importlib.metadata` does."""
        if self._known is None or _folders() != self._folders:
            return self._read(**selection)
        return self._known.select(**selection) if selection else self._known


def _folders() -> set[str]:
    """Return where packages are looked for; beside the interpreter there are none."""
    return set(sys.path).difference((os.path.dirname(sys.executable),))
