"""Kernels and networks on a GPU: whether they are right, and their speed beside torch.

    make test-gpu         # python benchmarks/gpu.py check --json build/test-gpu.json
    make bench-gpu        # python benchmarks/gpu.py time --json build/bench-gpu.json
    python benchmarks/gpu.py check --engine cuda-interpreter --tiny      # without a GPU

Nothing is installed: peers that are not there are left out. The script ends after `--seconds`, and
writes what it has by then; what it did not come to is in `left_out`. `check` compares results with
those of numpy, or of torch where these would take too long. `time` gives seconds of a call with
arguments and results on the device, the median of several; rates are TFLOP/s or TB/s. Times of
`cuda-interpreter` are those of a simulation, and say nothing about a GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import passline
from passline.compiler.execution import device_of
from passline.compiler.gpu.device import Device
from passline.compiler.gpu.device_arrays import DeviceArray
from passline.passmanager.errors import PasslineError

SAMPLES, ROUNDS = 7, 5
REFERENCE = 3e9
"""The most operations for which numpy computes the reference."""
TOLERANCE = 2e-2
"""The maximum difference from the reference, in standard deviations of that."""


@dataclass(frozen=True)
class Case:
    """A function of relax, with the expression of torch that computes the same."""

    name: str
    text: str
    shapes: Sequence[tuple[int, ...]]
    flops: float = 0.0
    bytes: float = 0.0
    torch: str = ""
    """An expression of torch on the arguments `a`."""
    dtype: str = "f2"

    def arguments(self) -> list[np.ndarray[Any, Any]]:
        generator = np.random.default_rng(0)
        scale = 1 if len(self.shapes) < 5 else 0.05  # weights
        return [
            (scale * generator.standard_normal(shape)).astype(self.dtype) for shape in self.shapes
        ]


def function(shapes: Sequence[tuple[int, ...]], body: str, result: str) -> str:
    """Return a module with @main, whose parameters are %a0, %a1, ... and whose result is %r."""
    types = [tensor(shape) for shape in shapes]
    given = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    return f"func.func @main({given}) -> {result} {{\n{body}\n  func.return %r : {result}\n}}\n"


def tensor(shape: Sequence[int]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf16>"


def new_shape(shape: Sequence[int]) -> str:
    """Return the property of a reshape."""
    return f"{{newshape = [{', '.join(map(str, shape))}]}}"


def operation(result: str, name: str, operands: str, types: Sequence[str], type: str) -> str:
    """Return a line of IR."""
    return f"  %{result} = relax.{name} {operands} : ({', '.join(types)}) -> {type}"


def products(sizes: Sequence[int]) -> Iterator[Case]:
    for n in sizes:
        type = tensor((n, n))
        body = operation("r", "matmul", "%a0, %a1", (type, type), type)
        shapes, flops = ((n, n), (n, n)), 2.0 * n**3
        yield Case(f"product {n}", function(shapes, body, type), shapes, flops, torch="a[0] @ a[1]")


def rows(sizes: Sequence[tuple[int, int]]) -> Iterator[Case]:
    for m, n in sizes:
        type, vector = tensor((m, n)), tensor((n,))
        shapes, traffic = ((m, n),), 4.0 * m * n
        body = operation("r", "nn.softmax", "%a0 {axis = 1}", (type,), type)
        text = function(shapes, body, type)
        yield Case(f"softmax {m}x{n}", text, shapes, 0, traffic, "a[0].softmax(1)")
        shapes = ((m, n), (n,), (n,))
        operands, types = "%a0, %a1, %a2 {axes = [1]}", (type, vector, vector)
        body = operation("r", "nn.layer_norm", operands, types, type)
        torch = f"torch.nn.functional.layer_norm(a[0], ({n},), a[1], a[2])"
        yield Case(f"layer_norm {m}x{n}", function(shapes, body, type), shapes, 0, traffic, torch)
        shapes = ((m, n), (m, n))
        add = operation("s", "add", "%a0, %a1", (type, type), type)
        body = f"{add}\n{operation('r', 'nn.relu', '%s', (type,), type)}"
        torch = "torch.relu(a[0] + a[1])"
        text = function(shapes, body, type)
        yield Case(f"add, relu {m}x{n}", text, shapes, 0, 1.5 * traffic, torch)


def attentions(sizes: Sequence[tuple[int, int, int, int]]) -> Iterator[Case]:
    for batch, length, heads, width in sizes:
        shape = (batch, length, heads, width)
        type = tensor(shape)
        operands = '%a0, %a1, %a2 {causal_mask = "TopLeft"}'
        body = operation("r", "nn.attention", operands, (type,) * 3, type)
        given = ", ".join(f"a[{i}].transpose(1, 2)" for i in range(3))
        torch = f"torch.nn.functional.scaled_dot_product_attention({given}, is_causal=True)"
        flops = 2.0 * batch * heads * length**2 * width
        name = f"attention {batch}x{length}x{heads}x{width}"
        text = function((shape,) * 3, body, type)
        yield Case(name, text, (shape,) * 3, flops, torch=f"{torch}.transpose(1, 2)")


def encoder(batch: int, length: int, heads: int, width: int, layers: int) -> Case:
    """Return the encoder of BERT: `layers` of attention and of two products."""
    n = heads * width
    whole, parted = (batch, length, n), (batch, length, heads, width)
    x, split = tensor(whole), tensor(parted)
    shapes: list[tuple[int, ...]] = [(batch, length, n)]
    lines: list[str] = []

    def emit(name: str, operands: str, types: Sequence[str], type: str) -> str:
        lines.append(operation(f"v{len(lines)}", name, operands, types, type))
        return f"%v{len(lines) - 1}"

    def linear(value: str, type: str, inner: int, outer: int) -> str:
        shapes.extend(((inner, outer), (outer,)))
        to = tensor((batch, length, outer))
        weight, bias = f"%a{len(shapes) - 2}", f"%a{len(shapes) - 1}"
        of = emit("matmul", f"{value}, {weight}", (type, tensor((inner, outer))), to)
        return emit("add", f"{of}, {bias}", (to, tensor((outer,))), to)

    def norm(value: str, other: str) -> str:
        shapes.extend(((n,), (n,)))
        value = emit("add", f"{value}, {other}", (x, x), x)
        operands = f"{value}, %a{len(shapes) - 2}, %a{len(shapes) - 1} {{axes = [2]}}"
        return emit("nn.layer_norm", operands, (x, tensor((n,)), tensor((n,))), x)

    value = "%a0"
    for _ in range(layers):
        parts = [linear(value, x, n, n) for _ in range(3)]
        apart = [emit("reshape", f"{p} {new_shape(parted)}", (x,), split) for p in parts]
        seen = emit("nn.attention", ", ".join(apart), (split,) * 3, split)
        joined = emit("reshape", f"{seen} {new_shape(whole)}", (split,), x)
        value = norm(linear(joined, x, n, n), value)
        wide = tensor((batch, length, 4 * n))
        inner = emit("nn.gelu", linear(value, x, n, 4 * n), (wide,), wide)
        value = norm(linear(inner, wide, 4 * n, n), value)
    lines.append(operation("r", "add", f"{value}, %a0", (x, x), x))
    flops = layers * 2.0 * batch * length * (12 * n * n + 2 * length * n)
    name = f"BERT encoder, {layers} layers, batch {batch}"
    return Case(name, function(shapes, "\n".join(lines), x), shapes, flops)


def resnet50() -> Case:
    """Return ResNet-50 out of the package onnx, batch 1, in f32."""
    if find_spec("onnx") is None:
        raise PasslineError("onnx is not installed")
    import onnx

    file = Path(onnx.__path__[0]) / "backend/test/data/light/light_resnet50.onnx"
    return Case("ResNet-50, batch 1, f32", str(file), ((1, 3, 224, 224),), 8.2e9, dtype="f4")


def all_cases(tiny: bool) -> Iterator[Case]:
    if tiny:
        yield from products((32,))
        yield from rows(((4, 48),))
        yield from attentions(((1, 16, 2, 16),))
        yield encoder(1, 8, 2, 8, 1)
        return
    yield from products((512, 1024, 2048, 4096, 8192))
    yield from rows(((4096, 1024), (8192, 4096), (1000, 777)))
    sizes = [(4, n, 16, width) for width in (64, 128) for n in (1024, 4096, 8192)]
    yield from attentions(sizes)
    for batch in (1, 32):
        yield encoder(batch, 128, 12, 64, 12)
    yield resnet50()


@dataclass
class Row:
    """What was found about a case."""

    name: str
    compile_seconds: float | None = None
    difference: float | None = None
    """The difference from the reference, in standard deviations of that."""
    reference: str = ""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """The seconds of a call, ours and those of peers."""
    rate: float | None = None
    """TFLOP/s, or TB/s, of ours."""
    kernels: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    error: str = ""


def measure(case: Case, device: Device, engine: Any, kind: str) -> Row:
    """Compile and run a case; what goes wrong is in the row."""
    row = Row(case.name)
    try:
        start = perf_counter()
        compiled = passline.compile(case.text, engine=engine, cache=False)
        row.compile_seconds = perf_counter() - start
        arguments = case.arguments()
        given = [on_device(device, array) for array in arguments]
        (result, *_) = compiled(*given)
        if kind == "check":
            compare(row, case, arguments, result.numpy())
        else:
            row.seconds["passline"] = time(device, lambda: compiled(*given))
            row.rate = (case.flops or case.bytes) / row.seconds["passline"] / 1e12
            row.seconds |= peers(case, arguments)
    except Exception as error:  # the other cases go on
        row.error = str(error).partition("\n")[0] or type(error).__name__
    return row


def on_device(device: Device, array: np.ndarray[Any, Any]) -> DeviceArray:
    address = device.allocate(array.nbytes)
    device.upload(address, array)
    return DeviceArray(device, address, array.shape, array.dtype, Allocation(device, address))


@dataclass
class Allocation:
    """Memory of a device, freed with this object."""

    device: Device
    address: int

    def __del__(self) -> None:
        self.device.free(self.address)


def compare(
    row: Row, case: Case, arguments: list[np.ndarray[Any, Any]], result: np.ndarray[Any, Any]
) -> None:
    """Add the difference from a reference; PasslineError if it is too large."""
    if case.flops <= REFERENCE and case.bytes <= REFERENCE:
        row.reference = "numpy"
        (expected, *_) = passline.run(case.text, *arguments)
    elif case.torch and find_spec("torch") is not None:
        row.reference = "torch"
        torch: Any = import_module("torch")
        a = [torch.from_numpy(array).cuda() for array in arguments]
        expected = eval(case.torch, {"torch": torch, "a": a}).cpu().numpy()
    else:
        return
    wide = expected.astype(np.float64)
    row.difference = float(np.abs(result - wide).max() / (wide.std() or 1))
    if not row.difference <= TOLERANCE:
        raise PasslineError(f"the difference is {row.difference:.2g}: expected {TOLERANCE}")


def time(device: Device, call: Callable[[], object]) -> float:
    """Return the median of the seconds of a call on the device."""
    for _ in range(3):
        call()
    samples: list[float] = []
    for _ in range(SAMPLES):
        first = device.event()
        for _ in range(ROUNDS):
            call()
        samples.append(device.seconds(first, device.event()) / ROUNDS)
    return median(samples)


def peers(case: Case, arguments: list[np.ndarray[Any, Any]]) -> dict[str, float]:
    """Return the seconds of torch."""
    if not case.torch or find_spec("torch") is None:
        return {}
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        return {}
    a = [torch.from_numpy(array).cuda() for array in arguments]
    eager = eval(f"lambda *a: {case.torch}", {"torch": torch})
    return {"torch": torch_seconds(lambda: eager(*a))}


def torch_seconds(call: Callable[[], object]) -> float:
    torch: Any = import_module("torch")
    for _ in range(3):
        call()
    samples: list[float] = []
    for _ in range(SAMPLES):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(ROUNDS):
            call()
        last.record()
        last.synchronize()
        samples.append(first.elapsed_time(last) / 1e3 / ROUNDS)
    return median(samples)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=("check", "time"))
    parser.add_argument("--engine", choices=("cuda", "cuda-interpreter"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    parser.add_argument("--seconds", type=float, default=220, help="the end of the script")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    parser.add_argument("filter", nargs="*", help="words, one of which names of cases have")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    args, start = parser().parse_intermixed_args(arguments), perf_counter()
    try:
        device = device_of(args.engine, None)
    except PasslineError as error:
        print(f"gpu.py: error: {error}", file=sys.stderr)
        return 1
    print(f"{args.kind} on {device.name}, {device.target}")
    found: list[Row] = []
    left_out: list[str] = []
    for case in all_cases(args.tiny):
        if args.filter and not any(word in case.name for word in args.filter):
            continue
        if perf_counter() - start > args.seconds:
            left_out.append(case.name)
            continue
        found.append(row := measure(case, device, args.engine, args.kind))
        print(text_of(row), flush=True)
        if args.json is not None:  # each time, as a fault may end the process
            rows = [asdict(each) for each in found]
            names = {"device": device.name, "target": device.target, "engine": args.engine}
            args.json.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**names, "rows": rows, "left_out": left_out}, indent=1)
            args.json.write_text(text + "\n")
    for name in left_out:
        print(f"{name}: left out, the time is over")
    return int(any(row.error for row in found))


def text_of(row: Row) -> str:
    if row.error:
        return f"{row.name}: error: {row.error}"
    if row.seconds:
        times = ", ".join(f"{name} {1e3 * seconds:.3f} ms" for name, seconds in row.seconds.items())
        return f"{row.name}: {times}, {row.rate or 0:.3g} T/s"
    compared = "not compared" if row.difference is None else f"difference {row.difference:.2g}"
    return f"{row.name}: {compared} {row.reference}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
