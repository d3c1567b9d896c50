"""The time that the nine real models of the onnx package take from the loaded ONNX model to the
fused module of -O3, beside TVM and onnxruntime.

    make bench-models [MODEL ...]        # installs apache-tvm and onnxruntime

Times are in milliseconds. `warm` is the best of several runs in this process, without verification
after each pass, which the peers do not do either; `verified` is with it, the default. `cold` is the
first run in a new process, with its imports. The garbage collector is set as in passline-opt. `ORT
session` is the creation of an onnxruntime session with all optimizations; it also selects kernels
and packs weights, and does not give a module, so the two are not like for like. `TVM` is the time
of its passes FoldConstant and FuseOps alone, in a single run, as it takes seconds.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import onnx
from rich.console import Console
from rich.table import Table
from table.rows import Case, Pair, Scope, Unavailable, once, timed
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.frontends.onnx import import_model
from passline.passes import OPTIMIZE
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.models.kernels import count_kernels
from support.models.seeded import NAMES, light_path

ROUNDS = 7


def optimized(model: onnx.ModelProto, verify_each: bool = False) -> ModuleOp:
    """Import and optimize a model; return the fused module."""
    module = import_model(model)
    with PassContext(opt_level=3, verify_each=verify_each):
        parse_pipeline(",".join(OPTIMIZE)).apply(None, module)
    return module


def milliseconds(function: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the best time of several runs."""
    times: list[float] = []
    for _ in range(rounds):
        gc.collect()
        start = perf_counter()
        function()
        times.append(1000 * (perf_counter() - start))
    return min(times)


def cold(name: str) -> float:
    """Time the first run in a new process, with its imports except onnx."""
    done = subprocess.run(
        [sys.executable, __file__, "--cold", name], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def session(model: onnx.ModelProto) -> Callable[[], object] | None:
    """Return a function that creates an onnxruntime session, or None if it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    content, options = model.SerializeToString(), onnxruntime.SessionOptions()
    options.log_severity_level = 3
    providers = ["CPUExecutionProvider"]
    return lambda: onnxruntime.InferenceSession(content, options, providers=providers)


def tvm_seconds(model: onnx.ModelProto) -> float | None:
    """Time TVM's FoldConstant and FuseOps; None if TVM is not installed."""
    try:
        from tvm import relax, transform
        from tvm.relax.frontend.onnx import from_onnx
        from tvm.target import Target
    except ImportError:
        return None
    before = [relax.transform.Normalize(), relax.transform.DecomposeOpsForInference()]
    between = [
        relax.transform.EliminateCommonSubexpr(),
        relax.transform.DeadCodeElimination(),
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
    ]
    seconds = 0.0
    with Target("llvm"), transform.PassContext(opt_level=3):
        module = transform.Sequential(before)(from_onnx(model))
        for pass_, more in (
            (relax.transform.FoldConstant(), between),
            (relax.transform.FuseOps(), []),
        ):
            start = perf_counter()
            module = pass_(module)
            seconds += perf_counter() - start
            module = transform.Sequential(more)(module)
    return seconds


def pair_of(name: str) -> Pair:
    """Return the import and optimization of a model, and the creation of a session."""
    model = onnx.load(light_path(name))
    if (peer := session(model)) is None:
        raise Unavailable("onnxruntime is not installed")
    runs = (partial(optimized, model), peer)
    for run in runs:
        run()  # imports
    # The wall clock: onnxruntime has threads, which may wait for each other.
    return Pair(*(timed(once(run), perf_counter) for run in runs), ops=len(model.graph.node))


def cases(scope: Scope) -> Iterator[Case]:
    """Yield a case for each model, in the table of `make bench`."""
    for name in NAMES:
        prepare = partial(pair_of, name)
        yield Case("model", f"{name}, import and -O3", "session", prepare)


def main(names: list[str], with_tvm: bool) -> None:
    measured = ("cold", "warm", "verified", "ORT session", "TVM", "TVM / warm")
    table = Table("model", "nodes", "kernels", *measured)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in names:
        model = onnx.load(light_path(name))
        warm = milliseconds(lambda: optimized(model))
        peer = session(model)
        tvm = tvm_seconds(model) if with_tvm else None
        table.add_row(
            name,
            str(len(model.graph.node)),
            str(count_kernels(optimized(model))),
            f"{cold(name):.0f}",
            f"{warm:.1f}",
            f"{milliseconds(lambda: optimized(model, verify_each=True)):.1f}",
            "" if peer is None else f"{milliseconds(peer):.1f}",
            "" if tvm is None else f"{1000 * tvm:.0f}",
            "" if tvm is None else f"{1000 * tvm / warm:.0f} x",
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="MODEL", help=", ".join(NAMES))
    parser.add_argument("--no-tvm", action="store_true", help="do not time TVM")
    parser.add_argument("--cold", metavar="MODEL", help=argparse.SUPPRESS)
    args = parser.parse_args()
    gc.set_threshold(100_000, 20, 100)
    if args.cold:
        loaded = onnx.load(light_path(args.cold))
        print(milliseconds(lambda: optimized(loaded), 1))
    else:
        main(args.names or [*NAMES], not args.no_tvm)
