"""PassLog: a line for each pass that starts, is skipped, or fails, and for each analysis."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, named
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.passmanager import Fixpoint, FunctionPass, PassContext, Sequential
from passline.passmanager.instruments import PassLog

Capture = pytest.CaptureFixture[str]


def lines(capture: Capture) -> list[str]:
    shown = capture.readouterr()
    assert shown.out == ""
    return [line.replace(" on builtin.module", "") for line in shown.err.splitlines()]


def test_text(capsys: Capture) -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    inner = Sequential([Nothing(), Fail()], name="inner")
    pipeline = Sequential([Append("a"), named("high", level=3), inner])
    with PassContext(instruments=[blocker, PassLog()]), pytest.raises(ValueError):
        pipeline(module())
    assert capsys.readouterr() == (
        "",
        "Running pass: sequential on builtin.module\n"
        '  Running pass: toy-append{tag="a"} on builtin.module\n'
        "  Skipping pass: high on builtin.module (opt_level 3 > 2)\n"
        "  Running pass: inner on builtin.module\n"
        "    Skipping pass: toy-nothing on builtin.module (should_run of Recorder)\n"
        "    Running pass: toy-fail on builtin.module\n"
        "    Failed pass: toy-fail on builtin.module (ValueError)\n"
        "  Failed pass: inner on builtin.module (ValueError)\n"
        "Failed pass: sequential on builtin.module (ValueError)\n",
    )


def test_disabled_pass_is_skipped(capsys: Capture) -> None:
    with PassContext(disabled_pass=["toy-nothing"], instruments=[PassLog()]):
        Sequential([Nothing()])(module())
    assert lines(capsys)[1:] == ["  Skipping pass: toy-nothing (disabled)"]


def test_every_iteration_of_a_fixpoint_has_a_line(capsys: Capture) -> None:
    with PassContext(instruments=[PassLog()]):
        Fixpoint(Append("a"), max_iterations=2)(module())
    *ran, warning = lines(capsys)
    assert ran == ["Running pass: fixpoint", *['  Running pass: toy-append{tag="a"}'] * 2]
    assert warning.startswith("warning: ")


def test_context_entered_twice_logs_once(capsys: Capture) -> None:
    with (ctx := PassContext(instruments=[PassLog()])), ctx:
        Nothing()(module())
    assert lines(capsys) == ["Running pass: toy-nothing"]


def test_two_threads_write_whole_lines(capsys: Capture) -> None:
    ctx, meet = PassContext(instruments=[PassLog()]), Barrier(2)

    def wait(module: ModuleOp, ctx: PassContext) -> None:
        meet.wait(5)

    def work() -> None:
        with ctx:
            Sequential([named("meet", body=wait)] * 10)(module())

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = ["Running pass: sequential"] * 2 + ["  Running pass: meet"] * 20
    assert sorted(lines(capsys), key=lambda line: line.startswith(" ")) == expected


class Size:
    """An analysis: the number of ops."""

    def __init__(self, op: Operation) -> None:
        self.size = sum(1 for _ in op.walk())


class Broken:
    """An analysis whose constructor raises."""

    def __init__(self, op: Operation) -> None:
        raise KeyError


class Ask(FunctionPass):
    """Ask for the size of each function, and of the module."""

    name = "ask"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.analyses.get(Size, func)
        ctx.analyses.get(Size, module)


def test_analyses(capsys: Capture) -> None:
    broken = named("broken", body=lambda m, ctx: void(ctx.analyses.get(Broken, m)))
    pipeline = Sequential([Ask(), Sequential([Append("a")], name="inner"), Ask(), broken])
    with PassContext(instruments=[PassLog()]), pytest.raises(KeyError):
        pipeline(module("f", "g"))
    assert capsys.readouterr().err == (
        "Running pass: sequential on builtin.module\n"
        "  Running pass: ask on builtin.module\n"
        "    Running analysis: Size on func.func @f\n"
        "    Running analysis: Size on builtin.module\n"
        "    Running analysis: Size on func.func @g\n"
        "  Running pass: inner on builtin.module\n"
        '    Running pass: toy-append{tag="a"} on builtin.module\n'
        "      Invalidating analysis: Size on builtin.module\n"
        "  Running pass: ask on builtin.module\n"
        "    Running analysis: Size on builtin.module\n"
        "  Running pass: broken on builtin.module\n"
        "    Running analysis: Broken on builtin.module\n"
        "    Failed analysis: Broken on builtin.module (KeyError)\n"
        "  Failed pass: broken on builtin.module (KeyError)\n"
        "Failed pass: sequential on builtin.module (KeyError)\n"
    )


def void(_: object) -> None: ...
