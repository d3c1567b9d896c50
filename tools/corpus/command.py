"""`passline-opt --out-dir`: the progress, the failures and the table of many inputs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from .executors import named_executor
from .manifest import Manifest
from .outcome import InputOutcome
from .run import make_jobs, run_jobs
from .table import summary, table_of, write_table
from .worker import ToolClass

__all__ = ["run_corpus"]


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
