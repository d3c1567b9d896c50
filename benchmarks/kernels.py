"""The speed of single kernels beside onnxruntime, one thread each, in one process, taking turns.

    make bench-kernels [FILTER=depthwise]       # installs onnxruntime
    python benchmarks/kernels.py [FILTER ...] [--csv FILE] [--json FILE]

A row is an ONNX node of a known model, or a few that are fused, with its weights as constants. Each
result is compared with onnxruntime's before it is timed. Times are in milliseconds, the best of
several runs; a ratio is onnxruntime's time divided by ours; the worst come first. The rate is that
of our code: GFLOP/s of products and convolutions, else GB/s, where each input, constant and result
counts once. The times have the call from Python in them, which `call overhead` shows. `compile` is
the time from the ONNX model to machine code.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from machine_code.kernel import Kernel, KernelModel
from machine_code.known_kernels import all_kernels
from machine_code.timing import Array, compiled, milliseconds, optimized, session, table_of
from rich.console import Console
from rich.progress import track

from passline.dialects.target import Target, host

TOLERANCE = 1e-4
"""The maximum difference from onnxruntime's result, in standard deviations of that."""
SLOW = 0.8


@dataclass(frozen=True)
class Row:
    """The measurement of a kernel: times in milliseconds, that of the compilation in seconds."""

    name: str
    source: str
    ours: float
    ort: float
    ratio: float
    rate: float
    unit: str
    error: float
    compilation: float


def measure(kernel: Kernel, target: Target) -> Row:
    """Time a kernel; ValueError if its result is not that of onnxruntime."""
    model = KernelModel(kernel)
    arrays = [*model.inputs.values()]
    peer = session(model.proto, model.inputs)
    (expected,) = peer()
    start = perf_counter()
    function = compiled(optimized(model.proto, 3, target), target)
    seconds = perf_counter() - start
    (result,) = function(*arrays)
    error = difference(result, expected)
    if not error < TOLERANCE:
        raise ValueError(f"the result is {error:.1e} standard deviations off")
    ours, ort = milliseconds(lambda: function(*arrays), peer, rounds=5, seconds=0.1)
    flops = model.flops(result)
    amount, unit = (model.traffic(result), "GB/s") if flops is None else (flops, "GFLOP/s")
    rate = amount / ours / 1e6
    times = ours, ort, ort / ours
    return Row(kernel.name, kernel.source, *times, rate, unit, error, seconds)


def difference(result: Array, expected: Array) -> float:
    """Return the maximum difference, in standard deviations or relative to a single number."""
    if result.shape != expected.shape:
        raise ValueError(f"the result has shape {result.shape}, expected {expected.shape}")
    deviation = float(expected.std()) if expected.size > 1 else abs(expected.item())
    return float(np.abs(result.astype(np.float64) - expected).max() / deviation)


def measure_all(kernels: Iterable[Kernel], target: Target) -> tuple[list[Row], dict[str, str]]:
    """Return the rows, the worst ratio first, and the kernels that failed with their errors."""
    rows: list[Row] = []
    failed: dict[str, str] = {}
    progress = Console(stderr=True)
    for kernel in track([*kernels], "kernels", console=progress, transient=True):
        # A compiler under work may fail in any way, which must not end the run.
        try:
            rows.append(measure(kernel, target))
        except Exception as error:
            lines = [*str(error).splitlines(), ""]
            failed[f"{kernel.source}: {kernel.name}"] = f"{type(error).__name__}: {lines[0]}"
        gc.collect()
    return sorted(rows, key=lambda row: row.ratio), failed


def show(rows: Sequence[Row], failed: dict[str, str], console: Console) -> None:
    for name, text in failed.items():
        console.print(f"FAILED {name}\n    {text}", markup=False, highlight=False)
    table = table_of("kernels", "kernel", "ours", "ORT", "ratio", "rate", "", "compile")
    table.columns[5].justify = "left"
    for row in rows:
        numbers = (f"{row.ours:.4f}", f"{row.ort:.4f}", f"{row.ratio:.2f} x", f"{row.rate:.1f}")
        table.add_row(f"{row.source}: {row.name}", *numbers, row.unit, f"{row.compilation:.1f} s")
    console.print(table)
    if rows:
        slow = sum(row.ratio < SLOW for row in rows)
        mean = float(np.exp(np.mean(np.log([row.ratio for row in rows]))))
        console.print(
            f"{len(rows)} kernels, {len(failed)} failed; {slow} below {SLOW} x; "
            f"geometric mean {mean:.2f} x"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="a part of a row's name")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the rows to a CSV file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows and failures")
    parser.add_argument("--list", action="store_true", help="print the names only")
    help = "the processor to compile for, by default this machine"
    parser.add_argument("--target", type=Target, default=host(), help=help)
    args = parser.parse_args()
    kernels = [k for k in all_kernels() if selected(f"{k.source}: {k.name}", args.filters)]
    if args.list:
        print(*(f"{k.source}: {k.name}" for k in kernels), sep="\n")
        return
    gc.set_threshold(100_000, 20, 100)
    rows, failed = measure_all(kernels, args.target)
    show(rows, failed, Console(width=140))
    dicts = [asdict(row) for row in rows]
    if args.csv:
        with args.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*Row.__dataclass_fields__])
            writer.writeheader()
            writer.writerows(dicts)
    if args.json:
        args.json.write_text(json.dumps({"rows": dicts, "failed": failed}, indent=1))


def selected(name: str, filters: Sequence[str]) -> bool:
    """Return whether a name contains one of the filters, in any case, or there are none."""
    return not filters or any(part.lower() in name.lower() for part in filters)


if __name__ == "__main__":
    main()
