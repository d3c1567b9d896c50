"""Random functions on buffers with computed indices and conditions, to test simplification."""

from __future__ import annotations

from random import Random

from .writer import Writer

__all__ = ["Indices"]

BINARY = ("addi", "subi", "muli", "minsi", "maxsi", "floordivsi", "divsi", "remsi", "ceildivsi")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge")


class Indices(Writer):
    """A function of computed indices and conditions.

    Its parameters are a buffer of 64 results, a buffer of 4 integers, 2 indices, 2 small integers
    and a condition.
    """

    def __init__(self, source: Random, name: str) -> None:
        super().__init__(source, name)
        self.stores = 0
        self.indices = ["%n", "%m"]
        self.numbers = ["%x", "%y"]
        self.conditions = ["%p"]
        self.statements(self.random.choice([0, 1, 1, 2, 3]), "  ")

    @property
    def text(self) -> str:
        body = "\n".join(self.lines)
        return (
            f"tir.prim_func @{self.function}(%out: memref<64xi32>, %mem: memref<4xi32>, "
            f"%n: index, %m: index, %x: i8, %y: i8, %p: i1) {{\n{body}\n}}\n"
        )

    def make(self, pad: str, text: str) -> str:
        name = self.name()
        self.lines.append(f"{pad}{name} = {text}")
        return name

    def index_constant(self, pad: str, value: int) -> str:
        return self.make(pad, f"arith.constant {value} : index")

    def expression(self, pad: str) -> None:
        pick = self.random
        match pick.randrange(12):
            case 0:
                self.indices.append(self.index_constant(pad, pick.randint(-5, 12)))
            case 1 | 2 | 3 | 4:
                op = pick.choice(BINARY)
                a, b = pick.choice(self.indices), pick.choice(self.indices)
                if "div" in op or "rem" in op or pick.random() < 0.4:
                    b = self.index_constant(pad, pick.choice((1, 2, 3, 4, 4, 8, 16)))
                self.indices.append(self.make(pad, f"arith.{op} {a}, {b} : index"))
            case 5:
                op = pick.choice(("addi", "subi", "muli", "minsi", "maxui", "andi", "xori"))
                a, b = pick.choice(self.numbers), pick.choice(self.numbers)
                if pick.random() < 0.5:
                    b = self.make(pad, f"arith.constant {pick.choice((-1, 0, 1, 7, 100))} : i8")
                self.numbers.append(self.make(pad, f"arith.{op} {a}, {b} : i8"))
            case 6:
                a = pick.choice(self.numbers)
                wide = self.make(pad, f"arith.{pick.choice(('extsi', 'extui'))} {a} : i8 to i32")
                self.indices.append(self.make(pad, f"arith.index_cast {wide} : i32 to index"))
            case 7:
                a, b = pick.choice(self.indices), pick.choice(self.indices)
                c = pick.choice(self.conditions)
                self.indices.append(self.make(pad, f"arith.select {c}, {a}, {b} : index"))
            case 8:
                a, b = pick.choice(self.conditions), pick.choice(self.conditions)
                op = pick.choice(("andi", "ori", "xori"))
                if op == "xori":
                    b = self.make(pad, "arith.constant true")
                self.conditions.append(self.make(pad, f"arith.{op} {a}, {b} : i1"))
            case 9:
                a, b = pick.choice(self.numbers), pick.choice(self.numbers)
                compare = f"arith.cmpi {pick.choice(PREDICATES)}, {a}, {b} : i8"
                self.conditions.append(self.make(pad, compare))
            case _:
                a, b = pick.choice(self.indices), pick.choice(self.indices)
                if pick.random() < 0.4:
                    b = self.index_constant(pad, pick.randint(-3, 9))
                compare = f"arith.cmpi {pick.choice(PREDICATES)}, {a}, {b} : index"
                self.conditions.append(self.make(pad, compare))

    def store(self, pad: str) -> None:
        """Combine a value with the next element of `%out`, as 3 * old + value.

        Each of the first 64 stores in the text has its own element, so only the iterations of a
        loop are combined.
        """
        pick = self.random
        if pick.random() < 0.5:
            wide = self.make(pad, f"arith.index_cast {pick.choice(self.indices)} : index to i32")
        else:
            kind, value = pick.choice(
                [("i8", pick.choice(self.numbers)), ("i1", pick.choice(self.conditions))]
            )
            wide = self.make(pad, f"arith.extui {value} : {kind} to i32")
        place = self.index_constant(pad, self.stores % 64)
        self.stores += 1
        old = self.make(pad, f"memref.load %out[{place}] : memref<64xi32>")
        three = self.make(pad, "arith.constant 3 : i32")
        hashed = self.make(pad, f"arith.muli {old}, {three} : i32")
        total = self.make(pad, f"arith.addi {hashed}, {wide} : i32")
        self.lines.append(f"{pad}memref.store {total}, %out[{place}] : memref<64xi32>")

    def memory(self, pad: str) -> None:
        """Load one of two elements of `%mem`; use it in a condition, or copy it to one of the
        two."""
        pick = self.random
        place = self.index_constant(pad, pick.randrange(2))
        value = self.make(pad, f"memref.load %mem[{place}] : memref<4xi32>")
        if pick.random() < 0.5:
            one = self.make(pad, "arith.constant 1 : i32")
            compare = f"arith.cmpi {pick.choice(PREDICATES)}, {value}, {one} : i32"
            self.conditions.append(self.make(pad, compare))
        else:
            other = self.index_constant(pad, pick.randrange(2))
            self.lines.append(f"{pad}memref.store {value}, %mem[{other}] : memref<4xi32>")

    def statements(self, depth: int, pad: str) -> None:
        marks = len(self.indices), len(self.numbers), len(self.conditions)
        for _ in range(self.random.randint(1, 4)):
            self.expression(pad)
            match self.random.randrange(6 if depth else 3):
                case 0 | 1:
                    self.store(pad)
                case 2:
                    self.memory(pad)
                case 3:
                    self.loop(depth - 1, pad)
                case _:
                    self.branch(depth - 1, pad)
        del self.indices[marks[0] :], self.numbers[marks[1] :], self.conditions[marks[2] :]

    def loop(self, depth: int, pad: str) -> None:
        pick = self.random
        first = self.index_constant(pad, pick.randint(-2, 3))
        extent = self.index_constant(pad, pick.choice((0, 1, 2, 3, 4)))
        if pick.random() < 0.5:
            first = pick.choice(self.indices)
        if pick.random() < 0.4:
            four = self.index_constant(pad, 4)
            extent = self.make(pad, f"arith.minsi {pick.choice(self.indices)}, {four} : index")
        variable = self.name()
        self.lines.append(f"{pad}tir.for {variable} = {first} extent {extent} {{")
        self.indices += [variable] * 3
        self.statements(depth, pad + "  ")
        del self.indices[-3:]
        self.lines.append(f"{pad}}}")

    def branch(self, depth: int, pad: str) -> None:
        self.lines.append(f"{pad}scf.if {self.random.choice(self.conditions)} {{")
        self.statements(depth, pad + "  ")
        if self.random.random() < 0.5:
            self.lines.append(f"{pad}}} else {{")
            self.statements(depth, pad + "  ")
        self.lines.append(f"{pad}}}")
