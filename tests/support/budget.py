"""The cases of random programs and of grids of shapes and processors that `make test` runs: a part.
`make test-thorough` runs all of them, and `make fuzz` as many random ones as time allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["THOROUGH", "examples", "some"]

T = TypeVar("T")

THOROUGH = bool(os.environ.get("PASSLINE_THOROUGH"))
"""Whether all cases are run."""


def some(cases: Iterable[T], every: int) -> list[T]:
    """Return one of `every` cases, in order; all of them in a thorough run."""
    return [*cases][:: 1 if THOROUGH else every]


def examples(count: int) -> int:
    """Return how many random examples a property is tested with: `count` in a thorough run, or
    a quarter."""
    return count if THOROUGH else count // 4
