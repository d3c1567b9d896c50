"""The run of a pipeline on many inputs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import replace
from functools import partial
from glob import escape
from pathlib import Path

from ...passmanager.errors import PasslineError
from ..diagnostics.failures import BAD_INPUT
from .executors import process_pool, run_all, run_on
from .manifest import Manifest, job_key
from .outcome import InputOutcome
from .worker import Job, ToolClass, run_job

__all__ = ["CRASHED", "make_jobs", "result_names", "run_jobs"]

CRASHED = 3
"""The exit status for an input whose process ended."""

WINDOW = 1024
"""The most jobs that an executor whose size is not known is given at a time."""


def result_names(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of the result for each input: its path below the directory that all inputs
    share, with `.mlir` after the name of a file that is not IR.

    PasslineError for two inputs with one name.
    """
    unique = {os.path.realpath(path): path for path in paths}
    parent = os.path.commonpath([os.path.dirname(path) for path in unique])
    names: dict[str, str] = {}
    for real, path in unique.items():
        name = os.path.relpath(real, parent)
        name = name if name.endswith(".mlir") else f"{name}.mlir"
        if (other := names.setdefault(name, path)) != path:
            raise PasslineError(f"the results of '{other}' and '{path}' would both be '{name}'")
    return {path: name for name, path in names.items()}


def make_jobs(
    tool: ToolClass,
    options: Sequence[str],
    paths: Iterable[str],
    out_dir: str | None,
    version: str,
    extra: Sequence[str] = (),
    *,
    elsewhere: bool = False,
) -> Iterator[Job | InputOutcome]:
    """Yield the job for each input, or the outcome for one that cannot be read.

    `extra` are texts that the result depends on besides the options, as files that these name. With
    `elsewhere` the workers may have another current directory, and get absolute paths.
    """
    out = None if out_dir is None else os.path.abspath(out_dir)
    for path, name in result_names(paths).items():
        real = Path(path).absolute()
        if out is not None and os.path.realpath(real) == os.path.realpath(Path(out, name)):
            raise PasslineError(f"the result would replace the input '{path}'")
        try:
            key = job_key(real, [*options, *extra], version)
        except OSError as error:
            yield InputOutcome(path, "failed", BAD_INPUT, message=f"{error.strerror}")
            continue
        source = str(real) if elsewhere or path.startswith("-") else path
        yield Job(tool, tuple(options), path, source, out, name, key)


def run_jobs(
    jobs: Iterable[Job | InputOutcome],
    executor: Executor | None,
    workers: int,
    manifest: Manifest | None = None,
    force: bool = False,
    initializer: Callable[[], None] | None = None,
) -> Iterator[InputOutcome]:
    """Yield the outcomes, in the order of completion; each is in `manifest` before it is yielded.

    What the manifest has is not done again, unless `force`. Without an executor the jobs are run in
    `workers` processes of this machine.
    """
    pending: deque[Job] = deque()
    for job in jobs:
        if isinstance(job, InputOutcome):
            yield job
        elif manifest and not force and (done := manifest.find(job.key, job.output)) is not None:
            yield replace(done, path=job.path)  # the earlier run may have had another path to it
        else:
            pending.append(job)
    for job, result in _run(pending, executor, workers, initializer):
        outcome = result if isinstance(result, InputOutcome) else _lost(job, result)
        if manifest is not None:
            manifest.add(outcome)
        yield outcome


def _run(
    jobs: deque[Job],
    executor: Executor | None,
    workers: int,
    initializer: Callable[[], None] | None,
) -> Iterator[tuple[Job, InputOutcome | Exception]]:
    if executor is None:
        make = partial(process_pool, initializer=initializer)
        yield from run_all(make, run_job, jobs, workers)
        return
    yield from run_on(executor, run_job, jobs, WINDOW)
    for job in jobs:  # a broken executor of the caller cannot be started again
        yield job, BrokenExecutor("not run: the executor broke before")


def _lost(job: Job, error: Exception) -> InputOutcome:
    """Return the outcome of a job that gave none."""
    if job.out_dir is not None:
        result = Path(job.out_dir, job.output)
        for path in result.parent.glob(f".{escape(result.name)}.*"):  # which it left unfinished
            path.unlink(missing_ok=True)
    said = str(error).splitlines()[0] if str(error) else type(error).__name__
    if isinstance(error, BrokenExecutor) and "not run" not in said:
        said = "the process ended while this input ran"
    return InputOutcome(job.path, "crashed", CRASHED, message=said, key=job.key)
