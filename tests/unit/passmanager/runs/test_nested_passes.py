"""Passes that run passes: each has changes and `preserves` of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.passes.toy import Append, Fail, Nothing, module, named, tags
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass as ForeignPass
from xdsl.passes import PassPipeline

from passline.passmanager import (
    Fixpoint,
    InvalidIRError,
    Pass,
    PassContext,
    PassContractError,
    PassInfo,
    PassInstrument,
    Sequential,
)
from passline.passmanager.anchors import Anchored


class Size:
    """An analysis: the number of ops."""

    def __init__(self, op: Operation) -> None:
        self.size = sum(1 for _ in op.walk())


sizes: list[tuple[int, int]] = []
"""The cached and the true size, each time that they were asked for."""


def ask(m: ModuleOp, ctx: PassContext) -> None:
    sizes.append((ctx.analyses.get(Size, m).size, Size(m).size))


ASK = named("ask", body=ask)
ALL = (Size, "base")
KEEPS = named("keeps", keeps=ALL)
LAZY = named("lazy", keeps=ALL, changes=False)
Body = Callable[[ModuleOp, PassContext], None]


def grow(m: ModuleOp, ctx: PassContext) -> None:
    Append("outer").transform_module(m, ctx)


def apply(pass_: ForeignPass | PassPipeline) -> Body:
    return lambda m, ctx: pass_.apply(ctx.ir_context, m)


def attempt(pass_: ForeignPass) -> Body:
    def body(m: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(Exception, match="boom|empty block"):
            pass_.apply(ctx.ir_context, m)

    return body


def leaf(*bodies: Body, keeps: tuple[str | type, ...] = ()) -> Pass:
    """Return a pass that does all of `bodies`, one after the other."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        for part in bodies:
            part(m, ctx)

    return named("outer", keeps=keeps, body=body)


@dataclass(frozen=True)
class Foreign(ForeignPass):
    """A pass of xDSL that grows the module, and then runs a pass of Passline."""

    name = "foreign"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(test.TestOp())
        KEEPS.apply(ctx, op)


def grow_and_fail(m: ModuleOp, ctx: PassContext) -> None:
    grow(m, ctx)
    raise ValueError("boom")


def break_ir(m: ModuleOp, ctx: PassContext) -> None:
    func = next(iter(m.ops))
    func.regions[0].block.erase_op(func.regions[0].block.last_op)  # pyright: ignore[reportArgumentType]


GROW_AND_FAIL = named("grow-and-fail", keeps=ALL, body=grow_and_fail)
BREAK = named("break", keeps=ALL, body=break_ir)

INNER = [
    KEEPS,
    LAZY,
    Sequential([KEEPS, LAZY]),
    Sequential([Sequential([LAZY])]),
    Fixpoint(LAZY),
    leaf(apply(KEEPS), keeps=ALL),
    leaf(grow, apply(Sequential([LAZY])), keeps=ALL),
]
OUTER = [
    *(leaf(grow, apply(pass_)) for pass_ in INNER),
    *(leaf(apply(pass_), grow) for pass_ in INNER),
    *(leaf(apply(pass_), grow, apply(pass_)) for pass_ in INNER),
    leaf(grow, apply(PassPipeline((LAZY, LAZY)))),
    Foreign(),
    leaf(attempt(GROW_AND_FAIL), keeps=()),
    leaf(attempt(GROW_AND_FAIL), apply(LAZY), keeps=ALL),
    leaf(attempt(Sequential([GROW_AND_FAIL])), apply(LAZY), keeps=ALL),
    leaf(apply(Append("inner")), keeps=ALL),
]


@table_test("outer", OUTER)
@table_test("verify_each", [True, False])
def test_analysis_is_not_stale_after_a_pass_that_runs_others(
    outer: ForeignPass, verify_each: bool
) -> None:
    sizes.clear()
    with PassContext(verify_each=verify_each):
        Sequential([ASK, outer, ASK])(module("f"))
    assert len(sizes) == 2 and all(cached == true for cached, true in sizes)


@table_test("outer", [leaf(grow, apply(pass_)) for pass_ in (LAZY, Fixpoint(LAZY))])
def test_requirement_runs_again_after_the_changes_around_an_inner_pass(outer: Pass) -> None:
    needs = named("needs", requires=["base"], changes=False)
    base = named("base")
    result = Sequential([base, outer, needs])(module("f"))
    assert tags(result) == ["base", "outer", "base"]


