"""Memory planned: random programs compute the same, bytes are shared, and what is said of it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.budget import some
from support.passes.results import check_equal, run
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp

from passline.compiler.analysis.memory.storage_plan import ALIGNMENT
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.relax.plan_memory.plan_memory import PlanMemory
from passline.passmanager import PassContext
from passline.passmanager.instruments.time.statistics import StatisticsInstrument
from passline.passmanager.ir.checks.verifier import verify
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

KERNELS = """
!b = memref<1200xf32>
tir.prim_func private @combine(%x : !b, %y : !b, %z : !b) {
  "memref.copy"(%x, %z) : (memref<1200xf32>, memref<1200xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  tir.for %i = %c0 extent %c5 {
    %a = memref.load %x[%i] : memref<1200xf32>
    %j = arith.addi %i, %i : index
    %b = memref.load %y[%j] : memref<1200xf32>
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : memref<1200xf32>
  }
}
"""
T, M = "tensor<1200xf32>", "tensor<30x40xf32>"


def parse(text: str) -> ModuleOp:
    return parse_module(make_ir_context(), text, "memory.mlir")


def random_block(rng: Random, values: list[str], depth: int, lines: list[str]) -> str:
    """Operations on `values`, which are tensors; gives one that is seen at the end."""
    values = [*values]
    for _ in range(rng.randint(1, 8)):
        name = f"%v{len(lines)}"
        kind = rng.random()
        if kind < 0.08:
            lines.append(f"{name} = relax.full {rng.randint(1, 9)}.0 : {T}")
        elif kind < 0.16:
            lines.append(f"{name} = relax.constant dense<{rng.randint(1, 3)}.0> : {T}")
        elif kind < 0.3:
            seen = rng.choice(values)
            lines.append(f"{name}m = relax.reshape {seen} {{newshape = [30, 40]}} : ({T}) -> {M}")
            lines.append(f"{name} = relax.reshape {name}m {{newshape = [-1]}} : ({M}) -> {T}")
        elif kind < 0.45 and depth < 3:
            at = len(lines)
            lines.append("")
            first = random_block(rng, values, depth + 1, lines)
            lines.append(f"scf.yield {first} : {T}\n}} else {{")
            second = random_block(rng, values, depth + 1, lines)
            lines.append(f"scf.yield {second} : {T}\n}}")
            lines[at] = f"{name} = scf.if %c -> ({T}) {{"
        else:
            x, y = rng.choice(values[-3:]), rng.choice(values)
            lines.append(f"{name} = relax.call_tir @combine({x}, {y}) : ({T}, {T}) -> {T}")
        values.append(name)
    return rng.choice(values[-2:])


def random_module(seed: int) -> str:
    rng, lines = Random(seed), list[str]()
    results = [random_block(rng, ["%x"], 0, lines)]
    results += rng.choices(["%x", results[0]], k=rng.randint(0, 2))
    types = ", ".join([T] * len(results))
    return "\n".join(
        [
            KERNELS,
            f"func.func @main(%x : {T}, %c : i1) -> ({types}) {{",
            *lines,
            f"return {', '.join(results)} : {types}\n}}",
        ]
    )


@pytest.mark.parametrize("seed", some(range(60), 2))
def test_random_programs_compute_the_same(seed: int):
    before = parse(random_module(seed))
    after = PlanMemory()(before)
    verify(after)
    x = np.random.default_rng(seed).uniform(-1, 1, 1200).astype(np.float32)
    for flag in (True, False):
        expected = run(before, "main", (x, np.array(flag)))
        check_equal(run(after, "main", (x, np.array(flag))), expected)


def main_of(module: ModuleOp) -> PrimFuncOp:
    return next(f for f in module.ops if isinstance(f, PrimFuncOp) and f.sym_name.data == "main")


def test_a_constant_keeps_its_bytes():
    module = parse(
        f"func.func @main() -> {T} {{\n%w = relax.constant dense<1.0> : {T}\nreturn %w : {T}\n}}"
    )
    constant = next(op for op in walk(module) if isinstance(op, ConstantOp))
    bytes_before = constant.value.data.data
    PlanMemory().apply(make_ir_context(), module)
    made = next(op for op in walk(module) if isinstance(op, memref.GlobalOp))
    assert made.initial_value is constant.value
    assert constant.value.data.data is bytes_before


def chain(length: int) -> ModuleOp:
    """A value that each of `length` calls makes of the two before."""
    names = ["%x", "%x", *(f"%{i}" for i in range(length))]
    calls = [
        f"%{i} = relax.call_tir @combine({names[i + 1]}, {names[i]}) : ({T}, {T}) -> {T}"
        for i in range(length)
    ]
    lines = [f"func.func @main(%x : {T}) -> {T} {{", *calls, f"return {names[-1]} : {T}\n}}"]
    return parse("\n".join([KERNELS, *lines]))


def test_views_are_aligned_within_the_arena():
    module = PlanMemory()(chain(10))
    views = [op for op in walk(main_of(module)) if isinstance(op, memref.ViewOp)]
    (arena,) = [op for op in walk(main_of(module)) if isinstance(op, memref.AllocOp)]
    assert isinstance(arena.memref.type, MemRefType)
    assert arena.memref.type.get_shape() == (3 * 4800,)
    for view in views:
        shift = view.byte_shift.owner
        assert shift.value.value.data % ALIGNMENT == 0  # pyright: ignore


def test_what_it_says_of_memory():
    statistics = StatisticsInstrument()
    with PassContext(instruments=[statistics]):
        PlanMemory()(chain(1000))
    text = statistics.report()
    assert f"{999 * 4800} bytes-before" in text
    assert f"{3 * 4800} bytes-after" in text
