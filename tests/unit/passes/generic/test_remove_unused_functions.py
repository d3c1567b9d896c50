"""RemoveUnusedFunctions: entry functions."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import PassFailedException

from passline.passes.generic.remove_unused import RemoveUnusedFunctions


def function(name: str, *callees: str) -> FuncOp:
    calls = [CallOp(callee, [], []) for callee in callees]
    return FuncOp(name, ((), ()), Region(Block([*calls, ReturnOp()])))


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_several_entries():
    functions = [function("a", "b"), function("b"), function("c"), function("main")]
    module = RemoveUnusedFunctions(entry_functions=("a", "main"))(ModuleOp(functions))
    assert names(module) == ["a", "b", "main"]


def test_an_entry_that_is_missing_gets_the_nearest():
    module = ModuleOp([function("main")])
    message = "entry function @mian is not in the module, did you mean 'main'?"
    with pytest.raises(PassFailedException, match=message):
        RemoveUnusedFunctions(entry_functions=("mian",))(module)


def test_without_main_there_is_nothing_to_start_from():
    with pytest.raises(PassFailedException, match="entry function @main is not in the module"):
        RemoveUnusedFunctions()(ModuleOp([function("f")]))
