"""Removal of dead results: refused actions, deep nesting."""

from __future__ import annotations

from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp, i1, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.ir import Block, Operation, Region

from passline.passes.generic.dead_code_elimination import remove_dead_code
from passline.passes.generic.purity import Purity
from passline.passmanager.actions import Actions
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk


def nested(depth: int) -> ModuleOp:
    """Return a module with branches in branches, each with an unused second result."""
    block = Block(arg_types=[i1, i32])
    condition, x = block.args
    inner: IfOp | None = None
    for _ in range(depth):
        first, second = (x, x) if inner is None else inner.results
        double = AddiOp(second, second)
        then: list[Operation] = [] if inner is None else [inner]
        body = [*then, double, YieldOp(first, double.result)]
        inner = IfOp(condition, [i32, i32], body, [YieldOp(x, x)])
    assert inner is not None
    block.add_ops([inner, ReturnOp(inner.results[0])])
    return ModuleOp([FuncOp("f", ((i1, i32), (i32,)), Region(block))])


def test_many_branches_deep() -> None:
    module = nested(200)
    remove_dead_code(module, Purity(module))
    verify(module)
    branches = [op for op in walk(module) if isinstance(op, IfOp)]
    assert len(branches) == 200 and all(len(op.results) == 1 for op in branches)
    assert not any(isinstance(op, AddiOp) for op in walk(module))


class AllBut(Actions):
    """Actions that refuse to change one operation."""

    def __init__(self, refused: Operation) -> None:
        self.refused = refused

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        return op is not self.refused


def test_what_a_refused_change_needs_stays() -> None:
    module = nested(3)
    middle = [op for op in walk(module) if isinstance(op, IfOp)][1]
    remove_dead_code(module, Purity(module), AllBut(middle))
    verify(module)
    branches = [op for op in walk(module) if isinstance(op, IfOp)]
    assert [len(op.results) for op in branches] == [1, 2, 2]
