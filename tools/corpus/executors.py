"""Executors for many inputs, processes or a Dask cluster; the death of a worker is survived."""

from __future__ import annotations

import dataclasses
import io
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.errors import PasslineError
from ...passmanager.ir.walk import walk
from ...passmanager.output.files import replace_file
from ..failures import report
from .outcome import InputOutcome


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


# The work on one input, in whatever process an executor runs it.


class Sizes:
    """The sizes of the modules of one input, before and after the pipeline, added up."""

    def __init__(self) -> None:
        self.before: int | None = None
        self.after: int | None = None
        self.kernels: int | None = None

    def add_input(self, module: ModuleOp) -> None:
        """Count the operations of a module before the pipeline."""
        self.before = (self.before or 0) + sum(1 for _ in walk(module))

    def add_result(self, module: ModuleOp) -> None:
        """Count the operations and the kernels of a module after the pipeline."""
        self.after = (self.after or 0) + sum(1 for _ in walk(module))
        kernels = sum(
            op.name == "tir.prim_func" or "relax.primitive" in op.attributes for op in module.ops
        )
        self.kernels = (self.kernels or 0) + kernels


class RunnableTool(Protocol):
    """A tool that was made from arguments, such as PasslineOptMain."""

    sizes: Sizes | None

    def run(self) -> None: ...


class ToolClass(Protocol):
    """The class of a tool, which a worker imports by its name."""

    def __call__(self, *, args: Sequence[str]) -> RunnableTool: ...


@dataclass(frozen=True)
class Job:
    """One input: the tool, its options, the paths of input and result, and the key of both."""

    tool: ToolClass
    options: tuple[str, ...]
    path: str
    """The path as the user gave it."""
    source: str
    """The path that the worker opens."""
    out_dir: str | None
    output: str
    key: str


def digest_of(path: Path) -> str:
    """Return the hash of a file; an empty text if there is none."""
    if not path.is_file():
        return ""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_ONE_AT_A_TIME = threading.Lock()
"""Held while an input is run: an executor of threads shares sys.stderr and the current context."""


def run_job(job: Job) -> InputOutcome:
    """Run the tool on one input and return the outcome; the result replaces its file in one step.

    What the tool says goes to a file beside the result.
    """
    said, sizes = io.StringIO(), Sizes()
    result = None if job.out_dir is None else Path(job.out_dir, job.output)
    with _ONE_AT_A_TIME:
        start = perf_counter()
        with redirect_stderr(said), redirect_stdout(said):
            status = _run_tool(job, result, sizes)
        seconds = perf_counter() - start
    text = said.getvalue()
    outcome = InputOutcome(
        job.path,
        "failed" if status else "ok",
        status,
        seconds,
        sizes.before,
        sizes.after,
        sizes.kernels,
        key=job.key,
        message=_first_error(text) if status else "",
    )
    if result is None:
        return outcome
    log = result.with_name(f"{result.name}.log")
    if text:
        replace_file(log, [text])
    else:
        log.unlink(missing_ok=True)
    if status or not result.is_file():  # with --no-print there is no result
        return outcome
    return dataclasses.replace(outcome, output=job.output, digest=digest_of(result))


def _run_tool(job: Job, result: Path | None, sizes: Sizes) -> int:
    """Run the tool and return its exit status."""
    try:
        if result is not None:
            result.parent.mkdir(parents=True, exist_ok=True)
        where = ["--no-print"] if result is None else ["-o", str(result)]
        tool = job.tool(args=[*job.options, *where, job.source])
        tool.sizes = sizes
        tool.run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except Exception as error:
        return report(error)
    return 0


def _first_error(text: str) -> str:
    """Return the first line with an error, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if "error:" in line), lines[0] if lines else "failed")
    return found.removeprefix("error: ")
