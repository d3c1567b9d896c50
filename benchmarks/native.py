"""The speed of machine code: kernels, and the nine real models of the onnx package with seeded
weights, beside numpy and onnxruntime in the same process.

    make bench-native [MODEL ...]        # installs onnxruntime; needs mlir-opt

One thread each. Times are in milliseconds, the best of several runs, in which ours and the peers
take turns; a ratio is the peer's time divided by ours. `-O0` is without optimization, so without
fusion; `numpy` is the numpy semantics of the -O3 module; `ORT` is onnxruntime with all its
optimizations; `compile` is the time from the ONNX model to machine code, in seconds. The kernels
are matrix products, beside numpy's, and the four most frequent convolutions of ResNet-50 with bias
and relu, beside onnxruntime's.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import gc
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from kernel import Kernel, KernelModel, kernel
from rich.console import Console
from rich.table import Table
from shapes import RELU, conv, kernels_of
from timing import Array, compiled, milliseconds, optimized, session, table_of

from passline.dialects.target import Target, host
from passline.interpreters.interpret import interpret
from passline.interpreters.signature import entry_function

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.seeded import NAMES, random_input, seeded

# Kernels


def commonest_convolutions(count: int) -> list[tuple[int, Kernel]]:
    """Return the `count` most frequent convolutions of ResNet-50, with bias and relu, each with the
    number of its occurrences."""
    found = [k.nodes[0] for k in kernels_of("resnet50") if k.nodes[0].op == "Conv"]
    keys = [(*node.operands, node.attributes["strides"][0]) for node in found]
    return [
        (n, conv("resnet50", data, weight.shape, stride, RELU))
        for (data, weight, stride), n in Counter(keys).most_common(count)
    ]


def time_kernels(target: Target) -> Table:
    table = table_of("kernels", "kernel", "ours", "GFLOP/s", "peer", "ratio")

    def add(name: str, model: KernelModel, peer: Callable[[], Array]) -> None:
        arrays = [*model.inputs.values()]
        function = compiled(optimized(model.proto, 3), target)
        (result,) = function(*arrays)
        np.testing.assert_allclose(result, peer(), atol=1e-3)
        mine, other = milliseconds(lambda: function(*arrays), peer, rounds=15, seconds=1)
        rate = f"{(model.flops(result) or 0) / mine / 1e6:.0f}"
        table.add_row(name, f"{mine:.3f}", rate, f"{other:.3f}", f"{other / mine:.2f} x")

    for n in (256, 512, 1024):
        model = KernelModel(kernel("square", "MatMul", (n, n), (n, n)))
        a, b = model.inputs.values()
        add(f"matmul {n}, beside numpy", model, lambda: a @ b)
    for count, found in commonest_convolutions(4):
        model = KernelModel(found)
        peer = session(model.proto, model.inputs)
        add(f"{found.name}, {count} of 53, beside ORT", model, lambda: peer()[0])
    return table


# Models


def time_models(names: Sequence[str], target: Target) -> Table:
    columns = ("compile", "-O3", "-O0", "fused", "numpy", "beside numpy", "ORT", "beside ORT")
    table = table_of("models", "model", *columns, "error")
    for name in names:
        table.add_row(name, *time_model(name, target))
        gc.collect()
    return table


def time_model(name: str, target: Target) -> list[str]:
    """Return the row of a model in the table."""
    model = seeded(name, 0)
    inputs = random_input(model, 0)
    arrays = [*inputs.values()]
    start = perf_counter()
    fused = optimized(model, 3)
    function = compiled(fused, target)
    seconds = perf_counter() - start
    plain = compiled(optimized(model, 0), target)
    by_numpy = interpret(fused, entry_function(fused, "main"))
    peer = session(model, inputs)
    expected = peer()[-1]
    error = np.abs(function(*arrays)[-1] - expected).max() / expected.std()
    assert error < 1e-4, f"{name} is {error} standard deviations off"
    mine, unfused, other = milliseconds(
        lambda: function(*arrays), lambda: plain(*arrays), peer, rounds=9
    )
    (numpy,) = milliseconds(lambda: by_numpy(*arrays), rounds=3)
    return [
        f"{seconds:.1f} s",
        f"{mine:.1f}",
        f"{unfused:.1f}",
        f"{unfused / mine:.2f} x",
        f"{numpy:.1f}",
        f"{numpy / mine:.2f} x",
        f"{other:.1f}",
        f"{other / mine:.2f} x",
        f"{error:.1e}",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="MODEL", help=", ".join(NAMES))
    parser.add_argument("--no-kernels", action="store_true", help="time the models only")
    help = "the processor to compile for, by default this machine"
    parser.add_argument("--target", type=Target.parse, default=host(), help=help)
    args = parser.parse_args()
    gc.set_threshold(100_000, 20, 100)
    console = Console(width=130)
    if not args.no_kernels:
        console.print(time_kernels(args.target))
    console.print(time_models(args.names or [*NAMES], args.target))
