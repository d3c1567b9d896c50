"""NestingInstrument: every entry is closed, however a pass ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from passline.passmanager import AnalysisManager, Fixpoint, PassContext, PassInstrument, Sequential
from passline.passmanager.instruments import (
    EnergyInstrument,
    MemoryInstrument,
    PassTimingInstrument,
    ProfileInstrument,
    ProgressInstrument,
    StatisticsInstrument,
    TraceInstrument,
)
from passline.passmanager.instruments.nesting import Entry, NestingInstrument
from passline.passmanager.run import PassFrame, Run


class Log(NestingInstrument[str]):
    """An instrument that logs the start of each entry with the outer one, and its end."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []

    def begin(self, run: Run, outer: Entry[str] | None) -> str:
        name = run.frames[-1].info.name
        self.events.append(f"{name} in {outer.item}" if outer else name)
        return name

    def end(self, item: str, run: Run, frame: PassFrame, failed: bool) -> None:
        assert frame.info.name == item
        self.events.append(f"{item} failed" if failed else f"{item} ended")


MAKERS: list[Callable[[], NestingInstrument[Any]]] = [
    Log,
    PassTimingInstrument,
    MemoryInstrument,
    EnergyInstrument,
    lambda: ProfileInstrument("toy-append"),
    TraceInstrument,
    StatisticsInstrument,
    ProgressInstrument,
]
every_instrument = pytest.mark.parametrize("make", MAKERS, ids=lambda make: type(make()).__name__)


def void(_: object) -> None: ...


def run_failing(*instruments: PassInstrument) -> None:
    with pytest.raises(ValueError, match="boom"):
        with PassContext(instruments=instruments):
            Sequential([Append(), Sequential([Nothing(), Fail()]), Append()])(module())


class Facts:
    """An analysis whose constructor raises for an op with a tag."""

    def __init__(self, op: Operation) -> None:
        if "tag" in op.attributes:
            raise ValueError("boom")


@every_instrument
@pytest.mark.parametrize("bad", ["", "before_analysis", "after_analysis", "analysis_failed"])
def test_no_analysis_leaves_anything_open(
    make: Callable[[], NestingInstrument[Any]], bad: str
) -> None:
    instrument, other = make(), Recorder(fail_in=frozenset(filter(None, [bad])))

    def body(module: ModuleOp, ctx: PassContext) -> None:
        ctx.analyses.get(Facts, module)
        module.attributes["tag"] = StringAttr("")
        AnalysisManager(instrumentor=lambda: ctx.instrumentor).get(Facts, module)

    error = ValueError if bad in ("", "analysis_failed") else RuntimeError
    for instruments in ([instrument, other], [other, instrument]):
        with pytest.raises(error), PassContext(instruments=instruments):
            Sequential([named("asks", body=body)])(module())
        assert instrument.innermost is None


# The order of things


def test_nested_passes_begin_inside_theirs_and_end_before_them() -> None:
    log = Log()
    with PassContext(instruments=[log]):
        Sequential([Fixpoint(Sequential([Append()], name="inner"), 1), Nothing()])(module())
    assert log.events == [
        "sequential",
        "fixpoint in sequential",
        "inner in fixpoint",
        "toy-append in inner",
        "toy-append ended",
        "inner ended",
        "fixpoint ended",
        "toy-nothing in sequential",
        "toy-nothing ended",
        "sequential ended",
    ]


def test_failing_pass_ends_with_all_that_holds_it() -> None:
    log = Log()
    run_failing(log)
    assert log.events[-3:] == ["toy-fail failed", "sequential failed", "sequential failed"]


def test_pass_called_by_a_pass_on_another_module_is_inside_it() -> None:
    log = Log()
    with PassContext(instruments=[log]):
        named("caller", body=lambda module, ctx: None if Append()(module) else None)(module())
    assert log.events == ["caller", "toy-append in caller", "toy-append ended", "caller ended"]


