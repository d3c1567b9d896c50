"""Loops and branches on buffers: random programs compute the same as on tensors, and as machine
code."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.passes.results import check_equal, run

from passline.compiler.native.function import compile_module
from passline.passes.relax.plan_memory.plan_memory import PlanMemory
from passline.passmanager.ir.verifier import verify

T = "tensor<40xf32>"
KERNELS = """
!b = memref<40xf32>
tir.prim_func private @combine(%x : !b, %y : !b, %z : !b) {
  "memref.copy"(%x, %z) : (!b, !b) -> ()
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  tir.for %i = %c0 extent %c5 {
    %a = memref.load %x[%i] : !b
    %j = arith.addi %i, %i : index
    %b = memref.load %y[%j] : !b
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : !b
  }
}
tir.prim_func private @add_to(%x : !b, %y : !b) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  tir.for %i = %c0 extent %c9 {
    %a = memref.load %x[%i] : !b
    %b = memref.load %y[%i] : !b
    %s = arith.addf %a, %b : f32
    memref.store %s, %x[%i] : !b
  }
}
"""


class Program:
    """A random program on tensors with loops and branches."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def block(self, values: list[str], depth: int) -> list[str]:
        """Operations on `values`; return all values that are seen at the end."""
        values = [*values]
        for _ in range(self.rng.randint(1, 5)):
            values += self.operation(values, depth)
        return values

    def operation(self, values: list[str], depth: int) -> list[str]:
        rng, name = self.rng, self.name()
        x, y = rng.choice(values[-3:]), rng.choice(values)
        match rng.choice(
            ["full", "constant", "view", "if", "for", "while", "while", *["call"] * 4, "in place"]
        ):
            case "full":
                self.lines.append(f"{name} = relax.full {rng.randint(1, 9)}.0 : {T}")
            case "constant":
                self.lines.append(f"{name} = relax.constant dense<{rng.randint(1, 3)}.0> : {T}")
            case "view":
                to, back = "tensor<4x10xf32>", "relax.reshape"
                self.lines.append(f"{name}m = {back} {x} {{newshape = [4, 10]}} : ({T}) -> {to}")
                self.lines.append(f"{name} = {back} {name}m {{newshape = [40]}} : ({to}) -> {T}")
            case "if" if depth < 3:
                self.lines.append(f"{name} = scf.if %c -> ({T}) {{")
                self.yields([rng.choice(self.block(values, depth + 1))])
                self.lines.append("} else {")
                self.yields([rng.choice(self.block(values, depth + 1))])
                self.lines.append("}")
            case "for" | "while" as kind if depth < 3:
                return self.loop(kind, name, values, depth)
            case "in place":
                self.lines.append(
                    f"{name} = relax.call_tir_inplace @add_to({x}, {y}) "
                    f"{{inplace_indices = array<i64: 0>}} : ({T}, {T}) -> {T}"
                )
            case _:
                self.lines.append(f"{name} = relax.call_tir @combine({x}, {y}) : ({T}, {T}) -> {T}")
        return [name]

    def loop(self, kind: str, name: str, values: list[str], depth: int) -> list[str]:
        """A loop that carries up to three tensors, and yields them in any order, also twice."""
        rng, count = self.rng, self.rng.randint(1, 3)
        inner = [f"{name}i{i}" for i in range(count)]
        start = ", ".join(f"{a} = {v}" for a, v in zip(inner, rng.choices(values, k=count)))
        turns = self.rng.choice(["%c0", "%c1", "%c3", "%n"])
        types = ", ".join([T] * count)
        if kind == "for":
            self.lines.append(
                f"{name}:{count} = scf.for {name}n = %c0 to {turns} step %c1 iter_args({start}) "
                f"-> ({types}) {{"
            )
            self.yields(rng.choices(self.block([*values, *inner], depth + 1), k=count))
            self.lines.append("}")
            return [f"{name}#{i}" for i in range(count)]
        passed = rng.choices(inner, k=rng.randint(1, 3))
        every = ", ".join(["index", *[T] * len(passed)])
        self.lines += [
            f"{name}:{len(passed) + 1} = scf.while ({name}n = %c0, {start}) : (index, {types}) "
            f"-> ({every}) {{",
            f"{name}l = arith.cmpi slt, {name}n, {turns} : index",
        ]
        if rng.random() < 0.3:
            passed[-1] = rng.choice(self.block([*values, *inner], depth + 1))
        self.lines.append(f"scf.condition({name}l) {', '.join([f'{name}n', *passed])} : {every}")
        seen = [f"{name}o{i}" for i in range(len(passed))]
        arguments = ", ".join([f"{name}m : index", *(f"{a} : {T}" for a in seen)])
        self.lines.append(f"}} do {{\n^bb0({arguments}):")
        ends = rng.choices(self.block([*values, *seen], depth + 1)[-5:], k=count)
        self.lines.append(f"{name}p = arith.addi {name}m, %c1 : index")
        ends = ", ".join([f"{name}p", *ends])
        self.lines.append(f"scf.yield {ends} : index, {types}\n}}")
        return [f"{name}#{i + 1}" for i in range(len(passed))]

    def yields(self, values: list[str]) -> None:
        self.lines.append(f"scf.yield {', '.join(values)} : {', '.join([T] * len(values))}")

    def text(self) -> str:
        results = self.rng.choices(self.block(["%x", "%y"], 0)[-4:], k=self.rng.randint(1, 3))
        types = ", ".join([T] * len(results))
        return "\n".join(
            [
                KERNELS,
                f"func.func @main(%x : {T}, %y : {T}, %c : i1, %n : index) -> ({types}) {{",
                "%c0 = arith.constant 0 : index",
                "%c1 = arith.constant 1 : index",
                "%c3 = arith.constant 3 : index",
                *self.lines,
                f"return {', '.join(results)} : {types}\n}}",
            ]
        )


def arguments(seed: int, flag: bool, turns: int):
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(-1, 1, 40).astype(np.float32) for _ in range(2))
    return x, y, np.array(flag), np.array(turns)


@pytest.mark.parametrize("seed", some(range(60), 3))
def test_random_programs_compute_the_same(seed: int):
    before = parsed(Program(seed).text())
    after = PlanMemory()(before)
    verify(after)
    for flag, turns in ((True, 0), (False, 1), (True, 4)):
        given = arguments(seed, flag, turns)
        check_equal(run(after, "main", given), run(before, "main", given))


@needs_native
@pytest.mark.parametrize("seed", range(200, 203))
def test_machine_code_computes_the_same(seed: int):
    module = parsed(Program(seed).text())
    compiled = compile_module(module)
    for flag, turns in ((True, 0), (False, 1), (True, 4)):
        given = arguments(seed, flag, turns)
        check_equal(compiled(*given), run(module, "main", given))
