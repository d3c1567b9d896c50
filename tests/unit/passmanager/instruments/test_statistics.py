"""StatisticsInstrument: exact counts of ops, counters of passes, and the exact formats."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.passes.generic.canonicalize.canonicalize import Canonicalize
from passline.passmanager import Fixpoint, PassContext, PatternPass, Sequential
from passline.passmanager.instruments import StatisticsInstrument
from passline.passmanager.run import Run


def run(*passes: ModulePass, **settings: Any) -> StatisticsInstrument:
    """Return the statistics of passes that run in order on a module with a function @f."""
    instrument = StatisticsInstrument()
    with PassContext(instruments=[instrument], **settings):
        Sequential(passes)(module("f"))
    return instrument


def row(**known: Any) -> dict[str, Any]:
    """Return the statistics of a pass, by default of one that ran once and did nothing."""
    nothing: dict[str, Any] = {"counters": {}, "created": {}, "erased": {}}
    return {"runs": 1, "changed": 0, "failed": 0, **nothing, **known}


def counting(pass_name: str, **counts: int) -> ModulePass:
    """Return a pass that adds to these counters, and changes nothing."""

    def body(_: ModuleOp, ctx: PassContext) -> None:
        for name, n in counts.items():
            ctx.count(name, n)

    return named(pass_name, body=body)


def erase_last(module: ModuleOp, _: PassContext) -> None:
    op = module.body.block.last_op
    assert op is not None
    op.detach()
    op.erase()


RULE = "===-------------------------------------------------------------------------==="

# Formats


def test_text() -> None:
    found = run(
        counting("fold", folded=15, kept=3),
        Append(),
        Append("y"),
        named("erase", body=erase_last),
        counting("fold", folded=2),
        Nothing(),
    )
    assert found.report() == (
        f"{RULE}\n"
        "                         ... Pass statistics report ...\n"
        f"{RULE}\n"
        "fold: 2 runs, 0 changed\n"
        "  (S) 17 folded\n"
        "  (S)  3 kept\n"
        "toy-append: 2 runs, 2 changed\n"
        "  (S)  2 test.op created\n"
        "erase: 1 run, 1 changed\n"
        "  (S)  1 test.op erased\n"
        "toy-nothing: 1 run, 0 changed\n"
    )


def test_json() -> None:
    found = run(counting("fold", folded=1), Append())
    assert found.report("json") == json.dumps(found.as_dict(), indent=2) + "\n"
    assert json.loads(found.report("json")) == {
        "fold": row(counters={"folded": 1}),
        "toy-append": row(changed=1, created={"test.op": 1}),
    }


def test_without_data() -> None:
    found = StatisticsInstrument()
    assert found.report() == "" and json.loads(found.report("json")) == {} == found.as_dict()


# Ops


def replace_all(module: ModuleOp, _: PassContext) -> None:
    """Replace each op of the module by a new one repeatedly, so that ids would be reused."""
    for _round in range(50):
        for op in [*module.ops]:
            op.detach()
            op.erase()
            module.body.block.add_op(TestOp())


def test_replaced_op_counts_although_its_address_is_used_again() -> None:
    found = run(Append(), named("replace", body=replace_all))
    assert found.as_dict()["replace"] == row(
        changed=1,
        created={"test.op": 2},
        erased={"test.op": 1, "func.func": 1, "func.return": 1},
    )


def test_change_without_ops() -> None:
    assert run(Tag()).as_dict() == {"toy-tag": row(changed=1)}


def test_moved_op_is_neither_created_nor_erased() -> None:
    def move(module: ModuleOp, _: PassContext) -> None:
        op = module.body.block.last_op
        assert op is not None
        op.detach()
        module.body.block.insert_op_before(op, module.body.block.first_op)  # pyright: ignore[reportArgumentType]

    found = run(Append(), named("move", body=move))
    assert found.as_dict()["move"] == row(changed=1)


def test_unregistered_op_has_its_own_name() -> None:
    def add(module: ModuleOp, _: PassContext) -> None:
        module.body.block.add_op(UnregisteredOp.with_name("foo.bar").create())

    found = run(named("add", body=add), verify_each=False)
    assert found.as_dict()["add"]["created"] == {"foo.bar": 1}


def test_nested_ops_count() -> None:
    def clone(module: ModuleOp, _: PassContext) -> None:
        func = module.body.block.first_op
        assert isinstance(func, FuncOp)
        copy = func.clone()
        copy.sym_name = type(copy.sym_name)("g")
        module.body.block.add_op(copy)

    assert run(named("clone", body=clone)).as_dict()["clone"]["created"] == {
        "func.func": 1,
        "func.return": 1,
    }


@table_test("verify", [True, False])
def test_what_a_pass_has_others_do_is_theirs(verify: bool) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        Append("before").transform_module(module, ctx)
        Sequential([Append("inner"), Nothing(), Append("inner")]).apply(
            Run.current().ir_context, module
        )
        erase_last(module, ctx)
        Append("after").transform_module(module, ctx)
        Append("after").transform_module(module, ctx)

    found = run(Append(), named("caller", body=body), Append(), verify_each=verify).as_dict()
    assert found["toy-append"]["created"] == {"test.op": 4}
    assert found["caller"]["created"] == {"test.op": 3}
    assert found["caller"]["erased"] == {"test.op": 1}


def test_pass_that_catches_the_failure_of_another_is_not_charged_for_it() -> None:
    def breaking(module: ModuleOp, ctx: PassContext) -> None:
        Append("broken").transform_module(module, ctx)
        raise ValueError("boom")

    def body(module: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(ValueError):
            Sequential([named("breaking", body=breaking)]).apply(Run.current().ir_context, module)
        Append("own").transform_module(module, ctx)

    found = run(named("caller", body=body)).as_dict()
    assert found["caller"]["created"] == {"test.op": 1}
    assert found["breaking"] == row(failed=1)


def test_other_module_is_another_matter() -> None:
    def body(module_: ModuleOp, ctx: PassContext) -> None:
        Append()(module_)

    found = run(named("caller", body=body)).as_dict()
    assert found == {"caller": row(), "toy-append": row(changed=1, created={"test.op": 1})}


def test_rolled_back_pass_created_nothing() -> None:
    instrument = StatisticsInstrument()
    with pytest.raises(ValueError):
        with PassContext(instruments=[instrument], rollback=True):
            Sequential([Append(), Fail()])(module())
    assert instrument.as_dict()["toy-fail"] == row(failed=1)


def test_passes_are_walked_once_where_they_change_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from passline.passmanager.instruments import statistics

    walked: list[Operation] = []
    real = statistics.walk

    def walk(root: Operation) -> Any:
        walked.append(root)
        return real(root)

    monkeypatch.setattr(statistics, "walk", walk)
    run(Nothing(), Sequential([Nothing(), Append()]), Fixpoint(Nothing()), Append(), Nothing())
    assert len(walked) == 3  # at the beginning, and after each Append


# Counters


class Retag(RewritePattern):
    """Remove the tags of ops."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter) -> None:
        if op.attributes.pop("tag", None) is not None:
            rewriter.notify_op_modified(op)


