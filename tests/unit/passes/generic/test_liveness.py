"""Liveness of values through branches and loops."""

from __future__ import annotations

from support.passes.toy import toy_context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.scf import ForOp, IfOp
from xdsl.parser import Parser

from passline.passes.generic.liveness import Liveness

TEXT = """
func.func @f(%c: i1, %n: index, %x: i32) -> i32 {
  %0, %1 = scf.if %c -> (i32, i32) {
    %2 = arith.addi %x, %x : i32
    scf.yield %2, %x : i32, i32
  } else {
    scf.yield %x, %x : i32, i32
  }
  %3, %4 = scf.for %i = %n to %n step %n iter_args(%a = %0, %b = %1) -> (i32, i32) {
    %5 = arith.addi %b, %b : i32
    scf.yield %a, %5 : i32, i32
  }
  func.return %4 : i32
}
"""


def parse():
    ctx = toy_context()
    for dialect in (arith.Arith, cf.Cf, scf.Scf):
        ctx.load_dialect(dialect)
    module = Parser(ctx, TEXT).parse_module()
    ops = list(module.walk())
    branch = next(op for op in ops if isinstance(op, IfOp))
    loop = next(op for op in ops if isinstance(op, ForOp))
    return module, branch, loop


def test_each_result_is_live_by_itself() -> None:
    module, branch, loop = parse()
    live = Liveness(module)
    assert [result in live.values for result in branch.results] == [False, True]
    assert [arg in live.values for arg in loop.body.block.args] == [False, False, True]
    assert branch.true_region.block.first_op not in live.ops


def test_the_results_of_operations_to_keep_are_live() -> None:
    module, branch, loop = parse()
    live = Liveness(module, kept={loop})
    assert all(result in live.values for result in branch.results)
    assert branch.true_region.block.first_op in live.ops
