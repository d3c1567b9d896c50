"""The modules of Passline, found by their files: a package may have no `__init__.py`."""

from __future__ import annotations

from pathlib import Path

import passline

__all__ = ["modules_below"]


def modules_below(package: str) -> list[str]:
    """Return the names of a package and of all modules below it; the files of a template and those
    of other projects are none."""
    root = Path(passline.__file__).parent
    folder = root.joinpath(*package.split(".")[1:])
    found = {package}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if not {"template", "vendor"} & {*parts}:
            found.add(".".join(("passline", *parts)).removesuffix(".__init__"))
    return sorted(found)
