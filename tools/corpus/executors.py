"""Executors for many inputs, processes or a Dask cluster; the death of a worker is survived."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar, cast

from ...passmanager.errors import PasslineError

__all__ = ["cancelling", "named_executor", "process_pool", "run_all", "run_on"]


def process_pool(workers: int, initializer: Callable[[], None] | None = None) -> Executor:
    """Return an executor of new processes, which inherit nothing of this one but its `sys.path`.

    They are not forked from this process, which may have threads, and end when it ends.
    """
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if has_server else "spawn")
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_prepare, initargs=(initializer,)
    )


def _prepare(initializer: Callable[[], None] | None) -> None:
    """Prepare a worker process: an interrupt ends it without a traceback, and so does the end of
    its parent, for which a worker that waits for a job would wait forever."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    if initializer is not None:
        initializer()


def named_executor(name: str) -> AbstractContextManager[Executor] | None:
    """Return the executor that --executor names; None for processes of this machine.

    PasslineError for another name than `processes` and `dask:ADDRESS`.
    """
    kind, colon, address = name.partition(":")
    if name != "processes" and not (kind == "dask" and colon):
        raise PasslineError(f"--executor={name}: expected processes or dask:ADDRESS")
    return dask_executor(address) if colon else None


@contextmanager
def dask_executor(address: str) -> Generator[Executor]:
    """Connect to the Dask cluster whose scheduler has this address, and return its executor.

    PasslineError if there is no scheduler.
    """
    from distributed import Client  # pyright: ignore

    try:
        client = Client(address)  # pyright: ignore
    except (OSError, ValueError) as error:
        raise PasslineError(f"--executor=dask:{address}: {error}") from None
    with client:  # pyright: ignore
        yield cast(Executor, client.get_executor(pure=False))  # pyright: ignore


JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


def run_on(
    executor: Executor,
    function: Callable[[JobT], ResultT],
    jobs: deque[JobT],
    window: int,
) -> Iterator[tuple[JobT, ResultT | Exception]]:
    """Yield each job with the result or the exception of `function`, in the order of completion.

    At most `window` jobs are submitted at a time, and these are taken from `jobs`. A broken
    executor ends the iteration: its exception is yielded for each job that it lost.
    """
    running: dict[Future[ResultT], JobT] = {}
    broken = False
    while running or (jobs and not broken):
        while jobs and not broken and len(running) < window:
            try:
                future = executor.submit(function, jobs[0])
            except BrokenExecutor:
                broken = True
            else:
                running[future] = jobs.popleft()
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            error = _error_of(future)
            broken |= isinstance(error, BrokenExecutor)
            if error is not None and not isinstance(error, Exception):
                raise error
            yield running.pop(future), future.result() if error is None else error


def _error_of(future: Future[ResultT]) -> BaseException | None:
    """Return the exception of a future that is done; one that was cancelled lost its executor."""
    try:
        return future.exception()
    except CancelledError:
        return BrokenExecutor("not run: the executor cancelled it")


def run_all(
    make_executor: Callable[[int], Executor],
    function: Callable[[JobT], ResultT],
    jobs: Iterable[JobT],
    workers: int,
) -> Iterator[tuple[JobT, ResultT | Exception]]:
    """Yield each job with the result or the exception of `function`, in the order of completion.

    When a worker process dies, its executor breaks as a whole and does not tell on which job. Each
    job that was lost is then run alone; if it breaks an executor again, it is the one to blame, and
    its result is a BrokenExecutor. All others go on in a new executor.
    """
    pending = deque(jobs)
    while pending:
        suspects: deque[JobT] = deque()
        with cancelling(make_executor(min(workers, len(pending)))) as executor:
            for job, result in run_on(executor, function, pending, workers + 1):
                if isinstance(result, BrokenExecutor):
                    suspects.append(job)
                else:
                    yield job, result
        while suspects:  # each one alone, in one executor up to the first that breaks it
            with cancelling(make_executor(1)) as executor:
                yield from run_on(executor, function, suspects, 1)


@contextmanager
def cancelling(executor: Executor) -> Generator[Executor]:
    """Return an executor for the block; after an exception its waiting jobs are cancelled."""
    try:
        yield executor
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()
