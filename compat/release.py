"""The release of xDSL: for messages and the keys of caches, which alone ask for it."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["OLDEST", "unsupported_release", "xdsl_version"]

OLDEST = "0.59"
"""The oldest release with which Passline works; a test compares it with `pyproject.toml`."""


@cache
def xdsl_version() -> str:
    """Return the version of the installed xDSL, or "unknown" if it is no installed package."""
    try:
        return version("xdsl")
    except PackageNotFoundError:
        return "unknown"


def unsupported_release() -> str | None:
    """Return why the installed xDSL cannot be used, or None if it can: a version without a number
    is taken for a newer one.
    """
    found = re.match(r"(\d+)\.(\d+)", xdsl_version())
    if found is None or tuple(map(int, found.groups())) >= tuple(map(int, OLDEST.split("."))):
        return None
    return f"xDSL {xdsl_version()} is too old: Passline works with xDSL {OLDEST} and newer"
