"""cse: the same result as xDSL's on random modules; depth. See also tests/filecheck."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from support.budget import some
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.transforms.common_subexpression_elimination import cse as cse_of_xdsl

from passline.passes.generic.cse import cse
from passline.passmanager import CollectingActions
from passline.passmanager.ir.walk import walk

OPS = (
    "{r} = arith.addi {a}, {b} : i32",
    "{r} = arith.muli {a}, {b} : i32",
    "{r} = arith.addi {a}, {b} overflow<nsw> : i32",
    '{r} = arith.addi {a}, {b} {{"tag" = 1 : i32}} : i32',
    "{r} = arith.constant 1 : i32",
    "{r} = arith.constant 2 : i32",
    "{r} = memref.load %m[%i] : memref<4xi32>",
    "{r} = memref.load %m[%i] : memref<4xi32>",
    "memref.store {a}, %m[%i] : memref<4xi32>",
    '{r} = "test.op"({a}) : (i32) -> i32',
    '{r} = "test.pureop"({a}) : (i32) -> i32',
    '{r} = "other.op"({a}) : (i32) -> i32',
    "memref.dealloc %m : memref<4xi32>",
)


class Program:
    """A random function on `i32`, with branches, loops and an isolated module in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0

    def text(self) -> str:
        body = "\n".join(self.block(["%x", "%y"], 12, 3))
        head = "func.func @f(%x: i32, %y: i32, %m: memref<4xi32>, %i: index, %c: i1) {"
        return f"{head}\n{body}\nfunc.return\n}}\n" + "\n".join(self.graph(10))

    def block(self, values: list[str], length: int, depth: int) -> Iterator[str]:
        for _ in range(length):
            kind = self.random.random()
            if depth and kind < 0.12:
                yield from self.branch(values, depth - 1)
            elif depth and kind < 0.2:
                yield f"scf.for {self.name()} = %i to %i step %i {{"
                yield from self.block([*values], 4, depth - 1)
                yield "}"
            else:
                a, b = self.random.choice(values[-4:]), self.random.choice(values)
                op = self.random.choice(OPS)
                yield op.format(r=(result := self.name()), a=a, b=b)
                if op.startswith("{r}"):
                    values.append(result)

    def branch(self, values: list[str], depth: int) -> Iterator[str]:
        result = self.name()
        yield f"{result} = scf.if %c -> (i32) {{"
        for last in ("} else {", "}"):
            inner = [*values]
            yield from self.block(inner, self.random.randint(0, 2), depth)
            yield f"scf.yield {self.random.choice(values)} : i32"
            yield last
        values.append(result)

    def graph(self, length: int) -> Iterator[str]:
        """Yield operations of a graph region, with uses before definitions."""
        values = [f"%g{i}" for i in range(length)]
        for value in values:
            op = self.random.choice(("arith.addi", "arith.muli"))
            yield f"{value} = {op} {self.random.choice(values)}, {values[0]} : i32"
        yield f'"test.op"({self.random.choice(values)}) : (i32) -> ()'

    def name(self) -> str:
        self.names += 1
        return f"%{self.names}"


def parse(text: str) -> ModuleOp:
    ctx = Context(allow_unregistered=True)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    return Parser(ctx, text).parse_module()


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_the_result_is_that_of_xdsl(seed: int) -> None:
    module = parse(Program(seed).text())
    expected = module.clone()
    cse_of_xdsl(expected)
    cse(module, recorder := CollectingActions())
    assert str(module) == str(expected)
    assert recorder.counts.total() > 0
    module.verify()


def test_nothing_recurses() -> None:
    module = ModuleOp([])
    depth = 5_000
    for _ in range(depth):  # from the inside out: xDSL looks at all ancestors of a new place
        module = ModuleOp([module])
    cse(module)
    assert sum(1 for _ in walk(module)) == depth + 1


def test_equal_regions_are_equal_operations() -> None:
    module = parse("""
        func.func @f(%c: i1, %x: i32) -> (i32, i32, i32) {
          %0 = scf.if %c -> (i32) { scf.yield %x : i32 } else { %1 = arith.addi %x, %x : i32 scf.yield %1 : i32 }
          %2 = scf.if %c -> (i32) { scf.yield %x : i32 } else { %3 = arith.addi %x, %x : i32 scf.yield %3 : i32 }
          %4 = scf.if %c -> (i32) { scf.yield %x : i32 } else { %5 = arith.muli %x, %x : i32 scf.yield %5 : i32 }
          func.return %0, %2, %4 : i32, i32, i32
        }""")  # noqa: E501
    cse(module, recorder := CollectingActions())
    assert [op.name for op in walk(module)].count("scf.if") == 2
    assert recorder.counts == {"merged": 1}


BLOCKS = """
func.func @f(%c: i1, %x: i32, %y: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  "test.op"(%0) : (i32) -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %1 = arith.addi %y, %x : i32
  %2 = arith.muli %x, %y : i32
  "test.op"(%1, %2) : (i32, i32) -> ()
  cf.br ^bb3
^bb2:
  %3 = arith.muli %x, %y : i32
  "test.op"(%3) : (i32) -> ()
  cf.br ^bb3
^bb3:
  %4 = arith.muli %x, %y : i32
  %5 = arith.addi %x, %y : i32
  "test.op"(%4, %5) : (i32, i32) -> ()
  func.return %5 : i32
}
"""


def test_what_dominates_is_available() -> None:
    """A sum, also with exchanged operands, is; a product in each of two branches is not after them,
    nor in the other one."""
    module = parse(BLOCKS)
    cse(module, recorder := CollectingActions(), mlir=True)
    assert [op.name for op in walk(module)].count("arith.addi") == 1
    assert [op.name for op in walk(module)].count("arith.muli") == 3
    assert recorder.counts == {"merged": 2}
    module.verify()


def test_blocks_are_left_alone_as_by_xdsl() -> None:
    module = parse(BLOCKS)
    cse(module, recorder := CollectingActions())
    assert recorder.counts.total() == 0
