"""Random nests of loops around statements with conditions on their variables."""

from __future__ import annotations

from random import Random

from .writer import Writer

__all__ = ["GuardedLoops"]

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")


class GuardedLoops(Writer):
    """A function with a nest of loops around statements with conditions."""

    def __init__(self, source: Random, name: str) -> None:
        super().__init__(source, name)
        self.variables = ["%n", "%m"]
        self.nest(self.random.choice([1, 1, 2, 3]))

    @property
    def text(self) -> str:
        """The text of the module."""
        body = "\n".join(self.lines)
        parameters = "%a: memref<16xi64>, %n: index, %m: index"
        return f"tir.prim_func @{self.function}({parameters}) {{\n{body}\n}}\n"

    def index(self) -> str:
        """Write a sum of multiples of variables."""
        total = self.constant(-8, 8)
        for variable in self.random.sample(self.variables, min(len(self.variables), 3)):
            if self.random.random() < 0.7:
                factor = self.constant(-4, 4)
                term = self.op(f"arith.muli {variable}, {factor} : index")
                if self.random.random() < 0.2:
                    divisor = self.constant(1, 4)
                    term = self.op(f"arith.floordivsi {term}, {divisor} : index")
                total = self.op(f"arith.addi {total}, {term} : index")
        return total

    def condition(self, depth: int = 2) -> str:
        """Write a condition on variables."""
        if depth and self.random.random() < 0.4:
            name = self.random.choice(("arith.andi", "arith.ori", "arith.xori"))
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return self.op(f"{name} {one}, {other} : i1")
        a, b, predicate = self.index(), self.index(), self.random.choice(PREDICATES)
        return self.op(f"arith.cmpi {predicate}, {a}, {b} : index")

    def statement(self) -> None:
        """Write a change of an element whose result depends on the order of changes."""
        sixteen = self.op("arith.constant 16 : index")
        index = self.index()
        whole = self.op(f"arith.floordivsi {index}, {sixteen} : index")
        whole = self.op(f"arith.muli {whole}, {sixteen} : index")
        index = self.op(f"arith.subi {index}, {whole} : index")
        old = self.op(f"memref.load %a[{index}] : memref<16xi64>")
        three = self.op("arith.constant 3 : i64")
        tripled = self.op(f"arith.muli {old}, {three} : i64")
        number = self.op(f"arith.constant {self.random.randint(1, 99)} : i64")
        new = self.op(f"arith.addi {tripled}, {number} : i64")
        self.lines.append(f"memref.store {new}, %a[{index}] : memref<16xi64>")

    def branch(self) -> None:
        """Write a statement under a condition, or one in each branch."""
        condition = self.condition()
        if self.random.random() < 0.8:
            condition = self.op(f"tir.likely {condition}")
        self.lines.append(f"scf.if {condition} {{")
        self.statement()
        if self.random.random() < 0.3:
            self.branch()
        if self.random.random() < 0.4:
            self.lines.append("} else {")
            self.statement()
        self.lines.append("}")

    def nest(self, depth: int) -> None:
        """Write a nest of loops with statements in each."""
        if self.random.random() < 0.3:
            self.branch()
        if depth == 0:
            return self.branch()
        first = self.constant(-2, 2)
        extent = self.random.choice([self.constant(0, 6), self.constant(1, 8), "%n", self.index()])
        hint = " attributes {pragma_loop_partition_hint}" if self.random.random() < 0.3 else ""
        variable = self.name()
        self.lines.append(f"tir.for {variable} = {first} extent {extent}{hint} {{")
        self.variables.append(variable)
        self.nest(depth - 1)
        self.variables.pop()
        self.lines.append("}")
        if self.random.random() < 0.2:
            self.branch()
