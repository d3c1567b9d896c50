"""The cyclic garbage collector while IR is built."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()


@contextmanager
def paused_collector() -> Generator[None]:
    """Pause the collector, if it is enabled, while new IR is built.

    Nothing that is being built is garbage, but all of it is cyclic: each collection visits it. The
    collector is that of the process: where several threads build at once, it is paused until the
    one that paused it ends, so that overlapping pauses do not keep it off.
    """
    with _lock:  # else a thread could disable it that does not enable it again
        if is_paused_here := gc.isenabled():
            gc.disable()
    try:
        yield
    finally:
        if is_paused_here:
            gc.enable()
