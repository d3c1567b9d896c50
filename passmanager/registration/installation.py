"""The command that installs a missing package, for a clone and for a wheel."""

from __future__ import annotations

from importlib import metadata
from json import loads

__all__ = ["install_hint"]


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
