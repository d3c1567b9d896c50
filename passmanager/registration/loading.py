"""The time that imports take."""

from __future__ import annotations

import sys
from time import perf_counter

__all__ = ["Loading"]


class Loading:
    """A measurement of the body of a `with` statement that may import modules."""

    seconds = 0.0
    """The duration, or 0 if no module was imported."""

    def __enter__(self) -> Loading:
        self._began, self._count = perf_counter(), len(sys.modules)
        return self

    def __exit__(self, *_: object) -> None:
        if len(sys.modules) > self._count:
            self.seconds = perf_counter() - self._began
