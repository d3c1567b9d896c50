"""The tuning of a module: the search for each of its kernels, and the database of the results."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import Target, host
from ..gpu.device import default_device
from ..kernels.database import Database, TuningRecord, append_record, check_writable
from ..native.function import check_runnable
from ..native.jit import load_llvm
from .search import Run, Search, Settings, StoppedError
from .task import Measure, Measurement, Task, TunableKernel, tunable_kernels
from .worker import measure_apart, stop_processes

Progress = Callable[[int, int, int], None]
"""A function of a kernel's number, the number of kernels, and of its measured candidates."""


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
    settings: Settings | None = None,
    *,
    executor: Executor | None = None,
    measure: Measure = measure_apart,
    report: Callable[[TuningOutcome, int, int], None] = lambda outcome, number, total: None,
    progress: Progress = lambda number, total, measured: None,
) -> Tuning:
    """Search the fastest choices for the kernels of an optimized module, and add them to the
    database; the outcomes are also in it if the search is interrupted.

    Candidates are measured by `executor`, by default one after the other on this machine.
    `report` is called with each outcome, its number and the number of kernels, and `progress` at
    the start of each kernel and after each measurement. Errors: PasslineError for a database that
    cannot be written; BrokenExecutor.
    """
    settings = settings or Settings()
    check_writable(database)
    kernels, notes = tunable_kernels(module, target, settings.winograd)
    kernels = heaviest(kernels, settings.share)
    known = Database.read(database) if Path(database).exists() else Database()
    tuning = Tuning(notes=notes, warnings=known.warnings)
    limit = settings.time_limit
    deadline = None if limit is None else monotonic() + limit
    with _given_or_own(executor) as used:
        for number, kernel in enumerate(kernels, 1):
            record = known.find(kernel.key, target)
            if record is not None and record.finished and not settings.again:
                outcome = TuningOutcome(kernel, record, is_new=False)
            elif deadline is not None and monotonic() >= deadline:
                tuning.left += 1
                continue
            else:
                shown = partial(progress, number, len(kernels))
                run = _runner(used, measure, deadline, shown)
                outcome = _search(kernel, settings, run, database)
            tuning.outcomes.append(outcome)
            report(outcome, number, len(kernels))
    return tuning


def tuned_target(named: Target | None) -> Target:
    """Return the target to tune for, by default the entered one or this machine; PasslineError if
    its code cannot be measured here."""
    target = named or Target.current()
    if target is not None and target.is_cuda:
        default_device()
        return target
    load_llvm()  # `host` would raise a ValueError without it
    check_runnable(target := target or host())
    return target


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
    kernel: TunableKernel, settings: Settings, run: Run, database: str | os.PathLike[str]
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


def _runner(
    executor: Executor,
    measure: Measure,
    deadline: float | None,
    progress: Callable[[int], None],
) -> Run:
    """Return a function that runs tasks on an executor until a deadline; `progress` gets the number
    of measurements."""
    numbers = count()
    progress(next(numbers))

    def run(tasks: Sequence[Task]) -> Iterator[tuple[Task, Measurement]]:
        running: dict[Future[Measurement], Task] = {}
        try:
            for task in tasks:
                running[executor.submit(measure, task)] = task
            while running:
                left = None if deadline is None else deadline - monotonic()
                done = wait(running, left, FIRST_COMPLETED).done
                if not done:
                    raise StoppedError("there is no time left")
                results = [(future, _result_of(future)) for future in done]
                results.sort(key=lambda pair: isinstance(pair[1], BaseException))
                for future, result in results:  # what was measured is kept
                    progress(next(numbers))
                    if isinstance(result, BaseException):
                        raise result
                    yield running.pop(future), result
        finally:
            for future in running:
                future.cancel()

    return run


def _result_of(future: Future[Measurement]) -> Measurement | BaseException:
    """Return the measurement of a future that is done, or an error that ends the search.

    An error that says something about the task alone is a measurement, too.
    """
    if future.cancelled():
        return Measurement(error="the executor cancelled it")
    if (error := future.exception()) is None:
        return future.result()
    if isinstance(error, Exception) and not isinstance(error, BrokenExecutor):
        return Measurement(error=f"{type(error).__name__}: {error}")
    return error
