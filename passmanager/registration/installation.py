"""The commands that install missing packages, for a clone and for a wheel."""

from __future__ import annotations

import re
from importlib import metadata
from json import loads

from ..errors import NotInstalledError

__all__ = ["install_hint", "report_missing"]

_NEED_OF_EXTRA = re.compile(r"""([\w-]+)[^[]*;\s*extra\s*==\s*["']([\w-]+)["']""")
"""A requirement of an extra in the metadata of a distribution: `numpy>=2; extra == "compiler"`; not
that of another extra, `passline[compiler]`."""


def report_missing(module: str) -> None:
    """Raise NotInstalledError for a missing module if an extra of Passline installs its package.

    The metadata of the distribution name the extras; the first that has the package is meant.
    """
    package = module.partition(".")[0]
    try:
        needs = metadata.requires("passline") or []
    except metadata.PackageNotFoundError:  # run from a clone that is not installed
        return
    for need in needs:
        match = _NEED_OF_EXTRA.match(need)
        if match and match[1].replace("-", "_").lower() == package:
            message = f"{package} is not installed: {install_hint(match[2])}"
            raise NotInstalledError(message, name=module)


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of Passline: for the clone if Passline runs from
    one, else for the wheel."""
    return f"pip install -e '.[{extra}]'" if _is_editable() else f"pip install 'passline[{extra}]'"


def _is_editable() -> bool:
    """Return whether Passline runs from a clone (PEP 610)."""
    try:
        text = metadata.distribution("passline").read_text("direct_url.json")
        return bool(text) and bool(loads(text).get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError):
        return True  # run from a clone that is not installed
