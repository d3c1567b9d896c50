"""The speed of machine code: kernels, the nine real models of the onnx package with seeded weights,
and transformers, beside numpy and onnxruntime in the same process.

    make bench-native [MODEL ...]        # installs onnxruntime

One thread each, and models with two threads beside that. Times are in milliseconds, the best of
several runs, in which ours and the peers take turns; a ratio is the peer's time divided by ours.
`-O0` is without optimization, so without fusion; `numpy` is the numpy semantics of the -O3 module;
`ORT` is onnxruntime with all its optimizations; `compile` is the time from the ONNX model to
machine code, in seconds. The kernels are matrix products, beside numpy's, and the four most
frequent convolutions of ResNet-50 with bias and relu, beside onnxruntime's.
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import gc
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import onnx
from machine_code.kernel import Kernel, KernelModel, kernel
from machine_code.known_kernels import RELU, conv, kernels_of
from machine_code.timing import IDLE, Array, compiled, milliseconds, optimized, session, table_of
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import NativeFunction
from passline.dialects.target import Target, host

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.models.kernels import count_kernels
from support.models.seeded import NAMES, random_input, seeded
from support.models.transformers import Sizes, Style, decoder, encoder, inputs_of, vision_encoder

# Kernels


def commonest_convolutions(count: int) -> list[tuple[int, Kernel]]:
    """Return the `count` most frequent convolutions of ResNet-50, each with its occurrences."""
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
        function = compiled(optimized(model.proto, 3, target), target)
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
    table = table_of("models", "model", *columns, *SHARED, "error")
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
    fused = optimized(model, 3, target)
    function = compiled(fused, target)
    seconds = perf_counter() - start
    plain = compiled(optimized(model, 0, target), target)
    by_numpy = interpret(fused, entry_function(fused, "main"))
    peer = session(model, inputs)
    error = checked(name, function, peer, arrays)
    mine, unfused, other = milliseconds(
        lambda: function(*arrays), lambda: plain(*arrays), peer, rounds=9
    )
    shared = time_shared(model, fused, inputs, target, mine)
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
        *shared,
        f"{error:.1e}",
    ]


def checked(
    name: str, function: NativeFunction, peer: Callable[[], list[Array]], arrays: Sequence[Array]
) -> float:
    """Return the maximum error beside the peer, in standard deviations; it has to be small."""
    expected = peer()[-1]
    error = float(np.abs(function(*arrays)[-1] - expected).max() / expected.std())
    assert error < 1e-4, f"{name} is {error} standard deviations off"
    return error


# Threads

THREADS = 2
SHARED = (f"{THREADS} threads", "gain", f"ORT, {THREADS}", f"beside ORT, {THREADS}")
"""The columns of times with several threads; the gain is over one thread."""


def time_shared(
    model: onnx.ModelProto,
    module: ModuleOp,
    inputs: Mapping[str, Array],
    target: Target,
    alone: float,
) -> list[str]:
    """Return the times with several threads, and that of one thread, `alone`, divided by ours."""
    arrays = [*inputs.values()]
    function, peer = compiled(module, target, THREADS), session(model, inputs, THREADS)
    checked("the result", function, peer, arrays)
    mine, other = milliseconds(lambda: function(*arrays), peer, rounds=15, pause=IDLE)
    return [f"{mine:.2f}", f"{alone / mine:.2f} x", f"{other:.2f}", f"{other / mine:.2f} x"]


# Transformers

TRANSFORMERS = {
    "BERT, 4 layers of 256, length 128": lambda: encoder(
        Sizes(layers=4, hidden=256, heads=4, length=128)
    ),
    "BERT, 4 layers of 768, length 128": lambda: encoder(
        Sizes(layers=4, hidden=768, heads=12, length=128)
    ),
    "BERT, 2 layers of 384, length 384": lambda: encoder(
        Sizes(layers=2, hidden=384, heads=12, length=384),
        Style(norm="rsqrt", gelu="mul", keys="once"),
    ),
    "ViT, 2 layers of 192, 197 patches": lambda: vision_encoder(
        Sizes(layers=2, hidden=192, heads=3, length=197)
    ),
    "GPT, 2 layers of 256, length 64": lambda: decoder(
        Sizes(layers=2, hidden=256, heads=8, length=64),
        Style(norm="pow", gelu="tanh", mask="where"),
    ),
    "Llama, 2 layers of 512, one token after 255": lambda: decoder(
        Sizes(layers=2, hidden=512, heads=8, kv_heads=2, length=1, past=255)
    ),
}


def time_transformers(target: Target) -> Table:
    columns = ("kernels", "-O3", "ORT", "beside ORT", *SHARED, "error")
    table = table_of("transformers", "model", *columns)
    for name, build in TRANSFORMERS.items():
        model = build()
        inputs = inputs_of(model)
        arrays = [*inputs.values()]
        fused = optimized(model, 3, target)
        kernels = count_kernels(fused)
        function, peer = compiled(fused, target), session(model, inputs)
        error = checked(name, function, peer, arrays)
        mine, other = milliseconds(lambda f=function: f(*arrays), peer, rounds=15, seconds=1)
        figures = f"{mine:.2f}", f"{other:.2f}", f"{other / mine:.2f} x"
        shared = time_shared(model, fused, inputs, target, mine)
        table.add_row(name, str(kernels), *figures, *shared, f"{error:.1e}")
        gc.collect()
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="MODEL", help=", ".join(NAMES))
    parser.add_argument("--no-kernels", action="store_true", help="time the models only")
    help = "the processor to compile for, by default this machine"
    parser.add_argument("--target", type=Target, default=host(), help=help)
    args = parser.parse_args()
    gc.set_threshold(100_000, 20, 100)
    console = Console(width=130)
    if not args.no_kernels:
        console.print(time_kernels(args.target))
    if not args.names:
        console.print(time_transformers(args.target))
    console.print(time_models(args.names or [*NAMES], args.target))
