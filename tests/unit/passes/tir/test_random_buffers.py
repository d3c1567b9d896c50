"""The laws of passes on random functions that allocate, fill, combine and read buffers."""

from __future__ import annotations

from random import Random

import pytest
from support.laws import compare

from passline.passmanager import PassContext
from passline.passmanager.ir.parser import parse_module
from passline.passmanager.ir.snapshot import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

SIZES = (8, 12, 40)
"""Sizes of buffers; only the first 8 elements are read."""

PASSES = (
    "tir-storage-rewrite",
    "tir-storage-rewrite{merge-static-smem}",
    "tir-flatten-buffer",
    "tir-flatten-buffer,tir-storage-rewrite",
    "tir-inject-double-buffer",
    "tir-inject-double-buffer{split-loop=0}",
    "tir-inject-double-buffer{split-loop=4},tir-flatten-buffer,tir-storage-rewrite",
)


class Program:
    """A writer of a random function on two buffers; no element is read before it is written."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.number = 0
        self.buffers: list[tuple[str, str]] = [("%x", "memref<8xf32>")]
        """The buffers that are filled, with their types."""
        self.loops: list[str] = []
        self.statements(8, 0)

    @property
    def text(self) -> str:
        """The text of the module."""
        sizes = sorted({*SIZES, 0, 1, 2, 3, 4, 7})
        constants = [f"%c{n} = arith.constant {n} : index" for n in sizes]
        body = "\n".join([*constants, *self.lines])
        return (
            "tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>, %n: index, %p: i1) {\n"
            f"{body}\n}}"
        )

    def name(self) -> str:
        self.number += 1
        return f"%v{self.number}"

    def statements(self, count: int, depth: int) -> None:
        known = len(self.buffers)
        for _ in range(count):
            kinds = [self.fill, self.fill, self.update, self.output]
            if depth < 3:
                kinds += [self.loop, self.branch]
            kind = self.random.choice(kinds)
            kind(depth)
        del self.buffers[known:]

    def loop(self, depth: int) -> None:
        variable = self.name()
        extent = self.random.choice(["%c1", "%c2", "%c3", "%n"])
        kind = self.random.choice(["", "", "", "unrolled "])
        self.lines.append(f"tir.for {kind}{variable} = %c0 extent {extent} {{")
        self.statements(3, depth + 1)
        self.lines.append("}")

    def branch(self, depth: int) -> None:
        self.lines.append("scf.if %p {")
        self.statements(3, depth + 1)
        self.lines.append("} else {")
        self.statements(2, depth + 1)
        self.lines.append("}")

    def load(self, index: str) -> str:
        """Load an element of a buffer, at an index below 8, as f32."""
        buffer, type = self.random.choice(self.buffers)
        value = self.name()
        where = index
        if "x4x" in type or "x2x" in type:
            width = 4 if "x4x" in type else 2
            row, column = self.name(), self.name()
            self.lines.append(f"{row} = arith.floordivsi {index}, %c{width} : index")
            self.lines.append(f"{column} = arith.remsi {index}, %c{width} : index")
            where = f"{row}, {column}"
        self.lines.append(f"{value} = memref.load {buffer}[{where}] : {type}")
        if "f64" not in type:
            return value
        narrow = self.name()
        self.lines.append(f"{narrow} = arith.truncf {value} : f64 to f32")
        return narrow

    def combined(self, index: str) -> str:
        """Return a value computed from elements."""
        left = self.load(index)
        if self.random.random() < 0.6:
            return left
        right = self.load(self.random.choice([index, "%c0", "%c7"]))
        value = self.name()
        self.lines.append(f"{value} = arith.addf {left}, {right} : f32")
        return value

    def fill(self, depth: int) -> None:
        """Allocate a buffer and fill all of it."""
        size = self.random.choice(SIZES)
        element = self.random.choice(["f32", "f32", "f64"])
        rows = self.random.choice([None, None, 2, 4])
        space = self.random.choice(["", "", ', "shared"', ', "local.A"', ', "local"'])
        shape = f"{size}" if rows is None else f"{size // rows}x{rows}"
        type = f"memref<{shape}x{element}{space}>"
        op = self.random.choice(["alloc", "alloc", "alloca"])
        mark = " {double_buffer_scope}" if self.random.random() < 0.3 else ""
        buffer, i = self.name(), self.name()
        self.lines.append(f"{buffer} = memref.{op}(){mark} : {type}")
        self.lines.append(f"tir.for {i} = %c0 extent %c{size} {{")
        read = i
        if size > 8:
            read = self.name()
            self.lines.append(f"{read} = arith.minsi {i}, %c7 : index")
        value = self.combined(read)
        if element == "f64":
            wide = self.name()
            self.lines.append(f"{wide} = arith.extf {value} : f32 to f64")
            value = wide
        where = i
        if rows is not None:
            row, column = self.name(), self.name()
            self.lines.append(f"{row} = arith.floordivsi {i}, %c{rows} : index")
            self.lines.append(f"{column} = arith.remsi {i}, %c{rows} : index")
            where = f"{row}, {column}"
        self.lines.append(f"memref.store {value}, {buffer}[{where}] : {type}")
        self.lines.append("}")
        self.buffers.append((buffer, type))

    def update(self, depth: int) -> None:
        """Change a buffer of one dimension."""
        flat = [b for b in self.buffers if b[1].count("x") == 1 and "f32" in b[1]]
        buffer, type = self.random.choice(flat)
        self.lines.append(f"tir.for {(i := self.name())} = %c0 extent %c8 {{")
        value = self.combined(i)
        self.lines.append(f"memref.store {value}, {buffer}[{i}] : {type}")
        self.lines.append("}")

    def output(self, depth: int) -> None:
        """Add to the result."""
        self.lines.append(f"tir.for {(i := self.name())} = %c0 extent %c8 {{")
        value, old, new = self.combined(i), self.name(), self.name()
        self.lines.append(f"{old} = memref.load %y[{i}] : memref<8xf32>")
        self.lines.append(f"{new} = arith.addf {value}, {old} : f32")
        self.lines.append(f"memref.store {new}, %y[{i}] : memref<8xf32>")
        self.lines.append("}")


@pytest.mark.parametrize("seed", range(40))
def test_passes_keep_what_is_computed(seed: int) -> None:
    text = Program(seed).text
    pipeline = PASSES[seed % len(PASSES)]
    ctx = make_ir_context()
    module = parse_module(ctx, text, "f.mlir")
    before = module.clone()
    sequential = parse_pipeline(pipeline)
    with PassContext(opt_level=9):
        sequential.apply(ctx, module)
        verify(module)
        assert compare(before, module)
        snapshot = Snapshot(module)
        sequential.apply(ctx, module)
    assert not snapshot.update(), f"a second run of {pipeline} changes the result"
