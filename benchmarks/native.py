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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import cast

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.relax.convolution import Conv2dOp
from passline.dialects.relax.types import static_shape
from passline.frontends.onnx import import_model
from passline.interpreters.interpret import interpret
from passline.interpreters.signature import entry_function
from passline.passmanager import PassContext
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.tools.native import NativeFunction, compile_module

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.seeded import NAMES, Array, random_input, seeded

Run = Callable[[], object]


def compiled(module: ModuleOp) -> NativeFunction:
    """Compile `@main` of an optimized module to machine code."""
    with PassContext(opt_level=3, verify_each=False):
        return compile_module(module)


def optimized(model: onnx.ModelProto, level: int) -> ModuleOp:
    module = import_model(model)
    with PassContext(opt_level=level, verify_each=False):
        parse_pipeline("optimize").apply(None, module)
    return module


def milliseconds(*runs: Run, rounds: int = 7, seconds: float = 0.2) -> list[float]:
    """Return the best time of each function; they take turns, and short ones are repeated in
    each turn."""
    best: list[float] = []
    repeats: list[int] = []
    for run in runs:
        start = perf_counter()
        run()  # the first one touches its memory
        once = perf_counter() - start
        repeats.append(max(1, min(200, int(seconds / rounds / max(once, 1e-6)))))
        best.append(float("inf"))
    for _ in range(rounds):
        for i, (run, repeat) in enumerate(zip(runs, repeats, strict=True)):
            start = perf_counter()
            for _ in range(repeat):
                run()
            best[i] = min(best[i], 1000 * (perf_counter() - start) / repeat)
    return best


def session(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> Callable[[], list[Array]]:
    """Return a function that runs a model in onnxruntime with one thread."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    content = model.SerializeToString()
    made = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return lambda: cast(list[Array], made.run(None, dict(inputs)))


def table_of(title: str, *columns: str) -> Table:
    table = Table(*columns, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


# Kernels


def one_node(op: str, shapes: Mapping[str, Sequence[int]], **attributes: object) -> onnx.ModelProto:
    """Return a model of one operation on f32 tensors, followed by Relu if it has a bias."""
    tensor = onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, tensor, s) for name, s in shapes.items()]
    nodes = [helper.make_node(op, [*shapes], ["y"], **attributes)]
    result = "y"
    if "bias" in shapes:
        nodes.append(helper.make_node("Relu", ["y"], ["z"]))
        result = "z"
    output = helper.make_tensor_value_info(result, tensor, None)
    graph = helper.make_graph(nodes, op, inputs, [output])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])


def commonest_convolutions(count: int) -> list[tuple[int, dict[str, tuple[int, ...]], Conv2dOp]]:
    """Return the `count` most frequent convolutions of ResNet-50: how often each occurs, its
    shapes, and one of its operations."""
    module = import_model(seeded("resnet50", 0))
    found = [op for op in walk(module) if isinstance(op, Conv2dOp)]
    keys = {op: str([*op.properties.values(), *op.operand_types]) for op in found}
    often: list[tuple[int, dict[str, tuple[int, ...]], Conv2dOp]] = []
    for key, n in Counter(keys.values()).most_common(count):
        op = next(op for op in found if keys[op] == key)
        data, weight = static_shape(op.data.type), static_shape(op.weight.type)
        assert data is not None and weight is not None
        often.append((n, {"x": data, "w": weight, "bias": weight[:1]}, op))
    return often


def time_kernels() -> Table:
    table = table_of("kernels", "kernel", "ours", "GFLOP/s", "peer", "ratio")
    rng = np.random.default_rng(0)

    def add(name: str, flops: float, ours: Run, peer: Run) -> None:
        mine, other = milliseconds(ours, peer, rounds=15, seconds=1)
        rate = f"{flops / mine / 1e6:.0f}"
        table.add_row(name, f"{mine:.3f}", rate, f"{other:.3f}", f"{other / mine:.2f} x")

    for n in (256, 512, 1024):
        model = one_node("MatMul", {"a": (n, n), "b": (n, n)})
        a, b = (rng.standard_normal((n, n), np.float32) for _ in range(2))
        function = compiled(optimized(model, 3))
        np.testing.assert_allclose(function(a, b)[0], a @ b, atol=1e-3)
        add(f"matmul {n}, beside numpy", 2 * n**3, lambda: function(a, b), lambda: a @ b)
    for count, shapes, op in commonest_convolutions(4):
        strides, padding = op.strides.get_values(), op.padding.get_values()
        pads = padding if len(padding) == 4 else (*padding, *padding)
        model = one_node("Conv", shapes, strides=[*strides], pads=[*pads])
        inputs = {k: rng.standard_normal(s, np.float32) for k, s in shapes.items()}
        function = compiled(optimized(model, 3))
        peer = session(model, inputs)
        (expected,) = peer()
        result = function(*inputs.values())[0]
        np.testing.assert_allclose(result, expected, atol=1e-2)
        flops = 2 * result.size * np.prod(shapes["w"][1:])
        text = " * ".join("x".join(map(str, s)) for s in (shapes["x"], shapes["w"]))
        name = f"conv {text} / {strides[0]}, {count} of 53, beside ORT"
        add(name, float(flops), lambda: function(*inputs.values()), peer)
    return table


# Models


def time_models(names: Sequence[str]) -> Table:
    columns = ("compile", "-O3", "-O0", "fused", "numpy", "beside numpy", "ORT", "beside ORT")
    table = table_of("models", "model", *columns, "error")
    for name in names:
        table.add_row(name, *time_model(name))
        gc.collect()
    return table


def time_model(name: str) -> list[str]:
    """Return the row of a model in the table."""
    model = seeded(name, 0)
    inputs = random_input(model, 0)
    arrays = [*inputs.values()]
    start = perf_counter()
    fused = optimized(model, 3)
    function = compiled(fused)
    seconds = perf_counter() - start
    plain = compiled(optimized(model, 0))
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
    args = parser.parse_args()
    gc.set_threshold(100_000, 20, 100)
    console = Console(width=130)
    if not args.no_kernels:
        console.print(time_kernels())
    console.print(time_models(args.names or [*NAMES]))
