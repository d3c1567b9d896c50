"""The cyclic garbage collector while IR is built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["paused_collector"]


@contextmanager
def paused_collector() -> Generator[None]:
    """Pause the collector, if it is enabled, while new IR is built.

    Nothing that is being built is garbage, but all of it is cyclic: each collection visits it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
