"""Running only some of the passes, by number, to find by bisection what breaks something."""

from __future__ import annotations

import sys
import threading
from collections.abc import Container

from xdsl.dialects.builtin import ModuleOp

from ..info import PassInfo
from ..instrument import PassInstrument

__all__ = ["OptBisect"]


class OptBisect(PassInstrument):
    """Numbers the passes that are about to run, from 1, and says so on stderr; those beyond `limit`
    do not run, or if it is a container of numbers, those that are not in it.

    -1 is no limit. Composites are not numbered and always run; passes in the context's
    `required_pass` neither. The numbers go on for as long as the instrument lives, over chunks,
    runs and threads: each step of a search takes a new one.
    Source: LLVM's `-opt-bisect-limit` and `-opt-bisect`.
    """

    def __init__(self, limit: int | Container[int]) -> None:
        if isinstance(limit, (bool, str)) or not isinstance(limit, (int, Container)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"the limit of OptBisect is a whole number, or numbers, and not {limit!r}"
            )
        if isinstance(limit, int) and limit < -1:
            raise ValueError(f"the limit of OptBisect is 0 or more, or -1 for none, not {limit}")
        self.limit = limit
        self.count = 0
        """How many passes have been numbered."""
        self._lock = threading.Lock()

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        if info.composite:
            return True
        with self._lock:
            self.count += 1
            runs = self._chosen(self.count)
            verb = "running" if runs else "NOT running"
            message = f"BISECT: {verb} pass ({self.count}) {info.name} on {module.name}\n"
            sys.stderr.write(message)
        return runs

    def _chosen(self, number: int) -> bool:
        if isinstance(self.limit, int):
            return self.limit == -1 or number <= self.limit
        return number in self.limit
