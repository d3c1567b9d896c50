"""Random loop nests compute the same after LoopPartition, with any of its options."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.laws import run
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.tir.ops import LikelyOp
from passline.passes.tir.loop_partition import LoopPartition
from passline.passmanager.ir.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

OPTIONS = [
    LoopPartition(),
    LoopPartition(partition_const_loop=True),
    LoopPartition(
        partition_const_loop=True,
        no_unroll_loop_with_extent_one=True,
        unroll_loop_with_partition_hint_no_interval=True,
    ),
]
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")


class Program:
    """The text of a function with a nest of loops around statements with conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.variables = ["%n", "%m"]
        self.nest(self.random.randint(1, 3))

    @property
    def text(self) -> str:
        """The text of the module."""
        body = "\n".join(self.lines)
        return f"tir.prim_func @f(%a: memref<16xi64>, %n: index, %m: index) {{\n{body}\n}}"

    def op(self, text: str) -> str:
        """Write an operation; return the name of its result."""
        self.names += 1
        self.lines.append(f"%v{self.names} = {text}")
        return f"%v{self.names}"

    def constant(self, low: int, high: int) -> str:
        """Write a constant between two integers."""
        return self.op(f"arith.constant {self.random.randint(low, high)} : index")

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
        self.names += 1
        variable = f"%v{self.names}"
        self.lines.append(f"tir.for {variable} = {first} extent {extent}{hint} {{")
        self.variables.append(variable)
        self.nest(depth - 1)
        self.variables.pop()
        self.lines.append("}")
        if self.random.random() < 0.2:
            self.branch()


def results(module: ModuleOp, n: int, m: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Run the function; return the buffer afterwards."""
    buffer = np.arange(16, dtype=np.int64)
    run(module, "f", (buffer, n, m))
    return buffer


@pytest.mark.parametrize("seed", range(16))
def test_the_same_is_computed(seed: int):
    module = parse_module(make_ir_context(), Program(seed).text, "f.mlir")
    sizes = ((0, 3), (5, 2), (-2, -1), (7, 9))
    expected = [results(module, n, m) for n, m in sizes]
    for options in OPTIONS:
        split = options(module)
        verify(split)
        assert not any(isinstance(op, LikelyOp) for op in split.walk())
        for (n, m), result in zip(sizes, expected, strict=True):
            np.testing.assert_array_equal(results(split, n, m), result)
