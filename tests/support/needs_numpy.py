"""The marker of tests of the compiler that stand among tests of the infrastructure."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

__all__ = ["HAS_NUMPY", "needs_numpy"]

HAS_NUMPY = find_spec("numpy") is not None
"""Whether the compiler can be tested: not in the environment of `make test-core`."""

needs_numpy = pytest.mark.skipif(not HAS_NUMPY, reason="numpy is not installed")
