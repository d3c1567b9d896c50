"""Timing of machine code and of onnxruntime, with as many threads, in the same process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, sleep
from typing import Any, TypeAlias, cast

import onnx
import onnxruntime
from numpy.typing import NDArray
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.frontends.onnx import import_model
from passline.compiler.native import NativeFunction, compile_module
from passline.dialects.target import Target, host, set_target
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline

__all__ = ["IDLE", "Array", "Run", "compiled", "milliseconds", "optimized", "session", "table_of"]

Array: TypeAlias = NDArray[Any]
Run: TypeAlias = Callable[[], object]


def optimized(
    model: onnx.ModelProto,
    level: int = 3,
    target: Target | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> ModuleOp:
    """Import a model with `shapes` and optimize it for `target`, by default the host."""
    module = import_model(model, shapes=shapes)
    set_target(module, target or host())
    with PassContext(opt_level=level, verify_each=False):
        parse_pipeline("optimize").apply(None, module)
    return module


def compiled(module: ModuleOp, target: Target | None = None, threads: int = 1) -> NativeFunction:
    """Compile `@main` of an optimized module to machine code for `target`, by default the host."""
    with PassContext(opt_level=3, verify_each=False):
        return compile_module(module, target=target, threads=threads)


def session(
    model: onnx.ModelProto, inputs: Mapping[str, Array], threads: int = 1
) -> Callable[[], list[Array]]:
    """Return a function that runs a model in onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    content = model.SerializeToString()
    made = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return lambda: cast(list[Array], made.run(None, dict(inputs)))


IDLE = 0.3
"""The seconds after which threads that wait for more work have gone to sleep: those of LLVM's
OpenMP run for 0.2 s, and would take the time of the next function."""


def milliseconds(
    *runs: Run, rounds: int = 7, seconds: float = 0.2, pause: float = 0
) -> list[float]:
    """Return the best time of each function; they take turns, with a pause of `pause` seconds
    before, and short ones are repeated in each turn, for `seconds` in all rounds together."""
    best: list[float] = []
    repeats: list[int] = []
    for run in runs:
        run()  # the first run touches its memory
        start = perf_counter()
        run()
        once = perf_counter() - start
        repeats.append(max(1, min(200, int(seconds / rounds / max(once, 1e-6)))))
        best.append(float("inf"))
    for _ in range(rounds):
        for i, (run, repeat) in enumerate(zip(runs, repeats, strict=True)):
            if pause:
                sleep(pause)
                run()
            start = perf_counter()
            for _ in range(repeat):
                run()
            best[i] = min(best[i], 1000 * (perf_counter() - start) / repeat)
    return best


def table_of(title: str, *columns: str) -> Table:
    """Return an empty table; the columns after the first are numbers."""
    table = Table(*columns, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    return table
