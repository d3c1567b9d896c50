"""Packages that are hidden from imports, as if they were not installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

__all__ = ["environment_without", "hide", "search_without"]

Search = Callable[..., ModuleSpec | None]

TESTS = Path(__file__).parents[1]
SITE = """\
from importlib.machinery import PathFinder
from support.missing import search_without
PathFinder.find_spec = search_without({packages!r})
"""


def search_without(packages: Sequence[str]) -> Search:
    """Return the search for modules in files, to which packages are not installed."""
    find = PathFinder.find_spec

    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None):
        return None if name.partition(".")[0] in packages else find(name, path)

    return find_spec


def hide(patch: pytest.MonkeyPatch, *packages: str) -> None:
    """Hide packages from all imports until `patch` ends, also those that are imported already."""
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        patch.delitem(sys.modules, name)
    patch.setattr(PathFinder, "find_spec", search_without(packages))


def environment_without(folder: Path, *packages: str) -> dict[str, str]:
    """Return the environment of a process to which packages are not installed; `folder` gets a file
    that Python runs first."""
    (folder / "sitecustomize.py").write_text(SITE.format(packages=packages))
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{TESTS}"}
