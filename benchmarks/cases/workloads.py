# pyright: reportUnknownMemberType=false
"""The inputs of the benchmarks: synthetic IR of a given number of operations, and real models.

A synthetic workload is one function in custom form. Each operation uses the result of the one
before it, so that all are live, and an older one, so that no two are equal. The time to make one is
linear in its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from table.rows import Unavailable

from passline.passmanager import PassContext
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

__all__ = [
    "MODELS",
    "SYNTHETIC",
    "Workload",
    "loop_nests",
    "model_text",
    "models",
    "relax_graph",
    "scalar_ops",
    "synthetic",
    "tensor_ops",
]

REACH = 64
"""Operations use results of at most this many operations before them."""


def tensor_ops(count: int) -> str:
    """Return `arith` on tensor<16x32xf32>."""
    names = ("arith.addf", "arith.mulf", "arith.subf", "arith.maximumf")
    return _elementwise(count, "tensor<16x32xf32>", names)


def scalar_ops(count: int) -> str:
    """Return `arith` on f32: binary operations, and each 16th a constant with its own value."""
    names = ("arith.addf", "arith.mulf", "arith.subf", "arith.divf", "arith.minimumf")
    return _elementwise(count, "f32", names, constant_every=16)


def _elementwise(count: int, type_: str, names: tuple[str, ...], constant_every: int = 0) -> str:
    """Return a function of `count` operations on `type_`, its return included."""
    random = Random(count)
    values = ["%x", "%y"]
    lines: list[str] = []
    last = "%x"
    for i in range(count - 3):  # without the return, the function and the module
        result = f"%{i}"
        if constant_every and i % constant_every == 1:
            # The next operation takes it as its second operand.
            lines.append(f"{result} = arith.constant {1 + i / 8:e} : {type_}")
        else:
            older = values[-1] if values[-1] != last else random.choice(values[-REACH:-1])
            lines.append(f"{result} = {random.choice(names)} {last}, {older} : {type_}")
            last = result
        values.append(result)
    lines.append(f"func.return {last} : {type_}")
    return _function(f"(%x : {type_}, %y : {type_}) -> {type_}", lines)


def _function(signature: str, lines: Iterable[str]) -> str:
    """Return a module with one function, `@main`."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"builtin.module {{\n  func.func @main{signature} {{\n{body}  }}\n}}\n"


BUFFERS = {"%a": "memref<64x64xf32>", "%b": "memref<64x64xf32>", "%c": "memref<64x64xf32>"}
LOOP = "scf.for %{0} = %zero to %extent step %one {{"