@table_test("hook", ["before", "after"])
def test_what_another_instrument_left_open_ends_with_what_holds_it(hook: str) -> None:
    log = Log()
    bad = Recorder(fail_in=frozenset([hook]))
    with pytest.raises(RuntimeError):
        with PassContext(instruments=[log]) as ctx:

            def body(module: ModuleOp, _: PassContext) -> None:
                with PassContext(instruments=[log, bad] if hook == "before" else [bad, log]):
                    Append().apply(Run.current().ir_context, module)

            assert ctx.instruments
            named("caller", body=body)(module())
    assert log.events == ["caller", "toy-append in caller", "toy-append failed", "caller failed"]


def test_outermost_pass_that_was_left_open_ends_with_the_next_or_with_the_context() -> None:
    log = Log()
    bad = Recorder(fail_in=frozenset(["before"]))
    with PassContext(instruments=[log, bad]):
        for _ in range(2):
            with pytest.raises(RuntimeError):
                Append()(module())
        assert log.events == ["toy-append", "toy-append failed", "toy-append"]
    assert log.events[-1] == "toy-append failed" and log.innermost is None


def test_instrument_put_in_or_taken_out_while_a_pass_runs() -> None:
    late, early = Log(), Log()

    def swap(module: ModuleOp, ctx: PassContext) -> None:
        ctx.override_instruments([late])

    with PassContext(instruments=[early]):
        Sequential([named("swap", body=swap), Nothing()])(module())
    assert early.events[-2:] == ["swap failed", "sequential failed"]
    assert late.events == ["toy-nothing", "toy-nothing ended"]


def test_leaving_an_inner_context_leaves_open_what_runs_outside_of_it() -> None:
    log = Log()

    def body(module: ModuleOp, ctx: PassContext) -> None:
        with PassContext(instruments=[log]):
            Nothing()(module)

    with PassContext(instruments=[log]):
        named("caller", body=body)(module())
    assert log.events[-2:] == ["toy-nothing ended", "caller ended"]


# Every instrument


def use_failing(instrument: PassInstrument) -> None:
    run_failing(instrument)


def use_skipping(instrument: PassInstrument) -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    with PassContext(instruments=[blocker, instrument], disabled_pass=["toy-fail"]):
        Sequential([Append(), Fail(), Nothing()])(module())


def use_twice(instrument: PassInstrument) -> None:
    for _ in range(2):
        with PassContext(instruments=[instrument]):
            Append()(module())
    with PassContext(instruments=[instrument]), PassContext(instruments=[instrument]):
        Append()(module())


def use_with_failing_hooks(instrument: PassInstrument) -> None:
    for hook in ("before", "after"):
        bad = Recorder(fail_in=frozenset([hook]))
        for order in ([instrument, bad], [bad, instrument]):
            with pytest.raises(RuntimeError):
                with PassContext(instruments=order):
                    Sequential([Append()])(module())


def use_in_two_threads(instrument: PassInstrument) -> None:
    """Run two pipelines in two threads, pass by pass in turn."""
    meet = threading.Barrier(2)
    failures: list[BaseException] = []

    def work() -> None:
        step = named("step", body=lambda module, ctx: void(meet.wait(10)))
        try:
            with PassContext(instruments=[instrument]):
                Sequential([step, Append(), step])(module())
        except BaseException as error:
            failures.append(error)
            meet.abort()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@every_instrument
@pytest.mark.parametrize(
    "use",
    [
        use_failing,
        use_skipping,
        use_twice,
        use_with_failing_hooks,
        use_in_two_threads,
    ],
)
def test_nothing_is_left_open(
    make: Callable[[], NestingInstrument[Any]], use: Callable[[PassInstrument], None]
) -> None:
    instrument = make()
    use(instrument)
    assert instrument.innermost is None
    with PassContext(instruments=[instrument]):
        Append()(module())
    assert instrument.innermost is None


@every_instrument
def test_two_of_a_kind_and_one_alone_leave_the_result_as_it_is(
    make: Callable[[], NestingInstrument[Any]],
) -> None:
    if isinstance(make(), ProfileInstrument):
        return  # a thread has one profiler
    pipeline = Sequential([Append("a"), Append("b")])
    plain = pipeline(module())
    with PassContext(instruments=[make(), make()]):
        assert str(pipeline(module())) == str(plain)
