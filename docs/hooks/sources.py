"""A copy of the package for griffe, a hook of mkdocs.

The root of the repository is the package, so that griffe would also read what else is there: with a
virtual environment in it, the million files of that take minutes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["COPY", "on_startup"]

ROOT = Path(__file__).parent.parent.parent
COPY = ROOT / "build" / "sources"
"""The folder with the copy, which `mkdocs.yml` names."""


def on_startup(**_: object) -> None:
    """Copy the modules of all packages.

    mkdocstrings looks for the folder when the configuration is read, and without it in the root.
    """
    package = COPY / "passline"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in ROOT.glob("*.py"):
        shutil.copy(path, package)
    for init in ROOT.glob("*/__init__.py"):
        shutil.copytree(init.parent, package / init.parent.name, ignore=others)
    # The reader of the sources looks for packages by this file, which not all of ours have.
    for folder in {path.parent for path in package.rglob("*.py")}:
        (folder / "__init__.py").touch()


def others(folder: str, names: list[str]) -> list[str]:
    """Return the files in a folder that are not modules."""
    return [n for n in names if not n.endswith(".py") and not Path(folder, n).is_dir()]
