"""The run on many inputs: what is done already, the progress, the failures and the table."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from glob import escape
from pathlib import Path

from ...passmanager.errors import PasslineError
from ...passmanager.releases.release import xdsl_version
from ..failures import BAD_INPUT
from .executors import (
    Job,
    ToolClass,
    digest_of,
    named_executor,
    process_pool,
    run_all,
    run_job,
    run_on,
)
from .outcome import InputOutcome, summary, table_of, write_table

# The record of the inputs that are done, in the output directory, by which a run is resumed.


def job_key(path: Path, options: Sequence[str], version: str) -> str:
    """Return the hash of an input with its external data, the options, and the versions of
    Passline and xDSL."""
    content = path.read_bytes()
    key = hashlib.sha256(content)
    for name in external_data(content) if path.suffix == ".onnx" else ():
        key.update(f"\0{name}:{digest_of(path.parent / name)}".encode())
    for part in (path.suffix, version, xdsl_version(), *options):
        key.update(f"\0{len(part)}:{part}".encode())
    return key.hexdigest()


_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]?)([\x01-\x7f])", re.DOTALL)
"""The key `location` of an external tensor in protobuf's encoding, and its length, base 128."""


def external_data(model: bytes) -> list[str]:
    """Return the names of the files in which an ONNX model keeps tensors, without parsing it."""
    names: set[str] = set()
    for found in _LOCATION.finditer(model):
        low, high = found.groups()
        length = (low[0] & 0x7F | high[0] << 7) if low else high[0]
        names.add(model[found.end() : found.end() + length].decode(errors="replace"))
    return sorted(name for name in names if "\0" not in name)


class Manifest:
    """The file `manifest.jsonl`, with one line for each outcome; the last line on a result counts.

    A line is added when an input is done; one that was cut off by a crash is ignored.
    """

    def __init__(self, out_dir: Path) -> None:
        out_dir.mkdir(parents=True, exist_ok=True)
        self._out_dir = out_dir
        self._path = out_dir / "manifest.jsonl"
        self._done: dict[tuple[str, str], InputOutcome] = {}
        for line in self._lines():
            try:
                outcome = InputOutcome.from_json(line)
            except (TypeError, ValueError):
                continue
            self._done[outcome.key, outcome.output or ""] = outcome

    def _lines(self) -> list[str]:
        if not self._path.exists():
            return []
        return self._path.read_text(encoding="utf-8", errors="replace").splitlines()

    def find(self, key: str, output: str) -> InputOutcome | None:
        """Return the outcome of an input that succeeded and whose result is still as it was."""
        for name in (output, ""):  # with --no-print there is no result
            found = self._done.get((key, name))
            if found is not None and found.status == "ok":
                unchanged = not name or digest_of(self._out_dir / name) == found.digest
                return found if unchanged else None
        return None

    def add(self, outcome: InputOutcome) -> None:
        """Add an outcome to the file."""
        with self._path.open("a+b") as file:
            if file.tell() and not self._ends_with_newline():
                file.write(b"\n")
            file.write(f"{outcome.to_json()}\n".encode())

    def _ends_with_newline(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read() == b"\n"


# The run of a pipeline on many inputs.


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


# `passline-opt --out-dir`: the progress, the failures and the table of many inputs.


def run_corpus(
    tool: ToolClass,
    args: argparse.Namespace,
    options: Sequence[str],
    inputs: Sequence[str],
    version: str,
    initializer: Callable[[], None] | None = None,
) -> int:
    """Run a tool on many inputs as `args` ask for; return the worst exit status of all."""
    read = [args.config_file, *args.load] if args.config_file else args.load
    extra = [Path(name).read_text() for name in read]
    elsewhere = args.executor != "processes"
    jobs = list(make_jobs(tool, options, inputs, args.out_dir, version, extra, elsewhere=elsewhere))
    manifest = Manifest(Path(args.out_dir))
    workers = args.jobs or os.cpu_count() or 1
    with named_executor(args.executor) or nullcontext() as executor:
        running = run_jobs(jobs, executor, workers, manifest, args.force, initializer)
        shown = _with_progress(running, len(jobs), not args.quiet and sys.stderr.isatty())
        outcomes = sorted(shown, key=lambda outcome: outcome.path)
    if args.table:
        write_table(args.table, outcomes)
    _print_table(outcomes)
    return max((outcome.exit_status for outcome in outcomes), default=0)


def _with_progress(
    outcomes: Iterable[InputOutcome], total: int, visible: bool
) -> Iterator[InputOutcome]:
    """Yield the outcomes; print a line for each failure, and show a bar if `visible`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not visible) as progress:
        task = progress.add_task("", total=total)
        for outcome in outcomes:
            if outcome.status != "ok":
                # soft_wrap, so that a path stays in one piece.
                console.print(_failure(outcome), soft_wrap=True, markup=False, highlight=False)
            progress.advance(task)
            yield outcome


def _failure(outcome: InputOutcome) -> str:
    """Return the line for an input that failed; most messages begin with its place in the input."""
    if outcome.message.startswith(f"{outcome.path}:"):
        return outcome.message
    return f"error: '{outcome.path}' {outcome.status}: {outcome.message}"


def _print_table(outcomes: Sequence[InputOutcome]) -> None:
    """Print the table and the summary on stdout."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    table = table_of(outcomes)
    with console.capture() as capture:  # rich would end the process if the pipe is closed
        if table.row_count:
            console.print(table)
        console.print(summary(outcomes))
    sys.stdout.write(capture.get())
