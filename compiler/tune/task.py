"""The measurement of a candidate as data: what is sent to a worker, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ..kernels.builder import Winograd
from ..kernels.choices import Choice

__all__ = ["Measure", "Measurement", "Task"]


@dataclass(frozen=True)
class Task:
    """The measurement of a kernel with given choices, beside those of the lowest estimate."""

    key: str
    text: str
    """The module, as `TunableKernel.alone` returns it."""
    constants: tuple[int, ...]
    """The parameters of `@main` that are constants."""
    choices: tuple[Choice, ...]
    target: str
    winograd: Winograd
    seconds: float
    """The time of all runs together."""
    time_limit: float
    """The time after which the measurement is given up, with compilation and check, in seconds."""


@dataclass(frozen=True)
class Measurement:
    """The best seconds of a kernel with given and with estimated choices, or why there are none."""

    seconds: float = 0.0
    estimated_seconds: float = 0.0
    ratios: tuple[float, ...] = ()
    """The quotients of the best times in the first and in the second half of the runs."""
    error: str = ""

    @property
    def ratio(self) -> float:
        """The time of the choices, as a part of that of the estimated ones."""
        return self.seconds / self.estimated_seconds

    @property
    def steady_ratio(self) -> float:
        """The ratio, or that of the less favourable half."""
        return max(self.ratio, *self.ratios)


Measure: TypeAlias = Callable[[Task], Measurement]
"""A function that measures, in whatever process an executor calls it."""
