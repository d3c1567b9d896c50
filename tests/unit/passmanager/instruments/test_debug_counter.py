"""DebugCounter: the steps that are executed, their numbers, and the report."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, module, named, tags
from support.releases import needs_part
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import func, test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.passes.generic.canonicalize.canonicalize import Canonicalize
from passline.passes.generic.dead_code_elimination import DeadCodeElimination
from passline.passes.generic.eliminate_common_subexpr import EliminateCommonSubexpr
from passline.passmanager import (
    Fixpoint,
    PassContext,
    PassInstrument,
    PatternPass,
    Sequential,
    pass_instrument,
)
from passline.passmanager.instruments import DebugCounter
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context


class Erase(RewritePattern):
    """A pattern that erases each test op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter, /) -> None:
        rewriter.erase(op)


class Never(RewritePattern):
    """A pattern that matches each test op, and does nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: test.TestOp, rewriter: PatternRewriter, /) -> None:
        pass


class ApplyPatterns(PatternPass):
    """Apply the patterns that it is given."""

    name = "test-apply-patterns"

    def __init__(self, *patterns: RewritePattern) -> None:
        self.given = patterns

    def patterns(self) -> Sequence[RewritePattern]:
        return self.given


def erased(*instruments: PassInstrument, patterns: Sequence[RewritePattern] = ()) -> list[int]:
    """Return the numbers of those of four ops that the patterns erased."""
    ops = [test.TestOp() for _ in range(4)]
    function = func.FuncOp("f", ((), ()), Region(Block([*ops, func.ReturnOp()])))
    with PassContext(instruments=instruments):
        ApplyPatterns(*patterns or [Erase()]).apply(Context(), ModuleOp([function]))
    return [number for number, op in enumerate(ops, 1) if op.parent is None]


# The pattern driver


@table_test(
    ("chosen", "expected"),
    [
        ({}, [1, 2, 3, 4]),
        ({"rewrite": [1, 3]}, [1, 3]),
        ({"Erase": range(2, 4)}, [2, 3]),
        ({"erase": [4]}, [4]),
        ({"rewrite": [1, 2], "Erase": [2, 3]}, [2]),
        ({"rewrite": []}, []),
        ({"other": [1]}, [1, 2, 3, 4]),
    ],
)
def test_only_chosen_rewrites_happen(
    chosen: Mapping[str, Container[int]], expected: list[int]
) -> None:
    assert erased(DebugCounter(chosen)) == expected


def test_a_pattern_that_does_nothing_is_numbered_too() -> None:
    # 1 is Never and 2 Erase on the first op, 3 is Never on the second op, and so on.
    counter = DebugCounter({"rewrite": [1, 2, 4]})
    assert erased(counter, patterns=[Never(), Erase()]) == [1, 2]


@needs_part("rewriting")
def test_the_first_steps_are_the_same_whatever_comes_after() -> None:
    text = "".join(f"%{n} = arith.addi %a, %a : i32\n" for n in range(3))
    source = f"func.func @f() {{ %a = arith.constant 1 : i32\n{text} func.return }}"

    def result(limit: int) -> str:
        ctx = make_ir_context()
        op = parse_module(ctx, source, "x.mlir")
        with PassContext(instruments=[DebugCounter({"rewrite": range(1, limit + 1)})]):
            Canonicalize().apply(ctx, op)
        verify(op)
        return str(op)

    results = [result(limit) for limit in range(20)]
    assert len(set(results)) == 5  # one op less, four times
    assert sorted(results, key=len, reverse=True) == results


def test_ops_in_a_cycle_go_only_if_let_through() -> None:
    ctx = make_ir_context(allow_unregistered=True)
    text = "builtin.module {\n%a = arith.addi %b, %b : i32\n%b = arith.addi %a, %a : i32\n}"
    for chosen, left in (({}, 0), ({"region-dce": list[int]()}, 2)):
        op = parse_module(ctx, text, "x.mlir")
        with PassContext(verify_each=False, instruments=[DebugCounter(chosen)]):
            Canonicalize().apply(ctx, op)
        assert len([*op.ops]) == left


@needs_part("rewriting")
def test_a_decider_that_is_no_counter() -> None:
    @pass_instrument
    class NoErase:
        def should_execute(self, tag: str) -> bool:
            return tag != "Erase"

    instrument = NoErase()
    assert isinstance(instrument, PassInstrument)
    assert erased(instrument, counter := DebugCounter()) == []
    assert counter.queried["Erase"] == 4


def test_without_a_decider_nothing_is_asked() -> None:
    with PassContext(instruments=[PassInstrument()]) as ctx:
        assert ctx.should_execute("rewrite")


# Passes

FUNCTION = """\
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = relax.constant dense<2.0> : tensor<4xf32>
  %k = relax.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = relax.multiply %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relax.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = relax.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = relax.add %y, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = relax.add %z, %l : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %z : tensor<4xf32>, tensor<4xf32>
}
func.func private @g() { func.call @h() : () -> () func.return }
func.func private @h() { func.return }
"""


def names_after(pass_: EliminateCommonSubexpr | DeadCodeElimination, *numbers: int):
    """Return the names of the ops and symbols after a pass, and the number of its queries."""
    ctx = make_ir_context()
    op = parse_module(ctx, FUNCTION, "x.mlir")
    with PassContext(instruments=[counter := DebugCounter({pass_.name: numbers})]):
        pass_.apply(ctx, op)
    names = [name_of(inner) for inner in walk(op)]
    return [name for name in names if name], counter.queried[pass_.name]


def name_of(op: Operation) -> str | None:
    symbol = op.properties.get("sym_name")
    return (
        symbol.data
        if isinstance(symbol, StringAttr)
        else op.results[0].name_hint
        if op.results
        else None
    )


def test_merges_are_numbered() -> None:
    everything = [*"fcklyzuvgh"]
    assert names_after(EliminateCommonSubexpr()) == (everything, 1)
    without_z = [name for name in everything if name != "z"]
    assert names_after(EliminateCommonSubexpr(), 1) == (without_z, 2)
    assert names_after(EliminateCommonSubexpr(), 1, 2) == ([n for n in without_z if n != "v"], 2)


def test_erasures_are_numbered_and_leave_valid_ir() -> None:
    assert names_after(DeadCodeElimination(), 1)[0] == [*"fcklyzuvh"]
    assert names_after(DeadCodeElimination(), 2)[0] == [*"fcklyzuvgh"]  # @g keeps @h
    assert names_after(DeadCodeElimination(), 1, 2)[0] == [*"fcklyzuv"]
    assert names_after(DeadCodeElimination(), 4)[0] == [*"fcklyzugh"]
    assert names_after(DeadCodeElimination(), *range(99))[0] == [*"fckyz"]


# Numbers


def asking(ctx_asks: list[bool]):
    """Return a pass that asks about one step."""
    return named("ask", body=lambda module, ctx: ctx_asks.append(ctx.should_execute("ask")))


def test_numbers_go_on_over_nested_pipelines_and_runs() -> None:
    answers: list[bool] = []
    ask = asking(answers)
    pipeline = Sequential([ask, Sequential([ask]), Fixpoint(ask)])
    counter = DebugCounter({"ask": [2, 5]})
    for _ in range(2):  # entered twice
        with PassContext(instruments=[counter]):
            pipeline(module())
    assert answers == [False, True, False, False, True, False]
    assert counter.queried == {"ask": 6} and counter.executed == {"ask": 2}


def test_two_counters_know_nothing_of_each_other() -> None:
    answers: list[bool] = []
    first, second = DebugCounter({"ask": [1]}), DebugCounter({"ask": [2]})
    with PassContext(instruments=[first, second]):
        Sequential([asking(answers), asking(answers)])(module())
    assert answers == [False, False] and first.queried == second.queried == {"ask": 2}


def test_a_pass_that_fails_or_is_skipped_leaves_the_numbers_right() -> None:
    answers: list[bool] = []
    counter = DebugCounter({"ask": [2]})
    with PassContext(instruments=[counter], disabled_pass=["toy-append"]):
        with pytest.raises(ValueError):
            Sequential([asking(answers), Fail()])(module())
        assert not tags(Sequential([Append(), asking(answers)])(module()))
    assert answers == [False, True]


def test_two_threads_share_the_numbers() -> None:
    counter, answers, barrier = DebugCounter({"ask": range(1, 51)}), list[bool](), Barrier(2)

    def work() -> None:
        with PassContext(instruments=[counter]):
            barrier.wait()
            for _ in range(50):
                asking(answers)(module())

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.queried == {"ask": 100} and sum(answers) == 50


# What it says


@needs_part("rewriting")
def test_report() -> None:
    counter = DebugCounter({"rewrite": [2], "Nevr": [1]})
    erased(counter, patterns=[Never(), Erase()])
    rule = "===-------------------------------------------------------------------------===\n"
    assert counter.report() == (
        f"{rule}                             ... Debug counters ...\n{rule}"
        "  4 queried, 4 executed: Erase\n"
        "  4 queried, 4 executed: Never\n"
        "  8 queried, 1 executed: rewrite\n"
    )
    assert [*counter.warnings()] == [
        "debug counter 'Nevr' was never queried, did you mean 'Never'?"
    ]


def test_report_of_nothing() -> None:
    assert DebugCounter().report().endswith("===\n  no counters were queried\n")


def test_numbers_that_are_none() -> None:
    with pytest.raises(
        TypeError, match="debug counter 'rewrite' takes a container of numbers, not '1-3'"
    ):
        DebugCounter({"rewrite": "1-3"})  # pyright: ignore[reportArgumentType]
