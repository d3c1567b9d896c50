"""The marker of tests that run machine code on several threads."""

from __future__ import annotations

import pytest

from passline.compiler.native.jit import find_runtime

__all__ = ["needs_openmp"]

needs_openmp = pytest.mark.skipif(
    find_runtime() is None, reason="no OpenMP runtime is installed (Debian: libomp5)"
)
