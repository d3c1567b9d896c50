"""The packages that a project brings along: what its distribution requires, without extras."""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES


def pure_dependencies(project: str) -> set[str]:
    """Return the packages that belong to, or are required by, the distribution that is named like a
    project, and that have no extension modules.
    """
    found: set[str] = set()
    seen: set[str] = set()
    pending = [project]
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        pending += required_by(distribution.requires or [])
        files = distribution.files or []
        if not any(file.name.endswith(tuple(EXTENSION_SUFFIXES)) for file in files):
            found.add(name.replace("-", "_"))  # where the files are elsewhere, as of a working tree
            found.update(
                file.parts[0].removesuffix(".py") for file in files if file.suffix == ".py"
            )
    return found


def required_by(requirements: list[str]) -> Iterator[str]:
    """Yield the names of the distributions in requirements that are not those of an extra."""
    for requirement in requirements:
        text, _, marker = requirement.partition(";")
        if "extra" not in marker and (name := re.match(r"\s*([\w.-]+)", text)):
            yield name[1]
