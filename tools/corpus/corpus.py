"""Runs of a pipeline on many inputs: `passline.corpus.map(pipeline, paths, executor)`.

The command is `passline-opt --out-dir DIR a.mlir b.onnx`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path

from xdsl.passes import ModulePass

from ... import __version__
from ...passmanager.pipeline import parse_pipeline, pipeline_text
from ..opt import PasslineOptMain
from .jobs import Manifest, make_jobs, run_jobs
from .outcome import InputOutcome

__all__ = ["InputOutcome", "map"]


def map(
    pipeline: str | ModulePass,
    paths: Iterable[str | os.PathLike[str]],
    executor: Executor | None = None,
    *,
    out_dir: str | os.PathLike[str] | None = None,
    force: bool = False,
    workers: int | None = None,
) -> Iterator[InputOutcome]:
    """Run a pipeline on many files of IR and ONNX models and yield the outcome of each, in the
    order of completion.

    `executor` is any executor of `concurrent.futures`; without one, `workers` processes of this
    machine are started, and the death of one loses no other input. With `out_dir` the results are
    written there, and what an earlier run has finished is not done again, unless `force`. The
    passes of the pipeline are found by their names in the workers: they are built in, or those of
    an installed plugin.

    Errors: PipelineSyntaxError for a mistake in the pipeline; PasslineError for two inputs whose
    results would have one name. An input that fails raises nothing: its outcome says why.
    """
    text = pipeline if isinstance(pipeline, str) else pipeline_text(pipeline)
    parse_pipeline(text)
    directory = None if out_dir is None else str(Path(out_dir))
    names = [os.fspath(path) for path in paths]
    options = ("-p", text) if text else ()
    elsewhere = executor is not None
    given = make_jobs(PasslineOptMain, options, names, directory, __version__, elsewhere=elsewhere)
    jobs = list(given) if names else []
    manifest = None if directory is None else Manifest(Path(directory))
    number = workers or os.cpu_count() or 1
    return run_jobs(jobs, executor, number, manifest, force, PasslineOptMain.prepare_process)
