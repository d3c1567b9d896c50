"""OptBisect: its output, the passes that it blocks, and its numbers."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence
from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, named, tags
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import Fixpoint, PassContext, Sequential
from passline.passmanager.instruments import OptBisect

Capture = pytest.CaptureFixture[str]

PIPELINE = Sequential([Append("a"), Sequential([Append("b"), Nothing()]), Append("c")])


def run(limit: int | Container[int], pipeline: Sequential = PIPELINE) -> list[str]:
    with PassContext(instruments=[OptBisect(limit)]):
        return tags(pipeline(module()))


# Format


def test_text(capsys: Capture) -> None:
    run(2)
    assert capsys.readouterr() == (
        "",
        "BISECT: running pass (1) toy-append on builtin.module\n"
        "BISECT: running pass (2) toy-append on builtin.module\n"
        "BISECT: NOT running pass (3) toy-nothing on builtin.module\n"
        "BISECT: NOT running pass (4) toy-append on builtin.module\n",
    )


def test_minus_one_runs_and_prints_all(capsys: Capture) -> None:
    assert run(-1) == ["a", "b", "c"]
    assert capsys.readouterr().err.count("BISECT: running pass") == 4


# What runs


@table_test(
    ("limit", "ran"),
    [(0, []), (1, ["a"]), (2, ["a", "b"]), (3, ["a", "b"]), (4, ["a", "b", "c"])],
)
def test_passes_beyond_the_limit_do_not_run(limit: int, ran: list[str]) -> None:
    assert run(limit) == ran


@pytest.mark.parametrize(("numbers", "ran"), [([], []), ([2], ["b"]), (range(2, 5), ["b", "c"])])
def test_passes_whose_number_is_not_chosen_do_not_run(
    numbers: Sequence[int], ran: list[str], capsys: Capture
) -> None:
    assert run(numbers) == ran
    shown = capsys.readouterr().err.splitlines()
    assert [n for n, line in enumerate(shown, 1) if "NOT" not in line] == [*numbers]


def test_every_iteration_of_a_fixpoint_is_numbered(capsys: Capture) -> None:
    run(-1, Sequential([Fixpoint(named("grow"), max_iterations=3)]))
    assert "pass (3) grow" in capsys.readouterr().err


def test_requirement_is_numbered_and_may_be_kept_from_running(capsys: Capture) -> None:
    need, user = named("need"), named("user", requires=["need"])
    assert run(1, Sequential([user, need])) == ["need"]
    assert [line.split()[-3] for line in capsys.readouterr().err.splitlines()] == [
        "need",
        "user",
        "need",
    ]


def test_required_pass_of_the_context_is_not_numbered(capsys: Capture) -> None:
    with PassContext(required_pass=["toy-append"], instruments=[bisect := OptBisect(0)]):
        assert tags(PIPELINE(module())) == ["a", "b", "c"]
    assert bisect.count == 1 and "(1) toy-nothing" in capsys.readouterr().err


def test_pass_that_the_context_leaves_out_is_not_numbered() -> None:
    with PassContext(disabled_pass=["toy-append"], instruments=[bisect := OptBisect(-1)]):
        PIPELINE(module())
    assert bisect.count == 1


@table_test("first", [True, False])
def test_pass_that_another_instrument_blocks_is_numbered_once(first: bool) -> None:
    bisect, blocker = OptBisect(-1), Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(instruments=[bisect, blocker] if first else [blocker, bisect]):
        PIPELINE(module())
    assert bisect.count == 4


# How long it lives


def test_numbers_go_on_over_runs_and_contexts(capsys: Capture) -> None:
    ctx = PassContext(instruments=[bisect := OptBisect(5)])
    with ctx, ctx:
        assert tags(PIPELINE(module())) == ["a", "b", "c"]
    with ctx:
        assert tags(PIPELINE(module())) == ["a"]
    assert bisect.count == 8
    assert "NOT running pass (6)" in capsys.readouterr().err


def test_two_of_a_kind_do_not_know_of_each_other() -> None:
    with PassContext(instruments=[one := OptBisect(-1), two := OptBisect(1)]):
        assert tags(PIPELINE(module())) == ["a"]
    assert one.count == two.count == 4


def test_failing_pass_in_nested_pipelines_leaves_the_numbers_in_order(capsys: Capture) -> None:
    with PassContext(instruments=[OptBisect(-1)]):
        with pytest.raises(ValueError):
            Sequential([Nothing(), Sequential([Fixpoint(Fail())])])(module())
        Nothing()(module())
    assert capsys.readouterr().err.splitlines()[1:] == [
        "BISECT: running pass (2) toy-fail on builtin.module",
        "BISECT: running pass (3) toy-nothing on builtin.module",
    ]


def test_two_threads_share_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "write", written.append)
    ctx = PassContext(instruments=[OptBisect(-1)])
    meet = Barrier(2)

    def wait(module: ModuleOp, ctx: PassContext) -> None:
        meet.wait(5)

    def work() -> None:
        with ctx:
            Sequential([named("meet", body=wait)] * 20)(module())

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [f"BISECT: running pass ({n}) meet on builtin.module\n" for n in range(1, 41)]
    assert written == expected


# Misuse


@table_test("limit", ["3", 1.5, True, None])
def test_limit_that_is_no_number(limit: int) -> None:
    with pytest.raises(TypeError, match="a whole number or a container of numbers, not"):
        OptBisect(limit)


def test_limit_below_minus_one() -> None:
    with pytest.raises(ValueError, match="0 or more, or -1 for none, not -2"):
        OptBisect(-2)
