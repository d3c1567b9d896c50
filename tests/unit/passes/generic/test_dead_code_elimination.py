"""DeadCodeElimination: entry functions, and functions that only dead operations refer to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.test import TestOp, TestPureOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import PassFailedException

from passline.passes.generic.dead_code_elimination import DeadCodeElimination


def function(name: str, ops: Sequence[Operation] = (), visibility: str | None = None) -> FuncOp:
    return FuncOp(name, ((), ()), Region(Block([*ops, ReturnOp()])), visibility)


def private(name: str, *callees: str) -> FuncOp:
    return function(name, [CallOp(callee, [], []) for callee in callees], "private")


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_entries_are_kept_with_what_they_call():
    b = function("b", [TestOp()], "private")
    functions = [private("a", "b"), b, private("c"), function("d")]
    module = DeadCodeElimination(entry_functions=("a",))(ModuleOp(functions))
    assert names(module) == ["a", "b", "d"]


def test_functions_that_only_dead_operations_name_go():
    user = TestPureOp(attributes={"f": SymbolRefAttr("a")}, result_types=[i32])
    module = DeadCodeElimination()(ModuleOp([function("main", [user]), private("a")]))
    assert names(module) == ["main"]


def test_an_unknown_entry():
    module = ModuleOp([private("main_graph")])
    with pytest.raises(PassFailedException, match="@zzz is not in the module"):
        DeadCodeElimination(entry_functions=("zzz",))(module)
