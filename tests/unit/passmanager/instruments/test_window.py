"""StopAfter, StopBefore, StartAfter and StartBefore: which part of a pipeline runs."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, Recorder, module, named, tags
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import (
    Fixpoint,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
)
from passline.passmanager.instruments import StartAfter, StartBefore, StopAfter, StopBefore


def names(*passes: str) -> list[ModulePass]:
    return [named(name) for name in passes]


def inner(*passes: str) -> Sequential:
    return Sequential(names(*passes), name="inner")


PIPELINE = Sequential([*names("a"), inner("b", "c"), *names("d", "e")])


def run(instrument: PassInstrument, pipeline: Pass = PIPELINE) -> str:
    with PassContext(instruments=[instrument]):
        return " ".join(tags(pipeline(module())))


# StopAfter


@table_test(
    ("name", "ran"),
    [
        ("a", "a"),
        ("b", "a b"),
        ("c", "a b c"),
        ("d", "a b c d"),
        ("e", "a b c d e"),
        ("inner", "a b c"),
        ("Inner", "a b c"),
        ("sequential", "a b c d e"),
        ("nothing", "a b c d e"),
    ],
)
def test_stop(name: str, ran: str) -> None:
    assert run(StopAfter(name)) == ran


def test_stop_after_the_first_of_its_name() -> None:
    assert run(StopAfter("a"), Sequential(names("b", "a", "c", "a"))) == "b a"


def test_stop_in_a_fixpoint() -> None:
    pipeline = Sequential([Fixpoint(inner("a", "b", "c")), *names("d")])
    assert run(StopAfter("b"), pipeline) == "a b"


def test_stop_after_a_pass_that_is_disabled() -> None:
    stop = StopAfter("c")
    with PassContext(disabled_pass=["c"], instruments=[stop]):
        assert tags(PIPELINE(module())) == ["a", "b"]
    assert not stop.unmatched


def test_stop_after_a_pass_that_another_instrument_blocks() -> None:
    with PassContext(instruments=[StopAfter("c"), Recorder(blocks=frozenset(["c"]))]):
        assert tags(PIPELINE(module())) == ["a", "b"]


def test_stop_after_a_requirement() -> None:
    user = named("user", requires=["need"])
    assert run(StopAfter("need"), Sequential([user, *names("need")])) == "need"


# StartAfter


@table_test(
    ("name", "ran"),
    [
        ("a", "b c d e"),
        ("b", "c d e"),
        ("c", "d e"),
        ("d", "e"),
        ("e", ""),
        ("inner", "d e"),
        ("IN-NER", "d e"),
        ("sequential", ""),
        ("nothing", ""),
    ],
)
def test_start(name: str, ran: str) -> None:
    assert run(StartAfter(name)) == ran


def test_start_after_the_first_of_its_name() -> None:
    assert run(StartAfter("a"), Sequential(names("b", "a", "c", "a"))) == "c a"


def test_start_after_a_pass_that_is_disabled() -> None:
    with PassContext(disabled_pass=["c"], instruments=[StartAfter("c")]):
        assert tags(PIPELINE(module())) == ["d", "e"]


def test_start_after_a_pass_that_is_required_by_the_context() -> None:
    with PassContext(required_pass=["c"], instruments=[StartAfter("c")]):
        assert tags(PIPELINE(module())) == ["c", "d", "e"]


def test_requirement_of_a_pass_after_the_start_runs() -> None:
    user = named("user", requires=["need"])
    assert run(StartAfter("a"), Sequential([*names("need", "a"), user])) == "need user"


# StopBefore and StartBefore


@table_test(
    ("name", "before", "rest"),
    [
        ("a", "", "a b c d e"),
        ("b", "a", "b c d e"),
        ("c", "a b", "c d e"),
        ("e", "a b c d", "e"),
        ("inner", "a", "b c d e"),
        ("IN-NER", "a", "b c d e"),
        ("sequential", "", "a b c d e"),
        ("nothing", "a b c d e", ""),
    ],
)
def test_before_and_from_a_pass_on(name: str, before: str, rest: str) -> None:
    assert (run(StopBefore(name)), run(StartBefore(name))) == (before, rest)


def test_first_of_its_name_is_the_border() -> None:
    pipeline = Sequential(names("b", "a", "c", "a"))
    assert (run(StopBefore("a"), pipeline), run(StartBefore("a"), pipeline)) == ("b", "a c a")


def test_pass_that_is_disabled_is_the_border_all_the_same() -> None:
    for instrument, ran in ((StopBefore("c"), ["a", "b"]), (StartBefore("c"), ["d", "e"])):
        with PassContext(disabled_pass=["c"], instruments=[instrument]):
            assert tags(PIPELINE(module())) == ran
        assert not instrument.unmatched


def test_requirements_of_the_pass_are_before_the_border() -> None:
    pipeline = Sequential([named("user", requires=["need"]), *names("need", "a")])
    assert run(StopBefore("user"), pipeline) == "need"
    assert run(StartBefore("user"), pipeline) == "user need a"


def test_stop_before_in_a_fixpoint() -> None:
    pipeline = Sequential([Fixpoint(inner("a", "b", "c")), *names("d")])
    assert run(StopBefore("b"), pipeline) == "a"


def test_both_make_a_window() -> None:
    with PassContext(instruments=[StartAfter("a"), StopAfter("d")]):
        assert tags(PIPELINE(module())) == ["b", "c", "d"]


# What a pass calls itself


def calling(name: str, callee: Pass) -> ModulePass:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        callee.apply(ctx.ir_context, module)

    return named(name, body=body)


def test_passes_that_a_leaf_calls_are_part_of_it() -> None:
    pipeline = Sequential([*names("a"), calling("outer", inner("b", "c")), *names("d")])
    assert run(StopAfter("b"), pipeline) == "a b c"
    assert run(StartAfter("a"), pipeline) == "b c d"
    assert run(StartAfter("outer"), pipeline) == "d"


# What is told about a name


@table_test("kind", [StopAfter, StartAfter])
def test_unmatched(kind: type[StopAfter] | type[StartAfter]) -> None:
    found, missed = kind("inner"), kind("missing")
    assert found.unmatched
    run(found)
    run(missed)
    assert not found.unmatched and missed.unmatched
    run(found, Append())
    assert not found.unmatched and found.pass_name == "inner"


def test_name_of_a_failing_pass_was_matched() -> None:
    stop = StopAfter("ToyFail")
    with pytest.raises(ValueError):
        run(stop, Sequential([Fail()]))
    assert not stop.unmatched


@table_test("name", ["", "--"])
def test_name_that_no_pass_can_have(name: str) -> None:
    with pytest.raises(ValueError, match="at least one letter or digit"):
        StopAfter(name)


# Runs

Window = type[StopAfter] | type[StartAfter]
both = pytest.mark.parametrize(("kind", "ran"), [(StopAfter, "a b"), (StartAfter, "c d e")])


@both
def test_each_run_has_its_own_window_also_after_a_failure(kind: Window, ran: str) -> None:
    failing = Sequential([Fixpoint(Sequential([Fail()]))])
    pipeline = Sequential(
        [failing, *names("b")] if kind is StopAfter else [*names("b"), failing, *names("c")]
    )
    with PassContext(instruments=[kind("b")]):
        with pytest.raises(ValueError):
            pipeline(module())
        for _ in range(2):
            assert " ".join(tags(PIPELINE(module()))) == ran


@both
def test_context_entered_twice(kind: Window, ran: str) -> None:
    ctx = PassContext(instruments=[kind("b")])
    with ctx, ctx:
        assert " ".join(tags(PIPELINE(module()))) == ran
    with ctx:
        assert " ".join(tags(PIPELINE(module()))) == ran


class Lockstep(PassInstrument):
    """An instrument that runs the passes of two threads in turn."""

    def __init__(self) -> None:
        self.barrier = Barrier(2)

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        self.barrier.wait(5)
        return True


@both
def test_two_threads(kind: Window, ran: str) -> None:
    ctx = PassContext(instruments=[kind("b"), Lockstep()])
    results: list[str] = []

    def work() -> None:
        with ctx:
            results.append(" ".join(tags(PIPELINE(module()))))

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [ran, ran]
