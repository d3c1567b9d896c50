"""xDSL's own tests, which are in its source distribution only."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from .packages import package_files

__all__ = ["xdsl_tests"]


def xdsl_tests() -> Path:
    """Return the folder of xDSL's FileCheck tests. Errors: RuntimeError if it cannot be had."""
    return package_files(f"xdsl=={version('xdsl')}", source=True) / "tests" / "filecheck"
