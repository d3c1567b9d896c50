"""Removal of dead values, and of constants: what may not be changed, deep nesting, remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from support.parsing import parsed
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, i1, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from passline.passes.generic.int_range_optimizations import optimize_by_ranges
from passline.passes.generic.remove_dead_values import remove_dead_values
from passline.passes.generic.sccp import propagate_constants
from passline.passmanager import CollectingActions, RemarkKind
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk


class AllBut(CollectingActions):
    """Actions that refuse to change the operations of one name."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        return op is None or op.name != self.refused


CALLS = """
func.func private @f(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.muli %y, %y : i32
  func.return %x, %0 : i32, i32
}
func.func @main(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1, %2 = func.call @f(%x, %0) : (i32, i32) -> (i32, i32)
  func.return %1 : i32
}
"""


def names(module: ModuleOp) -> Counter[str]:
    return Counter(op.name for op in walk(module))


def test_a_function_that_may_not_change_keeps_what_its_callers_pass() -> None:
    module = parsed(CALLS)
    before = str(module)
    remove_dead_values(module, actions=AllBut("func.func"), signatures=True, operations=True)
    assert str(module) == before


def test_an_operation_that_may_not_go_keeps_its_operands() -> None:
    module = parsed(CALLS)
    actions = AllBut("arith.addi")
    remove_dead_values(module, actions=actions, signatures=True, operations=True)
    verify(module)
    assert names(module)["arith.addi"] == 1 and names(module)["arith.muli"] == 0
    assert actions.counts == {"removed": 1, "removed-parameters": 1, "removed-results": 1}


def test_a_value_that_may_not_be_replaced_stays() -> None:
    text = """
    func.func @f() -> (i32, i32) {
      %two = arith.constant 2 : i32
      %0 = arith.addi %two, %two : i32
      %1 = arith.muli %0, %two : i32
      func.return %0, %1 : i32, i32
    }
    """
    module = parsed(text)
    actions = AllBut("arith.addi")
    assert propagate_constants(module, actions) == 1
    assert names(module)["arith.addi"] == 1 and names(module)["arith.muli"] == 0
    assert actions.counts == {"folded": 1}
    assert actions.remarks == [(RemarkKind.PASSED, "Folded")]


def test_an_operation_without_the_interface_is_reported() -> None:
    text = """
    func.func @f(%x: i32) {
      %0 = "test.region"(%x) ({
      ^bb0(%a: i32):
        "test.yield"(%a) : (i32) -> ()
      }) : (i32) -> i32
      func.return
    }
    """
    actions = CollectingActions()
    propagate_constants(parsed(text), actions)
    assert actions.remarks == [(RemarkKind.MISSED, "NoInterface")]


def nested(depth: int) -> ModuleOp:
    """Return a function with branches in branches, each with a constant and a dead result."""
    block = Block(arg_types=[i1, i32])
    condition, x = block.args
    inner: scf.IfOp | None = None
    for _ in range(depth):
        one = arith.ConstantOp.from_int_and_width(1, 32)
        value = one.result if inner is None else inner.results[0]
        first = [one] if inner is None else [one, inner]
        then = [*first, scf.YieldOp(value, x)]
        other = arith.ConstantOp.from_int_and_width(1, 32)
        inner = scf.IfOp(condition, [i32, i32], then, [other, scf.YieldOp(other.result, x)])
    assert inner is not None
    block.add_ops([inner, ReturnOp(inner.results[0])])
    return ModuleOp([FuncOp("f", ((i1, i32), (i32,)), Region(block))])


@pytest.mark.parametrize("propagate", [propagate_constants, optimize_by_ranges])
def test_constants_2000_deep(propagate: Callable[[ModuleOp], object]) -> None:
    propagate(module := nested(2_000))
    assert names(module)["arith.constant"] == 1


def test_results_2000_deep() -> None:
    assert remove_dead_values(module := nested(2_000)) == 2_000
    branches = [op for op in walk(module) if isinstance(op, scf.IfOp)]
    assert len(branches) == 2_000 and all(len(op.results) == 1 for op in branches)
