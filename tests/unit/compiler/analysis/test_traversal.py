"""The order in which passes visit the ops of a block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region, SSAValue

from passline.passmanager.ir.ordering import in_order


def op(operands: Sequence[SSAValue] = ()) -> TestOp:
    return TestOp(operands, [i32])


def test_other_blocks_are_as_written_also_while_ops_go_and_come():
    a, b = op(), op()
    func = FuncOp("f", ((), ()), Region(Block([a, b])))
    seen: list[Operation] = []
    for current in in_order(func.body.block):
        seen.append(current)
        func.body.block.insert_op_before(op(), current)
        current.detach()
    assert seen == [a, b]


def test_a_graph_region_comes_in_the_order_of_dependences():
    a = op()
    b = op([a.results[0]])
    assert [*in_order(ModuleOp([b, a]).body.block)] == [a, b]
