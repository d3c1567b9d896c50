"""Purity: the effects of calls, and what it costs to find them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region

from passline.passes.generic import purity as module_of_purity
from passline.passes.generic.purity import PURE, Purity
from passline.passmanager.ir.effects import UNKNOWN


def function(name: str, *ops: Operation) -> FuncOp:
    return FuncOp(name, ((), ()), Region(Block([*ops, ReturnOp()])))


def call(name: str) -> CallOp:
    return CallOp(name, [], [])


def chain(length: int, last: Operation) -> list[FuncOp]:
    """Return functions of which each calls the next one, the last one first."""
    calls = [function(f"f{i}", call(f"f{i + 1}")) for i in range(length)]
    return [function(f"f{length}", last), *reversed(calls)]


@pytest.mark.parametrize(("last", "effects"), [(TestOp(), UNKNOWN), (call("f0"), 0)])
def test_effects_travel_through_thousands_of_calls(last: Operation, effects: int) -> None:
    purity = Purity(ModuleOp(chain(3000, last)))
    assert purity.of_call(call("f0")) == effects


def test_each_body_is_visited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    visited = 0
    walk = module_of_purity.walk

    def counted(root: Operation):
        nonlocal visited
        for op in walk(root):
            visited += 1
            yield op

    monkeypatch.setattr(module_of_purity, "walk", counted)
    functions = chain(100, TestOp())
    purity = Purity(ModuleOp(functions))
    assert visited == 0
    for i in range(100):
        purity.of_call(call(f"f{i}"))
    assert visited == 3 * len(functions)


def test_a_callee_that_is_not_in_the_module() -> None:
    purity = Purity(ModuleOp([function("f", call("missing"))]))
    assert purity.of_call(call("missing")) == purity.of_call(call("f")) == UNKNOWN


def test_declared_attributes_hold_for_the_callers_too() -> None:
    traced = function("traced", TestOp())
    traced.attributes[PURE] = UnitAttr()
    purity = Purity(ModuleOp([traced, function("f", call("traced"))]))
    assert purity.is_pure(call("f"))
