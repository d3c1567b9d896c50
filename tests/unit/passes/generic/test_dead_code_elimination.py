"""What FileCheck cannot say of DeadCodeElimination: entries, effects by operation, depth."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestOp, TestPureOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import PassFailedException

from passline.dialects.relax.closures import LambdaOp
from passline.dialects.relax.closures import YieldOp as LambdaYieldOp
from passline.passes.generic.dead_code_elimination import (
    DeadCodeElimination,
    remove_dead_operations,
    remove_unreachable_symbols,
)


def function(name: str, ops: Sequence[Operation] = (), visibility: str | None = None) -> FuncOp:
    return FuncOp(name, ((), ()), Region(Block([*ops, ReturnOp()])), visibility)


def private(name: str, *callees: str) -> FuncOp:
    return function(name, [CallOp(callee, [], []) for callee in callees], "private")


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


# Functions


def test_entries_are_kept_with_what_they_call():
    functions = [private("a", "b"), private("b"), private("c"), function("d")]
    module = DeadCodeElimination(entry_functions=("a",))(ModuleOp(functions))
    assert names(module) == ["a", "b", "d"]


def test_public_functions_are_kept_whatever_the_entries():
    module = ModuleOp([function("foo", [CallOp("bar", [], [])]), private("bar"), function("main")])
    assert remove_unreachable_symbols(module, ["main"]) == 0


def test_an_unknown_entry():
    module = ModuleOp([private("main_graph"), function("other")])
    with pytest.raises(PassFailedException) as error:
        remove_unreachable_symbols(module, ["main_grph"])
    assert str(error.value) == (
        "entry function @main_grph is not in the module; did you mean @main_graph?"
    )
    with pytest.raises(PassFailedException, match="@zzz is not in the module"):
        DeadCodeElimination(entry_functions=("zzz",))(module)


def test_symbols_in_attributes_of_attributes_are_uses():
    named = ArrayAttr([DictionaryAttr({"f": SymbolRefAttr("a"), "g": SymbolRefAttr("b", ["x"])})])
    user = TestOp(attributes={"tables": named})
    module = ModuleOp([function("main", [user]), private("a"), private("b"), private("c")])
    assert remove_unreachable_symbols(module) == 1
    assert names(module) == ["main", "a", "b"]


def test_a_long_chain_of_calls():
    chain = [private(f"f{i}", f"f{i + 1}") for i in range(2000)]
    module = ModuleOp([*chain, private("f2000")])
    assert remove_unreachable_symbols(module, ["f1000"]) == 1000


def test_functions_that_only_dead_operations_name_go():
    user = TestPureOp(attributes={"f": SymbolRefAttr("a")}, result_types=[i32])
    module = DeadCodeElimination()(ModuleOp([function("main", [user]), private("a")]))
    assert names(module) == ["main"]


def test_module_without_functions():
    assert remove_unreachable_symbols(ModuleOp([])) == 0
    assert remove_dead_operations(ModuleOp([])) == 0


# Operations


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


def test_nothing_dead():
    one = ConstantOp.from_int_and_width(1, 32)
    func = function("main", [one, TestOp(operands=[one.result])])
    assert remove_dead_operations(func) == 0
