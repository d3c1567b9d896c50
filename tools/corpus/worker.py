"""The work on one input, in whatever process an executor runs it."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.ir.walk import walk
from ...passmanager.output.files import replace_file
from ..diagnostics.failures import report
from .outcome import InputOutcome

__all__ = ["Job", "RunnableTool", "Sizes", "ToolClass", "digest_of", "run_job"]


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
