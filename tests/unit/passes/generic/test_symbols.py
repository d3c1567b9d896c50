"""Removal of unreachable symbols: entry functions, references in attributes, long chains."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import PassFailedException

from passline.passes.generic.dead_code_elimination import remove_unreachable_symbols
from passline.passmanager import CollectingActions


def function(name: str, ops: Sequence[Operation] = (), visibility: str | None = None) -> FuncOp:
    return FuncOp(name, ((), ()), Region(Block([*ops, ReturnOp()])), visibility)


def private(name: str, *callees: str) -> FuncOp:
    return function(name, [CallOp(callee, [], []) for callee in callees], "private")


def removed_symbols(module: ModuleOp, *entries: str) -> int:
    """Run the algorithm on `module`, and return the number of symbols that it removed."""
    remove_unreachable_symbols(module, entries, actions=(recorder := CollectingActions()))
    return recorder.counts["removed-symbols"]


def names(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def test_public_functions_are_kept_whatever_the_entries():
    module = ModuleOp([function("foo", [CallOp("bar", [], [])]), private("bar"), function("main")])
    assert removed_symbols(module, "main") == 0


def test_an_unknown_entry():
    module = ModuleOp([private("main_graph"), function("other")])
    with pytest.raises(PassFailedException) as error:
        remove_unreachable_symbols(module, ["main_grph"])
    assert str(error.value) == (
        "entry function @main_grph is not in the module, did you mean 'main_graph'?"
    )


def test_symbols_in_attributes_of_attributes_are_uses():
    named = ArrayAttr([DictionaryAttr({"f": SymbolRefAttr("a"), "g": SymbolRefAttr("b", ["x"])})])
    user = TestOp(attributes={"tables": named})
    module = ModuleOp([function("main", [user]), private("a"), private("b"), private("c")])
    assert removed_symbols(module) == 1
    assert names(module) == ["main", "a", "b"]


def test_a_long_chain_of_calls():
    chain = [private(f"f{i}", f"f{i + 1}") for i in range(2000)]
    module = ModuleOp([*chain, private("f2000")])
    assert removed_symbols(module, "f1000") == 1000


def test_a_module_without_functions():
    assert removed_symbols(ModuleOp([])) == 0
