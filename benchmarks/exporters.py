"""Models that exporters wrote: whether they are right, kernels and times, beside onnxruntime.

    make bench-exports [OPTIONS="--write --only sklearn"]     # installs the exporters

`right` counts the ways to run a model that agree with onnxruntime: -O0 and -O3 on numpy, and
machine code for the sizes of the inputs and, if the model leaves some unknown, for all sizes. Times
are in milliseconds, one thread each, the best of several runs in which both take turns, for the
sizes of the inputs; `compile` is from the ONNX model to machine code, in seconds of processor time.
What is not right is said on stderr. --write puts the table into docs/models.md; with --only, the
rows of the other models stay there.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import gc
import math
import re
import statistics
import sys
from pathlib import Path

from machine_code.timing import compiled, milliseconds, optimized, session
from onnxruntime.capi.onnxruntime_pybind11_state import Fail
from zoo import optimized_nodes, write_table

from passline.passmanager.errors import PasslineError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from exports.exported import WAYS, Exported, exported_models
from support.models.kernels import count_kernels

HEAD = (
    "| exported model | nodes | ORT | kernels | right | compile, s | ORT, ms | Passline, ms | |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
)


def right(model: Exported) -> str:
    """Return how many ways to run a model agree with onnxruntime, of how many."""
    ways = [*WAYS] if model.is_open else [*WAYS][:-1]
    count = 0
    for way in ways:
        try:
            difference = model.difference(WAYS[way](model))
        except PasslineError as error:
            difference, _, _ = str(error).partition("\n")
        count += not difference
        if difference:
            print(f"{model.name} ({way}): {difference}", file=sys.stderr)
    return f"{count}/{len(ways)}"


def times(model: Exported) -> tuple[int, float, float, float]:
    """Return the number of kernels, the seconds to compile, and the milliseconds that onnxruntime
    (not a number if it does not run the model) and machine code take. PasslineError if the model
    cannot be compiled."""
    start = processor_time()
    module = optimized(model.model, shapes=model.shapes)
    kernels = count_kernels(module)
    function = compiled(module)
    seconds = processor_time() - start
    arrays = [*model.arguments.values()]
    peers = [session(model.model, model.arguments)] if model.has_peer else []
    *others, mine = milliseconds(*peers, lambda: function(*arrays))
    return kernels, seconds, others[0] if others else math.nan, mine


def processor_time() -> float:
    """Return the processor time in seconds of this process and its forks."""
    return sum(os.times()[:4])


def peer_nodes(model: Exported) -> str:
    """Return the number of nodes that onnxruntime runs; "" if it refuses the model."""
    try:
        return str(optimized_nodes(model.path))
    except Fail as error:  # such as for a locale that the machine does not have
        print(f"{model.name}: onnxruntime: {error}", file=sys.stderr)
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/models.md")
    parser.add_argument("--only", default="", help="the models whose names match this expression")
    args = parser.parse_args()
    rows, ratios = list[str](), list[float]()
    for model in exported_models():
        if not re.search(args.only, model.name):
            continue
        cells = [model.name, str(len(model.model.graph.node)), peer_nodes(model)]
        try:
            kernels, seconds, other, mine = times(model)
            cells += [str(kernels), right(model), f"{seconds:.1f}"]
            if math.isnan(other):
                cells += ["", f"{mine:.3g}", ""]
            else:
                ratios.append(other / mine)
                cells += [f"{other:.3g}", f"{mine:.3g}", f"{other / mine:.2f} x"]
        except PasslineError as error:
            print(f"{model.name}: {str(error).strip()}", file=sys.stderr)
            cells += ["", right(model), "", "", "", ""]
        rows.append(f"| {' | '.join(cells)} |")
        print(rows[-1], flush=True)
        gc.collect()
    if ratios:
        slower = sum(ratio < 0.9 for ratio in ratios)
        print(f"median {statistics.median(ratios):.2f} x, {slower} of {len(ratios)} below 0.9 x")
    if args.write:
        write_table(HEAD, rows, keep=bool(args.only))


if __name__ == "__main__":
    main()
