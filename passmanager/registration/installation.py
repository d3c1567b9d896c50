"""Hints at what to install, as it works where the user is."""

from __future__ import annotations

from importlib import metadata
from json import loads

__all__ = ["install_hint", "package_of"]

PACKAGES = {
    "google": "onnx",  # `google.protobuf`, which onnx needs
    "google.protobuf": "onnx",
    "ml_dtypes": "onnx",
}
"""The package that brings a module of another name, or one that the user has not heard of."""


def package_of(module: str | None) -> str:
    """Return the name of the package to install for a module that is missing."""
    name = module or ""
    return PACKAGES.get(name) or PACKAGES.get(name.partition(".")[0]) or name.partition(".")[0]


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of Passline: of a clone if it is installed from
    one to be edited, else of the wheel."""
    return f"pip install -e '.[{extra}]'" if _is_editable() else f"pip install 'passline[{extra}]'"


def _is_editable() -> bool:
    """Return whether the distribution is a clone (PEP 610)."""
    try:
        text = metadata.distribution("passline").read_text("direct_url.json")
        return bool(text) and bool(loads(text).get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError):
        return True  # run from a clone that is not installed
