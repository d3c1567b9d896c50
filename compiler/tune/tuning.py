"""The tuning of a module: the search for each of its kernels, and the database of the results."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import Target
from ..kernels.builder import Winograd
from ..kernels.database import (
    Database,
    TuningRecord,
    append_record,
    check_writable,
)
from .kernels import TunableKernel, tunable_kernels
from .sandbox import measure_apart, stop_processes
from .search import Search, Settings, StoppedError
from .task import Measure, Measurement, Task

__all__ = ["Progress", "Tuning", "TuningOutcome", "heaviest", "tune_module"]


Progress = Callable[[int, int, int], None]
"""A function of the number of a kernel, of all kernels, and of the candidates that have been
measured for it."""


@dataclass(frozen=True)
class TuningOutcome:
    """The result of the search for the schedules of a kernel."""

    kernel: TunableKernel
    record: TuningRecord | None
    """None if it could not be measured."""
    is_new: bool = True
    """False if the database had it already."""
    failures: Sequence[str] = ()
    """Why candidates could not be measured."""


@dataclass
class Tuning:
    """The outcomes of all kernels, in the order of the search."""

    outcomes: list[TuningOutcome] = field(default_factory=list[TuningOutcome])
    notes: list[str] = field(default_factory=list[str])
    """The kernels that cannot be tuned, and why."""
    left: int = 0
    """The kernels for which there was no time."""
    warnings: Sequence[str] = ()
    """The lines of the database that were skipped."""

    @property
    def seconds(self) -> float:
        """The measured time of all calls of the kernels, with the fastest choices."""
        return sum(o.record.seconds * o.kernel.calls for o in self.outcomes if o.record)

    @property
    def estimated_seconds(self) -> float:
        """The measured time of all calls of the kernels, with the estimated choices."""
        return sum(o.record.estimated_seconds * o.kernel.calls for o in self.outcomes if o.record)


def tune_module(
    module: ModuleOp,
    database: str | os.PathLike[str],
    target: Target,
    *,
    settings: Settings | None = None,
    executor: Executor | None = None,
    time_limit: float | None = None,
    again: bool = False,
    share: float = 100,
    winograd: Winograd = "none",
    measure: Measure = measure_apart,
    report: Callable[[TuningOutcome, int, int], None] = lambda outcome, number, total: None,
    progress: Progress = lambda number, total, measured: None,
) -> Tuning:
    """Search the fastest choices for the kernels of an optimized module, and add them to the
    database; the outcomes are also in it if the search is interrupted.

    Candidates are measured by `executor`, by default one after the other on this machine. Kernels
    that the database has are skipped, unless `again`; `share` limits the search to the kernels that
    are estimated to take this percentage of the time, and `time_limit` to some seconds.
    `report` is called with each outcome, its number and the number of kernels, and `progress` at
    the start of each kernel and after each measurement. Errors: PasslineError for a database that
    cannot be written; BrokenExecutor.
    """
    settings = settings or Settings()
    check_writable(database)
    kernels, notes = tunable_kernels(module, target, winograd)
    kernels = heaviest(kernels, share)
    known = Database.read(database) if Path(database).exists() else Database()
    tuning = Tuning(notes=notes, warnings=known.warnings)
    deadline = None if time_limit is None else monotonic() + time_limit
    with _given_or_own(executor) as used:
        for number, kernel in enumerate(kernels, 1):
            record = known.find(kernel.key, target)
            if record is not None and record.finished and not again:
                outcome = TuningOutcome(kernel, record, is_new=False)
            elif deadline is not None and monotonic() >= deadline:
                tuning.left += 1
                continue
            else:
                shown = partial(progress, number, len(kernels))
                run = _Runner(used, measure, deadline, shown)
                outcome = _search(kernel, settings, run, database)
            tuning.outcomes.append(outcome)
            report(outcome, number, len(kernels))
    return tuning


@contextmanager
def _given_or_own(executor: Executor | None) -> Generator[Executor]:
    """Return `executor`, or one of this process; the processes that it started here end with it."""
    own = ThreadPoolExecutor(1) if executor is None else None
    try:
        yield executor or cast(Executor, own)
    finally:
        stop_processes()
        if own is not None:
            own.shutdown(cancel_futures=True)


def _search(
    kernel: TunableKernel, settings: Settings, run: _Runner, database: str | os.PathLike[str]
) -> TuningOutcome:
    """Search the fastest choices of one kernel, and add what was found to the database."""
    search = Search(kernel, settings, run)
    try:
        search.search()
    except StoppedError:
        pass
    finally:
        if (record := search.record()) is not None:
            append_record(database, record)
    return TuningOutcome(kernel, record, failures=[error for _, error in search.failures])


def heaviest(kernels: Sequence[TunableKernel], share: float) -> list[TunableKernel]:
    """Return the first kernels, sorted by time, that take `share` percent of it."""
    cycles = [kernel.cycles for kernel in kernels]
    left = sum(cycles) * share / 100
    chosen: list[TunableKernel] = []
    for kernel, time in zip(kernels, cycles, strict=True):
        if left <= 0:
            break
        chosen.append(kernel)
        left -= time
    return chosen


class _Runner:
    """Runs the tasks of a kernel on an executor until a deadline; `progress` gets the number of
    measurements."""

    def __init__(
        self,
        executor: Executor,
        measure: Measure,
        deadline: float | None,
        progress: Callable[[int], None],
    ) -> None:
        self._executor, self._measure = executor, measure
        self._deadline, self._progress = deadline, progress
        self._measured = 0
        progress(0)

    def __call__(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Measurement]]:
        """Yield tasks with their measurements; StoppedError at the deadline."""
        running: dict[Future[Measurement], Task] = {}
        try:
            for task in tasks:
                running[self._executor.submit(self._measure, task)] = task
            while running:
                left = None if self._deadline is None else self._deadline - monotonic()
                done = wait(running, left, FIRST_COMPLETED).done
                if not done:
                    raise StoppedError("there is no time left")
                for future in sorted(done, key=_ends_the_search):  # what was measured is kept
                    self._measured += 1
                    self._progress(self._measured)
                    yield running.pop(future), _result_of(future)
        finally:
            for future in running:
                future.cancel()


def _ends_the_search(future: Future[Measurement]) -> bool:
    """Return whether the result of a future that is done is an error that ends the search."""
    error = None if future.cancelled() else future.exception()
    return error is not None and not _is_failure(error)


def _is_failure(error: BaseException) -> bool:
    """Return whether an error says something about the task alone."""
    return isinstance(error, Exception) and not isinstance(error, BrokenExecutor)


def _result_of(future: Future[Measurement]) -> Measurement:
    """Return the measurement of a future that is done; the failure of a worker is one, too."""
    try:
        error = future.exception()
    except CancelledError:
        return Measurement(error="the executor cancelled it")
    if error is None:
        return future.result()
    if not _is_failure(error):
        raise error
    return Measurement(error=f"{type(error).__name__}: {error}")
