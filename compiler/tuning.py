"""The tuning of the kernels of modules."""

from __future__ import annotations

import os
from concurrent.futures import Executor

from ..dialects.target import Target
from ..passes.relax.legalize_ops import LegalizeOps
from ..passes.tir.bind_target import BindTarget
from ..passmanager.context import PassContext
from .execution import optimize_with, parse_processor
from .source import Source, load
from .tune.module_tuning import Tuning, TuningOutcome, tune_module, tuned_target
from .tune.search import Settings

__all__ = ["Tuning", "TuningOutcome", "tune"]


def tune(
    source: Source,
    database: str | os.PathLike[str],
    *,
    level: int | None = 3,
    target: str | Target | None = None,
    trials: int = 32,
    time_limit: float | None = None,
    executor: Executor | None = None,
    seed: int = 0,
    again: bool = False,
) -> Tuning:
    """Measure schedules for the kernels of a module, and keep the fastest in a file.

    The module is optimized at `level` first, unless it is None; it does not change. For each
    distinct kernel, `trials` candidates are compiled, checked against the semantics of the
    operations and measured, by `executor`: any of `concurrent.futures`, or that of a Dask client.
    By default they are measured one after the other on this machine. The results are in `database`
    as soon as a kernel is done, and `legalize-ops` reads them from there:

        passline.tune("model.onnx", "tuning.jsonl")
        with passline.PassContext(config={"legalize-ops": {"database": "tuning.jsonl"}}):
            function = passline.compile("model.onnx")

    Kernels that the database has are skipped, unless `again`. After `time_limit` seconds the search
    ends. Errors: PasslineError as of `compile`.
    """
    processor = tuned_target(parse_processor(target))
    module = load(source)
    if level is not None:
        module = optimize_with([BindTarget(str(processor))], module, level)
    legalize = PassContext.current().config.apply(LegalizeOps(), LegalizeOps.name)
    assert isinstance(legalize, LegalizeOps)
    settings = Settings(
        trials, seed=seed, time_limit=time_limit, again=again, winograd=legalize.winograd
    )
    return tune_module(module, database, processor, settings, executor=executor)
