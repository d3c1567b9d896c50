"""The marker of tests that need llvmlite, for machine code."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

__all__ = ["has_native", "needs_native"]


def has_native() -> bool:
    """Return whether llvmlite is installed."""
    return find_spec("llvmlite") is not None


needs_native = pytest.mark.skipif(
    not has_native(), reason="llvmlite is not installed (pip: llvmlite)"
)
