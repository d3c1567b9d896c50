"""The marker of tests that need the tools for machine code."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from passline.passmanager.errors import PasslineError
from passline.tools.native.toolchain import find_tools

__all__ = ["has_native", "needs_native"]


def _missing() -> str:
    """Return the name of a missing tool and how to install it; empty if none is missing."""
    try:
        find_tools()
    except PasslineError:
        return "mlir-opt is not installed (Debian: mlir-22-tools)"
    return "" if find_spec("llvmlite") else "llvmlite is not installed (pip: llvmlite)"


def has_native() -> bool:
    """Return whether the tools for machine code are installed."""
    return not _missing()


needs_native = pytest.mark.skipif(bool(_missing()), reason=_missing() or "all tools are installed")
