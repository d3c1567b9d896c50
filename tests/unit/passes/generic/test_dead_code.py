"""Removal of dead operations: effects that differ by operation, deep nesting, graphs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i1, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from passline.dialects.relax.closures import LambdaOp
from passline.dialects.relax.closures import YieldOp as LambdaYieldOp
from passline.passes.generic.dead_code_elimination import remove_dead_operations


def function(name: str, ops: Sequence[Operation] = (), visibility: str | None = None) -> FuncOp:
    return FuncOp(name, ((), ()), Region(Block([*ops, ReturnOp()])), visibility)


class SometimesWrites(MemoryEffect):
    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE)} if "prop" in op.properties else set()


@irdl_op_definition
class VaryingOp(IRDLOperation):
    """An operation whose effects depend on a property."""

    name = "other.varying"
    prop = opt_prop_def(UnitAttr)
    traits = traits_def(SometimesWrites())


def test_effects_that_vary_are_asked_of_each_operation():
    writes = VaryingOp.create(properties={"prop": UnitAttr()})
    func = function("main", [VaryingOp(), writes, VaryingOp()])
    assert remove_dead_operations(func) == 2
    assert writes.parent is not None


def test_a_thousand_branches_deep():
    condition = TestOp(result_types=[i1])
    inner: Operation = TestOp()
    for _ in range(1000):
        dead = ConstantOp.from_int_and_width(1, 32)
        inner = IfOp(condition.results[0], [], [dead, inner, YieldOp()])
    func = function("main", [condition, inner])
    assert remove_dead_operations(func) == 1000
    assert func.body.block.last_op is not None and func.body.block.last_op.prev_op is inner


def test_a_chain_goes_whatever_its_order():
    """In a graph region, users may stand before what they use."""
    one = ConstantOp.from_int_and_width(1, 32)
    add = AddiOp(one, one)
    again = AddiOp(add, add)
    graph = TestOp(regions=[Region(Block([again, add, one]))])
    func = function("main", [graph])
    assert remove_dead_operations(func) == 3


def test_what_an_unused_lambda_captures_goes_with_it_whatever_the_order():
    """The operations in the lambda are gone with it: they do not count."""
    one = ConstantOp.from_int_and_width(1, 32)
    inner = AddiOp(one, one)
    made = LambdaOp(Block([inner, LambdaYieldOp(inner)]), [i32])
    graph = TestOp(regions=[Region(Block([made, one, TestOp()]))])
    assert remove_dead_operations(function("main", [graph])) == 2
    assert [op.name for op in graph.regions[0].block.ops] == ["test.op"]


def test_an_empty_module():
    assert remove_dead_operations(ModuleOp([])) == 0


def test_nothing_dead():
    one = ConstantOp.from_int_and_width(1, 32)
    func = function("main", [one, TestOp(operands=[one.result])])
    assert remove_dead_operations(func) == 0
