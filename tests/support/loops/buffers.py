"""Random functions that allocate, fill, combine and read buffers."""

from __future__ import annotations

from random import Random

from .writer import Writer

__all__ = ["Buffers"]

SIZES = (8, 12, 40)
"""Sizes of buffers; only the first 8 elements are read."""


class Buffers(Writer):
    """A random function on two buffers; no element is read before it is written."""

    def __init__(self, source: Random, name: str) -> None:
        super().__init__(source, name)
        self.buffers: list[tuple[str, str]] = [("%x", "memref<8xf32>")]
        """The buffers that are filled, with their types."""
        self.loops: list[str] = []
        self.statements(self.random.choice([2, 3, 4, 8]), 0)

    @property
    def text(self) -> str:
        """The text of the module."""
        sizes = sorted({*SIZES, 0, 1, 2, 3, 4, 7})
        constants = [f"%c{n} = arith.constant {n} : index" for n in sizes]
        body = "\n".join([*constants, *self.lines])
        return (
            f"tir.prim_func @{self.function}(%x: memref<8xf32>, %y: memref<8xf32>, "
            "%n: index, %p: i1) {\n"
            f"{body}\n}}\n"
        )

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
        self.statements(self.random.randint(1, 3), depth + 1)
        self.lines.append("}")

    def branch(self, depth: int) -> None:
        self.lines.append("scf.if %p {")
        self.statements(self.random.randint(1, 3), depth + 1)
        self.lines.append("} else {")
        self.statements(self.random.randint(1, 2), depth + 1)
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
