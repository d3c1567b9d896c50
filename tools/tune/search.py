"""The search for the fastest choices of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import TypeAlias

from ... import __version__
from ...kernels.choices import Choice
from ...kernels.database import Record, target_key
from .kernels import TunableKernel
from .task import Measurement, Task

__all__ = ["Run", "Search", "Settings", "StoppedError", "candidates"]

NOISE = 0.02
"""The part of the time by which a candidate has to be faster, as measurements vary as much."""
FINALISTS = 3
"""The candidates that are measured again, for longer."""
WORTH = 2.0
"""Random candidates have at most this many times the lowest estimate."""
TILES = ("m", "vectors", "rows", "columns")
"""The extents of tiles and of blocks of columns. Estimates compare those of one family well: they
differ in the order of loops, in what is packed, or in how terms are split."""

Run: TypeAlias = Callable[[Sequence[Task]], Iterator[tuple[Task, Measurement]]]
"""A function that yields tasks with their measurements, in the order of completion."""


class StoppedError(Exception):
    """The end of a search before all candidates are measured."""


@dataclass(frozen=True)
class Settings:
    """The effort of a search."""

    trials: int = 32
    """The candidates of a kernel that are measured."""
    seconds: float = 0.1
    """The time of the runs of a candidate; finalists run four times as long."""
    candidate_limit: float = 60.0
    """The time after which a candidate is given up, in seconds."""
    seed: int = 0


def candidates(ranked: Sequence[tuple[float, Choice]], trials: int, seed: int) -> list[Choice]:
    """Return the candidates to measure, given all of them by their estimates: one half are the best
    of each family, a quarter are those with the lowest estimates, and the rest is drawn at random
    from those that are not far from them. The first is left out: it was chosen."""
    if not ranked:
        return []
    (least, _), *others = ranked
    families: dict[object, Choice] = {}
    for _, choice in others:
        families.setdefault(family(choice), choice)
    chosen = [*families.values()][: -(-trials // 2)]
    left = [(estimate, choice) for estimate, choice in others if choice not in chosen]
    chosen += [choice for _, choice in left[: min(-(-trials // 4), trials - len(chosen))]]
    near = [choice for estimate, choice in left if estimate <= least * WORTH]
    near = [choice for choice in near if choice not in chosen]
    return [*chosen, *Random(seed).sample(near, min(len(near), trials - len(chosen)))]


def family(choice: Choice) -> tuple[object, ...]:
    """Return the form of a choice without the extents of tiles."""
    return tuple(value for name, value in choice.form.items() if name not in TILES)


class Search:
    """The search for the fastest choices of one kernel.

    Its choices are searched one after the other: the first one, then the next one with the best of
    the first, and so on.
    """

    def __init__(self, kernel: TunableKernel, settings: Settings, run: Run) -> None:
        self._kernel, self._settings, self._run = kernel, settings, run
        self._text, constants = kernel.alone()
        self._constants = tuple(constants)
        self.choices: tuple[Choice, ...] = ()
        """The fastest choices that are known; further ones are estimated."""
        self.best: Measurement | None = None
        """The measurement of these choices; None if nothing has been measured."""
        self.trials = 0
        self.failures: list[tuple[tuple[Choice, ...], str]] = []
        """The candidates that could not be measured, and why."""
        self.finished = False

    def record(self) -> Record | None:
        """Return what is known now; None if nothing was measured."""
        if (best := self.best) is None:
            return None
        kernel = self._kernel
        choices = tuple(made.choice for made in kernel.made(self.choices))
        return Record(
            kernel.key,
            target_key(kernel.target),
            choices,
            best.seconds,
            best.estimated_seconds,
            self.trials,
            self.finished,
            kernel.operations,
            datetime.now(UTC).isoformat(timespec="seconds"),
            __version__,
        )

    def search(self) -> None:
        """Measure candidates; StoppedError if it is stopped, or KeyboardInterrupt: the fastest
        choices that were found until then are kept."""
        number, made = 0, self._kernel.made()
        share = -(-self._settings.trials // len(made))
        while number < len(made):
            self.search_one(number, candidates(made[number].ranked(), share, self._settings.seed))
            number += 1
            # Another choice here may lead to other choices later.
            self.choices = tuple(made.choice for made in self._kernel.made(self.choices)[:number])
            made = self._kernel.made(self.choices)
        self.finished = True

    def search_one(self, number: int, candidates: Sequence[Choice]) -> None:
        """Search among the candidates for one choice."""
        before = self.choices[:number]
        found: list[tuple[float, tuple[Choice, ...], Measurement]] = []
        if self.best is None:
            self.measure_estimated()
        try:
            tasks = [self.task((*before, candidate)) for candidate in candidates]
            for task, result in self._run(tasks):
                self.trials += 1
                if result.error:
                    self.failures.append((task.choices, result.error))
                else:
                    found.append((result.ratio, task.choices, result))
        except (StoppedError, KeyboardInterrupt):
            self.keep([pair[1:] for pair in found])
            raise
        found.sort(key=lambda pair: pair[0])
        finalists = [self.task(choices, 4) for _, choices, _ in found[:FINALISTS]]
        again = [(task.choices, result) for task, result in self._run(finalists)]
        self.keep([(choices, result) for choices, result in again if not result.error])

    def measure_estimated(self) -> None:
        """Measure the estimated choices, which tells whether the kernel can be measured at all."""
        for task, result in self._run([self.task(())]):
            if result.error:
                self.failures.append((task.choices, result.error))
                raise StoppedError(result.error)
            self.best = Measurement(result.estimated_seconds, result.estimated_seconds)

    def keep(self, found: Sequence[tuple[tuple[Choice, ...], Measurement]]) -> None:
        """Keep the fastest, if it is faster than the best by more than noise."""
        assert self.best is not None
        for choices, result in found:
            if result.steady_ratio < self.best.ratio * (1 - NOISE):
                self.choices, self.best = choices, result

    def task(self, choices: tuple[Choice, ...], times: int = 1) -> Task:
        """Return the measurement of the kernel with some choices."""
        kernel, settings = self._kernel, self._settings
        return Task(
            kernel.key,
            self._text,
            self._constants,
            choices,
            str(kernel.target),
            kernel.winograd,
            settings.seconds * times,
            settings.candidate_limit,
        )