class Untag(PatternPass[FuncOp]):
    name = "toy-untag"

    def patterns(self) -> list[RewritePattern]:
        return [Retag()]


def test_pattern_pass_counts_how_often_each_fired() -> None:
    def fill(module: ModuleOp, ctx: PassContext) -> None:
        func = module.body.block.first_op
        assert isinstance(func, FuncOp) and func.body.block.first_op is not None
        for _ in range(3):
            tagged = Append()
            tagged.transform_module(module, ctx)
            op = module.body.block.last_op
            assert op is not None
            op.detach()
            func.body.block.insert_op_before(op, func.body.block.first_op)

    found = run(named("fill", body=fill), Untag()).as_dict()
    assert found["toy-untag"] == row(changed=1, counters={"Retag": 3})


def test_canonicalize_counts_how_often_each_pattern_fired() -> None:
    from xdsl.parser import Parser

    from passline.tools.opt import PasslineOptMain

    text = """
    func.func @f(%a: i32) -> i32 {
      %zero = arith.constant 0 : i32
      %dead = arith.constant 1 : i32
      %sum = arith.addi %a, %zero : i32
      func.return %sum : i32
    }"""
    instrument = StatisticsInstrument()
    context = PasslineOptMain(args=[]).ctx
    with PassContext(instruments=[instrument]):
        Canonicalize().apply(context, Parser(context, text).parse_module())
    found = instrument.as_dict()["canonicalize"]
    assert found["erased"] == {"arith.constant": 2, "arith.addi": 1}
    assert sum(found["counters"].values()) == 3


def test_counters_of_earlier_passes_of_the_run_are_not_counted_again() -> None:
    instrument = StatisticsInstrument()

    def body(module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("n", 1)
        with PassContext(instruments=[instrument]):
            counting("fold", n=5).apply(Run.current().ir_context, module)

    Sequential([counting("fold", n=100), named("caller", body=body)])(module())
    assert instrument.as_dict()["fold"]["counters"] == {"n": 5}


# What it survives


def test_failing_pass_inside_nested_sequentials() -> None:
    instrument = StatisticsInstrument()
    with pytest.raises(ValueError):
        with PassContext(instruments=[instrument]):
            Sequential([counting("fold", n=1), Sequential([Append(), Fail()]), Append()])(module())
    assert instrument.as_dict() == {
        "fold": row(counters={"n": 1}),
        "toy-append": row(changed=1, created={"test.op": 1}),
        "toy-fail": row(failed=1),
    }
    assert "toy-fail: 1 run, 0 changed, 1 failed\n" in instrument.report()


def test_skipped_pass_leaves_nothing() -> None:
    instrument = StatisticsInstrument()
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(instruments=[instrument, blocker], disabled_pass=["toy-fail"]):
        Sequential([Append(), Fail(), Nothing()])(module())
    assert instrument.as_dict() == {"toy-nothing": row()}


def test_entered_twice_adds_up() -> None:
    instrument = StatisticsInstrument()
    for _ in range(2):
        with PassContext(instruments=[instrument]):
            Sequential([counting("fold", n=2), Append()])(module())
    assert instrument.as_dict() == {
        "fold": row(runs=2, counters={"n": 4}),
        "toy-append": row(runs=2, changed=2, created={"test.op": 2}),
    }


def test_two_threads_add_up() -> None:
    instrument = StatisticsInstrument()
    meet = threading.Barrier(2)
    wait: Callable[..., None] = lambda *_: void(meet.wait(10))  # noqa: E731

    def work() -> None:
        with PassContext(instruments=[instrument]):
            step = named("step", body=wait)
            Sequential([step, counting("fold", n=1), Append(), step, Append()])(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert instrument.as_dict() == {
        "step": row(runs=4),
        "fold": row(runs=2, counters={"n": 2}),
        "toy-append": row(runs=4, changed=4, created={"test.op": 4}),
    }


def void(_: object) -> None: ...
