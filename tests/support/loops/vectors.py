"""Random loops whose iterations do not depend on each other."""

from __future__ import annotations

import re
from random import Random

from .writer import Writer

__all__ = ["VectorLoops"]

CALLEE = """
tir.prim_func private @callee(%out : memref<64x64xf32>, %row : index, %i : index, %x : f32) {
  memref.store %x, %out[%row, %i] : memref<64x64xf32>
}
"""


class VectorLoops(Writer):
    """A function with a loop whose iterations do not depend on each other.

    Each store writes a row of its own, and in it another element in each iteration.
    """

    def __init__(self, source: Random, name: str, kind: str) -> None:
        super().__init__(source, name)
        self.rows = 0
        self.floats = ["%x"]
        self.indices = ["%n", "%c1"]
        self.written: list[tuple[str, str]] = []
        lanes = self.random.choice([2, 3, 4, 8, 20])
        first = self.random.choice(["%c0", "%c1", "%n"])
        self.lines.append(f"%extent = arith.constant {lanes} : index")
        self.lines.append(f"tir.for {kind} %v = {first} extent %extent {{")
        self.block(depth=2, statements=6)
        self.lines.append("}")

    @property
    def text(self) -> str:
        body = "\n".join(self.lines)
        used = [n for n in range(64) if re.search(rf"%c{n}\b", body)]
        constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in used)
        callee = CALLEE.replace("@callee", f"@{self.function}_callee")
        return (
            f"{callee}tir.prim_func @{self.function}(%a : memref<8x64xf32>, %x : f32, "
            f"%c : i1, %n : index, %out : memref<64x64xf32>) {{\n{constants}\n{body}\n}}\n"
        )

    def block(self, depth: int, statements: int) -> None:
        """Write statements in a scope of their own."""
        floats, indices, written = [*self.floats], [*self.indices], [*self.written]
        for _ in range(statements):
            choices = [self.arithmetic, self.load, self.store, self.compare, self.read_back]
            choices += [self.nest, self.choose, self.buffer, self.call] if depth else []
            self.random.choice(choices)(depth - 1)
        self.floats, self.indices, self.written = floats, indices, written

    def index(self, own: bool = False) -> str:
        """Write an index that grows with the iteration; `own`: no two iterations share it."""
        index = "%v"
        if self.random.random() < 0.3:
            index = self.op(f"arith.muli {index}, %c2 : index")
        if self.random.random() < 0.6:
            other = self.random.choice(["%n", "%c1"] if own else self.indices)
            index = self.op(f"arith.addi {index}, {other} : index")
        return index

    def condition(self) -> str:
        match self.random.randrange(4):
            case 0:
                return "%c"
            case 1:
                return self.op(
                    f"arith.cmpi slt, {self.index()}, %c{self.random.randrange(9)} : index"
                )
            case 2:
                return self.op(f"arith.cmpi sge, {self.index()}, %n : index")
            case _:
                return self.op("arith.cmpi sgt, %n, %c3 : index")

    def arithmetic(self, _: int) -> None:
        name = self.random.choice(["addf", "mulf", "maximumf", "subf"])
        operands = self.random.choices(self.floats, k=2)
        self.floats.append(self.op(f"arith.{name} {', '.join(operands)} : f32"))

    def compare(self, _: int) -> None:
        a, b = self.random.choices(self.floats, k=2)
        condition = self.op(f"arith.cmpf olt, {a}, {b} : f32")
        self.floats.append(self.op(f"arith.select {condition}, {b}, {a} : f32"))

    def load(self, _: int) -> None:
        column = self.random.choice([self.index(), *self.indices])
        row = self.random.choice(["%c0", "%c5"])
        self.floats.append(self.op(f"memref.load %a[{row}, {column}] : memref<8x64xf32>"))

    def store(self, _: int) -> None:
        row, index = f"%c{self.rows}", self.index(own=True)
        self.rows = min(self.rows + 1, 63)
        value = self.random.choice(self.floats)
        self.lines.append(f"memref.store {value}, %out[{row}, {index}] : memref<64x64xf32>")
        self.written.append((row, index))

    def read_back(self, _: int) -> None:
        if self.written:
            row, index = self.random.choice(self.written)
            self.floats.append(self.op(f"memref.load %out[{row}, {index}] : memref<64x64xf32>"))

    def call(self, _: int) -> None:
        row, index = f"%c{self.rows}", self.index(own=True)
        self.rows = min(self.rows + 1, 63)
        value = self.random.choice(self.floats)
        types = "memref<64x64xf32>, index, index, f32"
        self.lines.append(
            f"tir.call @{self.function}_callee(%out, {row}, {index}, {value}) : {types}"
        )

    def nest(self, depth: int) -> None:
        """Write a branch or a loop."""
        if self.random.random() < 0.6:
            self.lines.append(f"scf.if {self.condition()} {{")
            self.block(depth, 2)
            if self.random.random() < 0.3:
                self.lines.append("} else {")
                self.block(depth, 2)
        else:
            variable = self.name()
            kind = self.random.choice(["", "unrolled "])
            self.lines.append(f"tir.for {kind}{variable} = %c1 extent %c3 {{")
            self.indices.append(variable)
            self.block(depth, 3)
            self.indices.remove(variable)
        self.lines.append("}")

    def choose(self, depth: int) -> None:
        """Write a branch with a result."""
        condition = self.condition()
        name = self.name()
        self.lines.append(f"{name} = scf.if {condition} -> (f32) {{")
        for end in ("} else {", "}"):
            floats = [*self.floats]
            self.load(depth)
            self.lines += [f"scf.yield {self.random.choice(self.floats)} : f32", end]
            self.floats = floats
        self.floats.append(name)

    def buffer(self, depth: int) -> None:
        """Write a loop that adds up a sum in a buffer of the iteration."""
        buffer = self.op("memref.alloca() : memref<2xf32>")
        access = f"{buffer}[%c1] : memref<2xf32>"
        self.lines.append(f"memref.store %x, {access}")
        self.lines.append(f"tir.for {self.name()} = %c0 extent %n {{")
        floats = [*self.floats]
        self.load(depth)
        last = self.op(f"memref.load {access}")
        total = self.op(f"arith.addf {last}, {self.floats[-1]} : f32")
        self.floats = floats
        self.lines += [f"memref.store {total}, {access}", "}"]
        self.floats.append(self.op(f"memref.load {access}"))
