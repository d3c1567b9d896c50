"""The release of xDSL: for messages and the keys of caches, which alone ask for it.

Passline is written for the newest release. The other files are adapters to older ones: each asks
whether a name is present, never for a version, and says in which release xDSL changed. No other
code tells releases apart.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version

OLDEST = "0.59"
"""The oldest release with which Passline works; a test compares it with `pyproject.toml`."""
NEWEST = "0.75"
"""The newest release with which Passline was tested."""


@cache
def xdsl_version() -> str:
    """Return the version of the installed xDSL; "unknown" if xDSL is imported from a folder."""
    try:
        return version("xdsl")
    except PackageNotFoundError:
        return "unknown"


def unsupported_release() -> str | None:
    """Return why the installed xDSL cannot be used, or None if it can: a version without a number
    is taken for a newer one.
    """
    installed = _numbers(xdsl_version())
    if not installed or installed >= _numbers(OLDEST):
        return None
    return f"xDSL {xdsl_version()} is too old: Passline works with xDSL {OLDEST} and newer"


def unknown_release() -> str | None:
    """Return a sentence on an installed xDSL that is newer than those with which Passline was
    tested, or None."""
    if _numbers(xdsl_version()) <= _numbers(NEWEST):
        return None
    installed = xdsl_version()
    return f"xDSL {installed} is newer than {NEWEST}, the newest that Passline was tested with"


def _numbers(release: str) -> tuple[int, ...]:
    """Return the first two numbers of a version; none for one without."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return () if found is None else tuple(map(int, found.groups()))
