"""Random functions on buffers, with computed indices."""

from __future__ import annotations

from random import Random

from .writer import Writer

__all__ = ["Accesses"]


class Accesses(Writer):
    """A function of loads, stores, copies, calls, loops and branches.

    Two indices may be the same, and two buffers too.
    """

    def __init__(self, source: Random, name: str, element: str = "f32") -> None:
        super().__init__(source, name)
        self.element = element
        self.type = f"memref<4x{element}>"
        self.block(0, ["%a", "%b"], ["%c0", "%c1", "%n"], ["%x"])

    @property
    def text(self) -> str:
        type, twice = self.type, f"@{self.function}_twice"
        return "\n".join(
            [
                f"tir.prim_func private {twice}(%a : {type}) {{",
                "%c0 = arith.constant 0 : index",
                f"%0 = memref.load %a[%c0] : {type}",
                f"%1 = {self.sum('%0', '%0')}",
                f"memref.store %1, %a[%c0] : {type}",
                "}",
                f"tir.prim_func @{self.function}(%a : {type}, %b : {type}, %x : {self.element}, "
                "%n : index, %c : i1, %d : i1) {",
                "%c0 = arith.constant 0 : index",
                "%c1 = arith.constant 1 : index",
                "%c3 = arith.constant 3 : index",
                *self.lines,
                "}\n",
            ]
        )

    def sum(self, a: str, b: str) -> str:
        """Return the text of the sum of two values."""
        kind = "addi" if self.element.startswith("i") else "addf"
        return f"arith.{kind} {a}, {b} : {self.element}"

    def block(self, depth: int, buffers: list[str], indices: list[str], numbers: list[str]) -> None:
        """Write random operations on the values in scope."""
        rng = self.random
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
        rng, add, type = self.random, self.lines.append, self.type
        buffer, index, number = rng.choice(buffers), rng.choice(indices), rng.choice(numbers[-3:])
        name = self.name()
        match kind:
            case "load":
                add(f"{name} = memref.load {buffer}[{index}] : {type}")
                numbers.append(name)
            case "store":
                add(f"memref.store {number}, {buffer}[{index}] : {type}")
            case "sum":
                add(f"{name} = {self.sum(number, rng.choice(numbers))}")
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
                add(f"{name} = memref.alloc() : {type}")
                add(f'"memref.copy"({buffer}, {name}) : ({type}, {type}) -> ()')
                buffers.append(name)
            case "copy":
                add(f'"memref.copy"({buffer}, {rng.choice(buffers)}) : ({type}, {type}) -> ()')
            case "call":
                add(f"tir.call @{self.function}_twice({buffer}) : {type}")
            case "view":
                add(
                    f"{name} = memref.reinterpret_cast {buffer} to offset: [0], sizes: [4], "
                    f"strides: [1] : {type} to {type}"
                )
                buffers.append(name)
            case "for":
                extent = rng.choice(["%c0", "%c3", "%n"])
                loop = rng.choice(["", "", "unrolled "])
                add(f"tir.for {loop}{name} = %c0 extent {extent} {{")
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