def loop_nests(count: int) -> str:
    """Return nests of `scf.for` on memrefs, which are products and sums of matrices in turn."""
    arguments = ", ".join(f"{name} : {type_}" for name, type_ in BUFFERS.items())
    constants = {"%zero": 0, "%one": 1, "%extent": 64}
    lines = [f"{name} = arith.constant {value} : index" for name, value in constants.items()]
    names = [*BUFFERS]
    left = count - 6  # the constants, the return, the function and the module
    for i in range(left // 10):  # two nests have 20 operations
        x, y, z = (names[(i + k) % 3] for k in range(3))
        lines += _sum(x, y, z) if i % 2 else _product(x, y, z)
    return _function(f"({arguments})", [*lines, "func.return"])


def _product(x: str, y: str, z: str) -> Iterable[str]:
    """Return z += x @ y: 12 operations, with the `scf.yield` that are not printed."""
    return (
        *(LOOP.format(index) for index in "ijk"),
        f"%p = memref.load {x}[%i, %k] : {BUFFERS[x]}",
        f"%q = memref.load {y}[%k, %j] : {BUFFERS[y]}",
        f"%r = memref.load {z}[%i, %j] : {BUFFERS[z]}",
        "%s = arith.mulf %p, %q : f32",
        "%t = arith.addf %r, %s : f32",
        f"memref.store %t, {z}[%i, %j] : {BUFFERS[z]}",
        *"}}}",
    )


def _sum(x: str, y: str, z: str) -> Iterable[str]:
    """Return z = x + y: 8 operations."""
    return (
        *(LOOP.format(index) for index in "ij"),
        f"%p = memref.load {x}[%i, %j] : {BUFFERS[x]}",
        f"%q = memref.load {y}[%i, %j] : {BUFFERS[y]}",
        "%t = arith.addf %p, %q : f32",
        f"memref.store %t, {z}[%i, %j] : {BUFFERS[z]}",
        *"}}",
    )


def relax_graph(count: int) -> str:
    """Return a residual network in `relax`, in blocks of ten operations; in each block one is dead,
    one is the repetition of another, and one is computed from constants."""
    x, w, b = "tensor<16x32xf32>", "tensor<32x32xf32>", "tensor<32xf32>"
    last = "%x"
    lines: list[str] = []
    for i in range((count - 3) // 10):
        v = [f"%{10 * i + k}" for k in range(10)]
        lines += [
            f"{v[0]} = relax.constant dense<{1 + i / 8:e}> : {b}",
            f"{v[1]} = relax.add {v[0]}, {v[0]} : ({b}, {b}) -> {b}",
            f"{v[2]} = relax.matmul {last}, %w : ({x}, {w}) -> {x}",
            f"{v[3]} = relax.add {v[2]}, {v[1]} : ({x}, {b}) -> {x}",
            f"{v[4]} = relax.nn.relu {v[3]} : ({x}) -> {x}",
            f"{v[5]} = relax.exp {last} : ({x}) -> {x}",
            f"{v[6]} = relax.sigmoid {last} : ({x}) -> {x}",
            f"{v[7]} = relax.sigmoid {last} : ({x}) -> {x}",
            f"{v[8]} = relax.multiply {v[6]}, {v[7]} : ({x}, {x}) -> {x}",
            f"{v[9]} = relax.add {v[4]}, {v[8]} : ({x}, {x}) -> {x}",
        ]
        last = v[9]
    lines.append(f"func.return {last} : {x}")
    return _function(f"(%x : {x}, %w : {w}) -> {x}", lines)


def model_text(name: str, lowered: bool = False) -> str:
    """Return a model of the onnx package as it is imported, or after -O3 and lower-to-tir."""
    try:
        import onnx

        from passline.compiler.frontends.onnx import import_model
    except ImportError:
        raise Unavailable("onnx is not installed") from None
    path = Path(onnx.__file__).parent / f"backend/test/data/light/light_{name}.onnx"
    module, ir_context = import_model(onnx.load(path)), make_ir_context()
    if lowered:
        with PassContext(opt_level=3, verify_each=False):
            parse_pipeline("optimize,lower-to-tir").apply(ir_context, module)
    return module_text(module, ir_context)


@dataclass(frozen=True)
class Workload:
    """An input, made when it is needed; `ops` is the number of operations asked for, or 0."""

    name: str
    ops: int
    make: Callable[[], str]

    @cached_property
    def text(self) -> str:
        """The custom form."""
        return self.make()

    @cached_property
    def module(self) -> ModuleOp:
        """The IR, read by our parser; both sides get the same."""
        return parse_module(make_ir_context(), self.text, "benchmark")

    @cached_property
    def generic(self) -> str:
        """The generic form."""
        return module_text(self.module, make_ir_context(), PrintStyle(generic=True))

    @cached_property
    def count(self) -> int:
        """The number of operations that there are."""
        return sum(1 for _ in walk(self.module))


SYNTHETIC: Mapping[str, Callable[[int], str]] = {
    "tensor ops": tensor_ops,
    "scalar ops": scalar_ops,
    "loop nests": loop_nests,
}
"""Name -> function that makes the text for a number of operations."""

MODELS: Mapping[str, tuple[int, Callable[[], str]]] = {
    "SqueezeNet, relax": (100, partial(model_text, "squeezenet")),
    "DenseNet-121, relax": (1_000, partial(model_text, "densenet121")),
    "SqueezeNet, tir": (3_000, partial(model_text, "squeezenet", lowered=True)),
    "DenseNet-121, tir": (20_000, partial(model_text, "densenet121", lowered=True)),
}
"""Name -> the approximate number of operations, and a function that makes the text."""


def synthetic(names: Iterable[str], ops: int) -> Iterator[Workload]:
    """Yield workloads of `ops` operations."""
    return (Workload(name, ops, partial(SYNTHETIC[name], ops)) for name in names)


def models(max_ops: int) -> Iterator[Workload]:
    """Yield the models that have at most about `max_ops` operations."""
    return (Workload(name, 0, make) for name, (ops, make) in MODELS.items() if ops <= max_ops)
