"""Random functions on buffers compute the same after passes that analyze memory effects."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.laws import check_equal, run
from xdsl.dialects.builtin import ModuleOp

from passline.passes.tir.common_subexpr_elim import CommonSubexprElim
from passline.passes.tir.remove_no_op import RemoveNoOp
from passline.passmanager.base import Pass
from passline.passmanager.ir.parser import parse_module
from passline.passmanager.ir.snapshot import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

B = "memref<4xf32>"


class Writer:
    """A writer of random functions: loads, stores, copies, calls, loops and branches."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def block(self, depth: int, buffers: list[str], indices: list[str], numbers: list[str]) -> None:
        """Write random operations on the values in scope."""
        rng = self.rng
        buffers, indices, numbers = [*buffers], [*indices], [*numbers]
        for _ in range(rng.randint(2, 7)):
            kind = rng.choice(
                ["load"] * 4
                + ["store"] * 5
                + ["sum", "sum", "index", "alloc", "copy", "call", "view", "divide"]
                + ["for", "if", "if"] * (depth < 3)
            )
            self.operation(kind, depth, buffers, indices, numbers)

    def operation(
        self, kind: str, depth: int, buffers: list[str], indices: list[str], numbers: list[str]
    ) -> None:
        rng, add = self.rng, self.lines.append
        buffer, index, number = rng.choice(buffers), rng.choice(indices), rng.choice(numbers[-3:])
        name = self.name()
        match kind:
            case "load":
                add(f"{name} = memref.load {buffer}[{index}] : {B}")
                numbers.append(name)
            case "store":
                add(f"memref.store {number}, {buffer}[{index}] : {B}")
            case "sum":
                add(f"{name} = arith.addf {number}, {rng.choice(numbers)} : f32")
                numbers.append(name)
            case "index":
                add(f"{name}s = arith.addi {index}, {rng.choice(indices)} : index")
                add(f"{name}c = arith.constant 4 : index")
                add(f"{name} = arith.remui {name}s, {name}c : index")
                indices.append(name)
            case "divide":
                add(f"{name}c = arith.constant 4 : index")
                add(f"{name} = arith.divui {index}, {name}c : index")
                indices.append(name)
            case "alloc":
                add(f"{name} = memref.alloc() : {B}")
                add(f'"memref.copy"({buffer}, {name}) : ({B}, {B}) -> ()')
                buffers.append(name)
            case "copy":
                add(f'"memref.copy"({buffer}, {rng.choice(buffers)}) : ({B}, {B}) -> ()')
            case "call":
                add(f"tir.call @twice({buffer}) : {B}")
            case "view":
                add(
                    f"{name} = memref.reinterpret_cast {buffer} to offset: [0], sizes: [4], "
                    f"strides: [1] : {B} to {B}"
                )
                buffers.append(name)
            case "for":
                extent = rng.choice(["%c0", "%c3", "%n"])
                add(f"tir.for {name} = %c0 extent {extent} {{")
                self.block(depth + 1, buffers, [*indices, name], numbers)
                add("}")
            case _:
                add(f"scf.if {rng.choice(['%c', '%d'])} {{")
                if rng.random() < 0.8:
                    self.block(depth + 1, buffers, indices, numbers)
                if rng.random() < 0.6:
                    add("} else {")
                    self.block(depth + 1, buffers, indices, numbers)
                add("}")


def random_module(seed: int) -> ModuleOp:
    writer = Writer(seed)
    writer.block(0, ["%a", "%b"], ["%c0", "%c1", "%n"], ["%x"])
    text = "\n".join(
        [
            f"tir.prim_func private @twice(%a : {B}) {{",
            "%c0 = arith.constant 0 : index",
            f"%0 = memref.load %a[%c0] : {B}",
            "%1 = arith.addf %0, %0 : f32",
            f"memref.store %1, %a[%c0] : {B}",
            "}",
            f"tir.prim_func @main(%a : {B}, %b : {B}, %x : f32, %n : index, %c : i1, %d : i1) {{",
            "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index",
            "%c3 = arith.constant 3 : index",
            *writer.lines,
            "}",
        ]
    )
    return parse_module(make_ir_context(), text, "random.mlir")


PASSES = [RemoveNoOp(), CommonSubexprElim(), CommonSubexprElim(identify_equiv_terms=True)]


@pytest.mark.parametrize("pass_", PASSES, ids=lambda pass_: pass_.info.text)
def test_random_functions_compute_the_same(pass_: Pass):
    changed = 0
    for seed in range(60):
        before = random_module(seed)
        after = pass_(before)
        verify(after)
        snapshot = Snapshot(after)
        pass_.apply(make_ir_context(), after)
        assert not snapshot.update(), f"{seed}: a second run changes the result"
        changed += len([*walk(after)]) < len([*walk(before)])
        rng = np.random.default_rng(seed)
        for n, c, d in ((1, True, False), (3, False, False), (2, True, True)):
            a, b = (rng.integers(-4, 4, 4).astype(np.float32) for _ in "ab")
            arguments = (a, b, np.float32(3), n, np.array(c), np.array(d))
            expected = run(before, "main", arguments)
            check_equal(run(after, "main", arguments), expected)
    assert changed > 20
