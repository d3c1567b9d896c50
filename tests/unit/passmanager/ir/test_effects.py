"""Memory effects: the same answers as xDSL's functions, on operations of all kinds."""

from __future__ import annotations

import sys

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp, TestPureOp
from xdsl.parser import Parser
from xdsl.traits import RecursiveMemoryEffect
from xdsl.transforms.dead_code_elimination import would_be_trivially_dead

from passline.passmanager.ir.effects import (
    NESTED,
    READS,
    UNKNOWN,
    WRITES,
    all_effects,
    class_effects,
    would_be_dead,
)
from passline.passmanager.ir.walk import walk

TEXT = """
%c = arith.constant true
%i = arith.constant 1 : index
%m = memref.alloc() : memref<4xi32>
%x = memref.load %m[%i] : memref<4xi32>
memref.store %x, %m[%i] : memref<4xi32>
memref.dealloc %m : memref<4xi32>
scf.if %c {
  %y = memref.load %m[%i] : memref<4xi32>
}
scf.for %k = %i to %i step %i {
  scf.if %c { memref.store %x, %m[%i] : memref<4xi32> }
}
scf.for %k = %i to %i step %i {
  scf.if %c { "test.pureop"() : () -> () }
  %f = "stencil.alloc"() : () -> !stencil.field<[0,4]xf32>
}
scf.if %c { "other.op"() : () -> () } else { }
"test.pureop"() ({ "test.op"() : () -> () }) : () -> ()
func.func @f() { func.return }
%r = "x86.di.mov"() {immediate = 1 : i32} : () -> !x86.reg64
%s = "x86.di.mov"() {immediate = 1 : i32} : () -> !x86.reg64<rax>
"""


def parsed() -> ModuleOp:
    ctx = Context(allow_unregistered=True)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    return Parser(ctx, TEXT).parse_module()


def test_an_op_is_dead_as_in_xdsl() -> None:
    ops = [*walk(parsed())]
    answers = [would_be_dead(op) for op in ops]
    assert answers == [would_be_trivially_dead(op) for op in ops]
    assert {True, False} == set(answers)


def test_effects_of_nested_operations() -> None:
    holders = [op for op in parsed().ops if op.regions]
    reading, writing, _, unknown, pure, _ = map(all_effects, holders)
    assert (reading, writing, unknown, pure) == (READS, WRITES, UNKNOWN, 0)


def test_nothing_recurses() -> None:
    class Nest(TestOp):
        name = "test.nest"
        traits = type(TestPureOp.traits)(lambda: (RecursiveMemoryEffect(),))

    op = Nest()
    for _ in range(5_000):
        op = Nest(regions=[[op]])
    assert class_effects[Nest] == NESTED and would_be_dead(op) and not all_effects(op)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # passline-opt, in this process, may have allowed more
    try:
        with pytest.raises(RecursionError):
            would_be_trivially_dead(op)
    finally:
        sys.setrecursionlimit(before)
    ModuleOp([op])
