"""The steps that the infrastructure takes grow with the number of ops, not with its square, in
blocks, functions, nesting, uses and operands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING

from support.releases import require_part
from support.tables import table_test
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.dominance import DominanceInfo
from passline.passmanager.ir.garbage_collection import paused_collector
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.rewriting import apply_patterns

if TYPE_CHECKING:
    from _typeshed import TraceFunction


def function(name: str, ops: Iterable[Operation], block: Block) -> FuncOp:
    block.add_ops([*ops, ReturnOp()])
    return FuncOp(name, ([arg.type for arg in block.args], []), Region(block))


def long_block(n: int) -> ModuleOp:
    ops = [test.TestOp([], [i32])]
    for _ in range(n):
        ops.append(test.TestOp([ops[-1].results[0]], [i32]))
    return ModuleOp([function("f", ops, Block())])


def many_functions(n: int) -> ModuleOp:
    calls = [[CallOp(f"f{max(0, i - 1)}", [], [])] for i in range(n)]
    return ModuleOp([function(f"f{i}", ops, Block()) for i, ops in enumerate(calls)])


def deep_nesting(n: int) -> ModuleOp:
    block = Block(arg_types=[i32])
    inner: list[Operation] = [test.TestOp([block.args[0]])]
    for _ in range(n):
        body = Region(Block([*inner, test.TestTermOp()]))
        inner = [test.TestOp([block.args[0]], regions=[body])]
    return ModuleOp([function("f", inner, block)])


def many_uses(n: int) -> ModuleOp:
    block = Block(arg_types=[i32])
    return ModuleOp([function("f", [test.TestOp(block.args) for _ in range(n)], block)])


def many_operands(n: int) -> ModuleOp:
    block = Block(arg_types=[i32])
    sources = [test.TestOp(block.args, [i32]) for _ in range(n)]
    user = test.TestOp([source.results[0] for source in sources], [i32] * n)
    return ModuleOp([function("f", [*sources, user], block)])


def many_blocks(n: int) -> ModuleOp:
    blocks = [Block() for _ in range(n)]
    for number, block in enumerate(blocks):
        following = blocks[number + 1 : number + 3]
        block.add_op(test.TestTermOp.create(successors=following) if following else ReturnOp())
    return ModuleOp([FuncOp("f", ([], []), Region(blocks))])


def early_exits(n: int) -> ModuleOp:
    blocks = [Block() for _ in range(n)]
    for block, following in pairwise(blocks):
        block.add_op(test.TestTermOp.create(successors=[following, blocks[-1]]))
    blocks[-1].add_op(ReturnOp())
    return ModuleOp([FuncOp("f", ([], []), Region(blocks))])


class Mark(RewritePattern):
    """Mark each op."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, test.TestOp | test.TestTermOp) and not op.attributes:
            op.attributes["marked"] = UnitAttr()
            rewriter.notify_op_modified(op)


def find_changes(module: ModuleOp) -> None:
    snapshot = Snapshot(module)
    for op in walk(module):
        op.attributes["changed"] = UnitAttr()
    assert snapshot.update()


def rewrite(module: ModuleOp) -> None:
    apply_patterns(module, [Mark()])


def lines_run(work: Callable[[ModuleOp], object], module: ModuleOp) -> int:
    """Return the number of lines of Python that `work` runs."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal lines
        lines += event == "line"
        return trace

    previous = sys.gettrace()
    with paused_collector():  # to free what other tests left may run lines, too
        sys.settrace(trace)
        try:
            work(module)
        finally:
            sys.settrace(previous)
    return lines


@table_test("work", [clone, find_changes, verify, DominanceInfo, rewrite])
@table_test(
    "build",
    [long_block, many_functions, deep_nesting, many_uses, many_operands, many_blocks, early_exits],
)
def test_steps_are_linear(
    build: Callable[[int], ModuleOp], work: Callable[[ModuleOp], object]
) -> None:
    if (work, build) == (verify, many_functions):
        require_part("verifying")  # xDSL's verifier of a call looks through all symbols
    if (work, build) == (clone, deep_nesting):
        require_part("copying")
    lines_run(work, build(20))  # fills the caches by class
    small, large = (lines_run(work, build(n)) for n in (100, 400))
    assert large < 4.4 * small


@table_test("work", [clone, find_changes, verify, DominanceInfo, rewrite])
def test_nesting_needs_no_stack(work: Callable[[ModuleOp], object]) -> None:
    if work is clone:
        require_part("copying")  # xDSL's copy needs one
    work(deep_nesting(2000))
