"""The search for the fastest choices of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import TypeAlias

from ... import __version__
from ..kernels.builder import Winograd
from ..kernels.choices import Choice
from ..kernels.database import TuningRecord, target_key
from .task import Measurement, Task, TunableKernel

NOISE = 0.02
"""A candidate has to be faster by this part of the time: measurements vary as much."""
FINALISTS = 3
"""The candidates that are measured again, for longer."""
WORTH = 2.0
"""Random candidates have at most this many times the lowest estimate."""
TILES = ("m", "vectors", "rows", "columns")
"""The entries of the form of a choice that are extents of tiles, or of blocks of columns.

Choices that differ in these alone are a family. Estimates rank the choices of one family well, but
not those of several, which differ in the order of loops, in what is packed, or in how terms are
split."""

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
    time_limit: float | None = None
    """The time after which the search ends, in seconds."""
    share: float = 100
    """The percentage of the estimated time that the kernels to tune, the heaviest ones, take."""
    again: bool = False
    """Whether kernels that the database has are tuned again."""
    winograd: Winograd = "none"


def candidates(ranked: Sequence[tuple[float, Choice]], trials: int, seed: int) -> list[Choice]:
    """Return the candidates to measure, of all that are `ranked` by their estimates.

    Up to one half are the best of each family, a quarter are those with the lowest estimates, and
    the rest is drawn at random from those of at most `WORTH` times the lowest. The first is left
    out: it is the estimated choice, which each candidate is measured beside.
    """
    if not ranked:
        return []
    (lowest, _), *others = ranked
    families: dict[object, Choice] = {}
    for _, choice in others:
        families.setdefault(family(choice), choice)
    chosen = [*families.values()][: -(-trials // 2)]
    left = [(estimate, choice) for estimate, choice in others if choice not in chosen]
    chosen += [choice for _, choice in left[: min(-(-trials // 4), trials - len(chosen))]]
    near = [choice for estimate, choice in left if estimate <= lowest * WORTH]
    near = [choice for choice in near if choice not in chosen]
    return [*chosen, *Random(seed).sample(near, min(len(near), trials - len(chosen)))]


def family(choice: Choice) -> tuple[object, ...]:
    """Return the values in the form of a choice without the extents of tiles."""
    return tuple(value for name, value in choice.form.items() if name not in TILES)


class Search:
    """The search for the fastest choices of one kernel.

    Its choices are made one after the other (coordinate descent): candidates for the first one are
    measured with the estimated others, then candidates for the second with the best first, and so
    on.
    """

    def __init__(self, kernel: TunableKernel, settings: Settings, run: Run) -> None:
        self._kernel, self._settings, self._run = kernel, settings, run
        self._text, constants = kernel.alone()
        self._constants = tuple(constants)
        self.choices: tuple[Choice, ...] = ()
        """The fastest known first choices of the kernel; estimates make those after them."""
        self.best: Measurement | None = None
        """The measurement of these choices; None if nothing has been measured."""
        self.trials = 0
        self.failures: list[tuple[tuple[Choice, ...], str]] = []
        """The candidates that could not be measured, and why."""
        self.finished = False

    def record(self) -> TuningRecord | None:
        """Return the record of the fastest known choices; None if nothing was measured."""
        if (best := self.best) is None:
            return None
        kernel = self._kernel
        choices = tuple(made.choice for made in kernel.made(self.choices))
        return TuningRecord(
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
        """Search all choices.

        StoppedError if there is no time left, or if the kernel cannot be measured. The fastest
        choices found so far are kept, whatever ends the search.
        """
        number, made = 0, self._kernel.made()
        share = -(-self._settings.trials // len(made))
        while number < len(made):
            self.search_one(number, candidates(made[number].ranked(), share, self._settings.seed))
            number += 1
            # A choice may change the problems of later choices, and their number.
            self.choices = tuple(made.choice for made in self._kernel.made(self.choices)[:number])
            made = self._kernel.made(self.choices)
        self.finished = True

    def search_one(self, number: int, candidates: Sequence[Choice]) -> None:
        """Search among the candidates for choice `number`."""
        before = self.choices[:number]
        found: list[tuple[tuple[Choice, ...], Measurement]] = []
        if self.best is None:
            self.measure_estimated()
        try:
            tasks = [self.task((*before, candidate)) for candidate in candidates]
            for task, result in self._run(tasks):
                self.trials += 1
                if result.error:
                    self.failures.append((task.choices, result.error))
                else:
                    found.append((task.choices, result))
            found.sort(key=lambda pair: pair[1].ratio)
            finalists = [self.task(choices, 4) for choices, _ in found[:FINALISTS]]
            # Only when all finalists are measured do they replace the shorter measurements.
            again = [(task.choices, result) for task, result in self._run(finalists)]
            found = [(choices, result) for choices, result in again if not result.error]
        finally:
            self.keep(found)

    def measure_estimated(self) -> None:
        """Measure the estimated choices; StoppedError if the kernel cannot be measured."""
        for task, result in self._run([self.task(())]):
            if result.error:
                self.failures.append((task.choices, result.error))
                raise StoppedError(result.error)
            self.best = Measurement(result.estimated_seconds, result.estimated_seconds)

    def keep(self, found: Sequence[tuple[tuple[Choice, ...], Measurement]]) -> None:
        """Keep the fastest choices in `found` that beat the best by more than noise."""
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
