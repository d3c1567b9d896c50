"""Sparse analyses: forward and backward, through regions, blocks and calls."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.passes.toy import toy_context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from passline.passmanager import BackwardAnalysis, DiagnosticError, ForwardAnalysis
from passline.passmanager.dataflow.edges import ControlFlow
from passline.passmanager.ir.walk import walk

Values = frozenset[int]
ANY: Values = frozenset(range(-1, 100))


def parse(text: str) -> ModuleOp:
    ctx = toy_context()
    for dialect in (arith.Arith, cf.Cf, scf.Scf):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


class Possible(ForwardAnalysis[Values]):
    """The integers that values may be; branches on one that is known are decided."""

    visits = 0

    def join(self, a: Values, b: Values) -> Values:
        return a | b

    def entry(self, value: SSAValue) -> Values:
        return ANY

    def constant(self, state: Values) -> Attribute | None:
        return IntegerAttr(next(iter(state)), 32) if len(state) == 1 else None

    def transfer(self, op: Operation, operands: Sequence[Values]) -> Sequence[Values] | None:
        self.visits += 1
        if isinstance(op, arith.ConstantOp):
            assert isinstance(op.value, IntegerAttr)
            return [frozenset([op.value.value.data])]
        return None


class Needed(BackwardAnalysis[bool]):
    """The values that an operation of the dialect `test` depends on."""

    def join(self, a: bool, b: bool) -> bool:
        return True

    def exit(self, op: Operation, value: SSAValue) -> bool | None:
        return None

    def transfer(self, op: Operation, results: Sequence[bool | None]) -> Sequence[bool | None]:
        needed = isinstance(op, TestOp) or any(results)
        return [needed or None] * len(op.operands)


def named(root: Operation) -> dict[str, SSAValue]:
    """Return the named values in `root`."""
    values: list[SSAValue] = []
    for op in walk(root):
        values += op.results
        values += [arg for region in op.regions for block in region.blocks for arg in block.args]
    return {value.name_hint: value for value in values if value.name_hint}


REGIONS = """
func.func @f(%c: i1, %n: index) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %if = scf.if %c -> (i32) {
    scf.yield %one : i32
  } else {
    scf.yield %two : i32
  }
  %for = scf.for %i = %n to %n step %n iter_args(%carried = %two) -> (i32) {
    scf.yield %one : i32
  }
  %while, %second = scf.while (%before = %one) : (i32) -> (i32, i32) {
    scf.condition(%c) %before, %two : i32, i32
  } do {
  ^bb0(%after: i32, %other: i32):
    scf.yield %other : i32
  }
  func.return
}
"""


def test_values_flow_through_regions() -> None:
    module = parse(REGIONS)
    known, values = Possible(module), named(module)
    for name in ("if", "for", "carried", "while", "before", "after"):
        assert known.state(values[name]) == {1, 2}
    assert known.state(values["second"]) == known.state(values["other"]) == {2}
    assert known.state(values["i"]) == ANY


def test_each_operation_without_loops_is_visited_once() -> None:
    module = parse(REGIONS)
    assert Possible(module).visits == 2  # the constants: values flow through the others by edges


BRANCHES = """
func.func @f(%x: i1) {
  %true = arith.constant true
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.cond_br %true, ^bb1(%one : i32), ^bb2(%two : i32)
^bb1(%taken: i32):
  cf.cond_br %x, ^bb3(%one : i32), ^bb3(%two : i32)
^bb2(%never: i32):
  cf.br ^bb3(%never : i32)
^bb3(%joined: i32):
  func.return
}
"""


def test_a_branch_that_is_never_taken_is_not_followed() -> None:
    module = parse(BRANCHES.replace("arith.constant true", "arith.constant -1 : i1"))
    known, values = Possible(module), named(module)
    assert known.state(values["taken"]) == {1}
    assert known.state(values["never"]) is None
    assert known.state(values["joined"]) == {1, 2}
    body = next(op for op in walk(module) if isinstance(op, FuncOp)).body.blocks
    assert [block in known.reached for block in body] == [True, True, False, True]


CALLS = """
func.func private @private(%p: i32) -> i32 {
  func.return %p : i32
}
func.func @public(%q: i32) -> i32 {
  func.return %q : i32
}
func.func private @taken(%r: i32) -> i32 {
  func.return %r : i32
}
func.func @main() {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %a = func.call @private(%one) : (i32) -> i32
  %b = func.call @private(%two) : (i32) -> i32
  %d = func.call @public(%one) : (i32) -> i32
  %e = func.call @taken(%one) : (i32) -> i32
  "test.op"(%e) {callee = @taken} : (i32) -> ()
  func.return
}
"""


def test_values_flow_through_calls_of_functions_whose_callers_are_known() -> None:
    module = parse(CALLS)
    known, values = Possible(module), named(module)
    assert all(known.state(values[name]) == {1, 2} for name in "pab")
    # Others may call them: `@taken` is named by an operation that is no call.
    assert all(known.state(values[name]) == ANY for name in "qrde")


def test_without_calls_their_results_are_unknown() -> None:
    module = parse(CALLS)
    known = Possible(module, flow=ControlFlow(module, interprocedural=False))
    values = named(module)
    assert all(known.state(values[name]) == ANY for name in "pabqrde")


def test_needs_flow_backwards() -> None:
    module = parse("""
    func.func private @callee(%p: i32, %q: i32) -> i32 {
      func.return %p : i32
    }
    func.func @f(%c: i1, %x: i32, %y: i32, %z: i32) {
      %call = func.call @callee(%x, %y) : (i32, i32) -> i32
      %if, %unused = scf.if %c -> (i32, i32) {
        scf.yield %call, %z : i32, i32
      } else {
        scf.yield %call, %y : i32, i32
      }
      cf.br ^bb1(%if, %z : i32, i32)
    ^bb1(%a: i32, %b: i32):
      "test.op"(%a) : (i32) -> ()
      cf.br ^bb1(%a, %b : i32, i32)
    }
    """)
    needed = Needed(module)
    found = {name for name, value in named(module).items() if needed.state(value)}
    assert found == {"p", "x", "call", "if", "a", "c"}


class Growing(ForwardAnalysis[int]):
    """An analysis of unlimited height: the number of additions."""

    limit = 20

    def join(self, a: int, b: int) -> int:
        return max(a, b)

    def entry(self, value: SSAValue) -> int:
        return 0

    def transfer(self, op: Operation, operands: Sequence[int]) -> Sequence[int] | None:
        return [sum(operands) + 1] if isinstance(op, arith.AddiOp) else None


class Widened(Growing):
    def widen(self, old: int, new: int) -> int:
        return 1000

    def transfer(self, op: Operation, operands: Sequence[int]) -> Sequence[int] | None:
        found = super().transfer(op, operands)
        return found and [min(found[0], 1000)]


GROWS = """
func.func @f(%n: index, %x: i32) {
  %0 = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (i32) {
    %sum = arith.addi %a, %x : i32
    scf.yield %sum : i32
  }
  func.return
}
"""


def test_a_lattice_that_does_not_converge_is_an_error() -> None:
    with pytest.raises(DiagnosticError) as info:
        Growing(parse(GROWS))
    text = str(info.value)
    assert "'scf.for' op the analysis Growing does not converge" in text
    assert "changed more than 20 times, at last from 20 to 21" in text and "`widen`" in text


def test_widening_makes_it_converge() -> None:
    module = parse(GROWS)
    assert Widened(module).state(named(module)["sum"]) == 1000


def test_an_operation_of_10000_levels() -> None:
    block = Block()
    for _ in range(10_000):
        block = Block([scf.ExecuteRegionOp([], Region(block))])
        block.add_op(scf.YieldOp())
    module = ModuleOp(Region(block))
    assert len(Possible(module).reached) == 10_001
    assert Needed(module).states == {}