def test_requirement_holds_within_an_outer_pass_as_it_changes_the_module() -> None:
    needs = named("needs", requires=["base"], keeps=["base"])
    inner = Sequential([named("base"), needs])
    outer = leaf(apply(inner), apply(inner), grow, apply(inner))
    result = Sequential([outer])(module("f"))
    assert tags(result) == [*["base", "needs"] * 2, "outer", "base", "needs"]


def test_what_all_preserve_is_kept() -> None:
    asked: list[object] = []
    ask = named("ask", body=lambda m, ctx: asked.append(ctx.analyses.get(Size, m)))
    Sequential([ask, leaf(grow, apply(KEEPS), grow, keeps=ALL), ask])(module("f"))
    assert asked[0] is asked[1]


def test_first_iteration_of_an_inner_fixpoint_does_not_count_the_changes_before_it() -> None:
    ran: list[str] = []

    class Names(PassInstrument):
        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            ran.append(info.name)

    with PassContext(instruments=[Names()]):
        leaf(grow, apply(Fixpoint(Nothing())))(module("f"))
    assert ran == ["outer", "fixpoint", "toy-nothing"]


# Blame


@table_test(
    ("outer", "culprit"),
    [
        (leaf(grow, apply(LAZY), keeps=ALL), "outer"),
        (leaf(grow, apply(Sequential([Fixpoint(LAZY)])), keeps=ALL), "outer"),
        (leaf(apply(KEEPS), grow), "keeps"),
        (leaf(apply(LAZY), grow, keeps=ALL), "outer"),
        (leaf(apply(Sequential([KEEPS])), keeps=ALL), "keeps"),
        (leaf(grow, apply(KEEPS)), None),
        (leaf(apply(Append("inner")), keeps=ALL), None),
    ],
)
def test_verify_preserves_blames_the_pass_that_made_the_change(
    outer: Pass, culprit: str | None
) -> None:
    with PassContext(verify_preserves=True):
        if culprit is None:
            Sequential([ASK, outer])(module("f"))
            return
        with pytest.raises(PassContractError, match=f"pass '{culprit}' claims to preserve Size"):
            Sequential([ASK, outer])(module("f"))


def test_invalid_ir_is_the_fault_of_the_outer_pass_that_made_it() -> None:
    with pytest.raises(InvalidIRError) as caught:
        leaf(break_ir, apply(Nothing()))(module("f"))
    passes = [note.split(" on ")[0] for note in caught.value.__notes__ if note.startswith("in ")]
    assert passes == ["in pass 'outer'"]


def test_invalid_ir_of_a_pass_whose_failure_was_caught_is_found() -> None:
    with pytest.raises(InvalidIRError):
        leaf(attempt(BREAK))(module("f"))


def test_changes_are_verified_as_the_context_of_their_pass_says() -> None:
    def without_verification(m: ModuleOp, ctx: PassContext) -> None:
        with PassContext(verify_each=False):
            Nothing().apply(ctx.ir_context, m)

    with pytest.raises(InvalidIRError):
        leaf(break_ir, without_verification)(module("f"))


def test_rollback_of_an_inner_pass_keeps_the_changes_before_it() -> None:
    with PassContext(rollback=True):
        outer = leaf(grow, attempt(GROW_AND_FAIL), attempt(Fail("boom")), grow)
        assert tags(outer(module("f"))) == ["outer", "outer"]


# Under an anchor


def add_to_function(m: ModuleOp, ctx: PassContext) -> None:
    block = next(iter(m.ops)).regions[0].block
    block.insert_op_before(test.TestOp(), block.first_op)  # pyright: ignore[reportArgumentType]


def add_and_fail(m: ModuleOp, ctx: PassContext) -> None:
    add_to_function(m, ctx)
    raise ValueError("boom")


@table_test(
    "inner",
    [
        apply(named("adds", body=add_to_function)),
        apply(Sequential([LAZY, named("adds", body=add_to_function)])),
        attempt(named("adds-and-fails", keeps=ALL, body=add_and_fail)),
    ],
)
@table_test("verify_each", [True, False])
def test_nested_pass_preserves_what_the_passes_that_it_runs_preserve(
    inner: Body, verify_each: bool
) -> None:
    sizes.clear()
    anchored = Anchored(leaf(inner, keeps=ALL), ["func.func"])
    with PassContext(verify_each=verify_each):
        Sequential([ASK, anchored, ASK])(module("f"))
    assert sizes == [(3, 3), (4, 4)]
