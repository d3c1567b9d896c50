"""PassTimingInstrument: its measurements, and its four exact formats."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from support.passes.toy import Append, Fail, Recorder, module, named
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from passline.passmanager import AnalysisManager, Fixpoint, ModulePass, PassContext, Sequential
from passline.passmanager import runner as runner_module
from passline.passmanager.instruments import PassTimingInstrument
from passline.passmanager.instruments.spans import Span


class Clock:
    """A clock that advances only by `spend`, in milliseconds."""

    def __init__(self) -> None:
        self.now = 5.0

    def __call__(self) -> float:
        return self.now

    def spend(self, milliseconds: float) -> float:
        self.now += milliseconds / 1000
        return self.now

    def work(self, name: str, milliseconds: float) -> ModulePass:
        """Return a pass that takes this long and changes nothing."""
        return named(name, body=lambda module, ctx: void(self.spend(milliseconds)))


def void(_: object) -> None: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timing(clock: Clock) -> PassTimingInstrument:
    return PassTimingInstrument(clock)


@pytest.fixture
def verification(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each verification take 2 ms."""
    ticks: Iterator[float] = iter([0.0, 2.0] * 100)
    monkeypatch.setattr(runner_module, "perf_counter", lambda: clock.spend(next(ticks)))


def shape(spans: list[Span]) -> list[object]:
    """Return the names of spans, with `!` if failed, each followed by those of its children."""
    found: list[object] = []
    for span in spans:
        found.append(span.name + "!" * span.failed)
        if span.children:
            found.append(shape(span.children))
    return found


def run_sample(timing: PassTimingInstrument, clock: Clock) -> None:
    """Parse 10, then 4 + 2 verified, (1 + 3, twice), 20 that fail, and 5 outside of all."""
    a, b = clock.work("a", 4), clock.work("b", 3)
    slow_failure = named("slow", body=lambda m, c: void((clock.spend(20), 1 / 0)))
    with PassContext(instruments=[timing]):
        with timing.phase("Parser"):
            clock.spend(10)
        clock.spend(5)
        inner = Sequential([clock.work("c", 1), b], name="inner")
        with pytest.raises(ZeroDivisionError):
            Sequential([a, inner, inner, slow_failure])(module())


RULE = "===-------------------------------------------------------------------------==="
HEADING = f"{RULE}\n                         ... Execution time report ...\n{RULE}\n"

# Formats


def test_render(timing: PassTimingInstrument, clock: Clock) -> None:
    run_sample(timing, clock)
    assert timing.render() == (
        "Parser: 10000us [10000us] (23.81%; 23.81%)\n"
        "sequential: 32000us [0us] (76.19%; 76.19%)\n"
        "\ta: 4000us [4000us] (9.52%; 12.50%)\n"
        "\tinner: 4000us [0us] (9.52%; 12.50%)\n"
        "\t\tc: 1000us [1000us] (2.38%; 25.00%)\n"
        "\t\tb: 3000us [3000us] (7.14%; 75.00%)\n"
        "\tinner: 4000us [0us] (9.52%; 12.50%)\n"
        "\t\tc: 1000us [1000us] (2.38%; 25.00%)\n"
        "\t\tb: 3000us [3000us] (7.14%; 75.00%)\n"
        "\tslow: 20000us [20000us] (47.62%; 62.50%)\n"
    )


@pytest.mark.usefixtures("verification")
def test_tree(timing: PassTimingInstrument, clock: Clock) -> None:
    run_sample(timing, clock)
    assert timing.report("tree") == HEADING + (
        "  Total Execution Time: 0.0570 seconds\n"
        "\n"
        "  ----Wall Time----  ----Self Time----  ----Name----\n"
        "    0.0100 ( 17.5%)             0.0100  Parser\n"
        "    0.0420 ( 73.7%)             0.0000  sequential (failed)\n"
        "    0.0060 ( 10.5%)             0.0040    a\n"
        "    0.0020 (  3.5%)             0.0020      verify\n"
        "    0.0080 ( 14.0%)             0.0000    inner\n"
        "    0.0030 (  5.3%)             0.0010      c\n"
        "    0.0020 (  3.5%)             0.0020        verify\n"
        "    0.0050 (  8.8%)             0.0030      b\n"
        "    0.0020 (  3.5%)             0.0020        verify\n"
        "    0.0080 ( 14.0%)             0.0000    inner\n"
        "    0.0030 (  5.3%)             0.0010      c\n"
        "    0.0020 (  3.5%)             0.0020        verify\n"
        "    0.0050 (  8.8%)             0.0030      b\n"
        "    0.0020 (  3.5%)             0.0020        verify\n"
        "    0.0200 ( 35.1%)             0.0200    slow (failed)\n"
        "    0.0050 (  8.8%)             0.0050  Rest\n"
        "    0.0570 (100.0%)             0.0570  Total\n"
    )


@pytest.mark.usefixtures("verification")
def test_list_counts_every_second_once(timing: PassTimingInstrument, clock: Clock) -> None:
    run_sample(timing, clock)
    assert timing.report("list") == HEADING + (
        "  Total Execution Time: 0.0570 seconds\n"
        "\n"
        "  ----Self Time----  --Count--  ----Name----\n"
        "    0.0200 ( 35.1%)          1  slow (1 failed)\n"
        "    0.0100 ( 17.5%)          1  Parser\n"
        "    0.0100 ( 17.5%)          5  verify\n"
        "    0.0060 ( 10.5%)          2  b\n"
        "    0.0040 (  7.0%)          1  a\n"
        "    0.0020 (  3.5%)          2  c\n"
        "    0.0000 (  0.0%)          1  sequential (1 failed)\n"
        "    0.0000 (  0.0%)          2  inner\n"
        "    0.0050 (  8.8%)             Rest\n"
        "    0.0570 (100.0%)             Total\n"
    )


@pytest.mark.usefixtures("verification")
def test_json(timing: PassTimingInstrument, clock: Clock) -> None:
    with PassContext(instruments=[timing]):
        clock.spend(1)
        Sequential([Append("y")])(module())
        clock.spend(1)
    document = json.loads(timing.report("json"), parse_float=lambda text: round(float(text), 6))
    assert document == {
        "seconds": 0.004,
        "rest_seconds": 0.002,
        "children": [
            {
                "name": "sequential",
                "text": 'sequential(toy-append{tag="y"})',
                "seconds": 0.002,
                "self_seconds": 0.0,
                "verify_seconds": 0.0,
                "failed": False,
                "children": [
                    {
                        "name": "toy-append",
                        "text": 'toy-append{tag="y"}',
                        "seconds": 0.002,
                        "self_seconds": 0.0,
                        "verify_seconds": 0.002,
                        "failed": False,
                        "children": [],
                    }
                ],
            }
        ],
    }


def test_without_data() -> None:
    timing = PassTimingInstrument()
    assert timing.render() == timing.report("tree") == timing.report("list") == ""
    assert json.loads(timing.report("json")) == {"seconds": 0, "rest_seconds": 0, "children": []}


def test_nothing_takes_no_time(timing: PassTimingInstrument) -> None:
    with PassContext(instruments=[timing]):
        Sequential([])(module())
    assert timing.render() == "sequential: 0us [0us] (0.00%; 0.00%)\n"
    assert "    0.0000 (  0.0%)             0.0000  Total\n" in timing.report()


# Sessions


def test_time_between_two_contexts_does_not_count(
    timing: PassTimingInstrument, clock: Clock
) -> None:
    for _ in range(2):
        with PassContext(instruments=[timing]):
            clock.work("a", 4)(module())
            clock.spend(1)
        clock.spend(1000)
    assert "  Total Execution Time: 0.0100 seconds" in timing.report()
    assert "    0.0020 ( 20.0%)             0.0020  Rest" in timing.report()
    assert shape(timing.spans) == ["a", "a"]


def test_context_within_a_context_is_one_session(
    timing: PassTimingInstrument, clock: Clock
) -> None:
    with PassContext(instruments=[timing]), PassContext(instruments=[timing]):
        clock.work("a", 4)(module())
    assert len(timing.sessions) == 1 and shape(timing.spans) == ["a"]


def test_phases_outside_of_any_context(timing: PassTimingInstrument, clock: Clock) -> None:
    with timing.phase("Parser"):
        clock.spend(3)
    clock.spend(1000)
    with timing.phase("Output"):
        clock.spend(1)
    assert "    0.0030 ( 75.0%)             0.0030  Parser\n" in timing.report()
    assert "    0.0000 (  0.0%)             0.0000  Rest\n" in timing.report()


def test_phase_holds_what_runs_in_it(timing: PassTimingInstrument, clock: Clock) -> None:
    with timing.phase("all"), PassContext(instruments=[timing]):
        Sequential([clock.work("a", 1)])(module())
        with timing.phase("part"):
            clock.spend(1)
    assert shape(timing.spans) == ["all", ["sequential", ["a"], "part"]]
    assert len(timing.sessions) == 1 and timing.innermost is None


def test_phase_that_fails(timing: PassTimingInstrument, clock: Clock) -> None:
    with PassContext(instruments=[timing]):
        with pytest.raises(KeyError):
            with timing.phase("Parser"):
                clock.spend(2)
                raise KeyError
        clock.work("a", 1)(module())
    assert shape(timing.spans) == ["Parser!", "a"]
    assert "Parser (failed)" in timing.report()


def test_phases_left_in_the_wrong_order(timing: PassTimingInstrument, clock: Clock) -> None:
    one, two = timing.phase("one"), timing.phase("two")
    for step in (one.__enter__, two.__enter__):
        step()
        clock.spend(1)
    for phase in (one, two):
        phase.__exit__(None, None, None)
        clock.spend(1)
    assert shape(timing.spans) == ["one", ["two"]] and timing.innermost is None
    assert timing.spans[0].children[0].seconds == pytest.approx(0.002)


def test_report_while_passes_run(timing: PassTimingInstrument, clock: Clock) -> None:
    def look(*_: object) -> None:
        clock.spend(9)
        assert timing.render() == (
            "sequential: 4000us [0us] (100.00%; 100.00%)\n"
            "\ta: 4000us [4000us] (100.00%; 100.00%)\n"
            "\tlook: 0us [0us] (0.00%; 0.00%)\n"
        )

    with PassContext(instruments=[timing]):
        Sequential([clock.work("a", 4), named("look", body=look)])(module())
    assert [span.seconds for span in timing.spans[0].children] == pytest.approx([0.004, 0.009])


# Analyses


def analysis(clock: Clock, milliseconds: float, needs: type[object] | None = None) -> type[object]:
    """Return an analysis that takes this long, besides the time of another; with 0 it fails."""

    class Facts:
        def __init__(self, op: Operation, analyses: AnalysisManager) -> None:
            clock.spend(milliseconds)
            if needs is not None:
                analyses.get(needs, op)
            if not milliseconds:
                raise ZeroDivisionError

    return Facts


def asks(cls: type[object]) -> ModulePass:
    return named("asks", body=lambda m, ctx: void(ctx.analyses.get(cls, m)))


def test_analysis_has_a_row_of_its_own_in_the_pass_that_asked(
    timing: PassTimingInstrument, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "perf_counter", clock)
    inner = analysis(clock, 3)
    inner.__name__ = "Inner"
    outer = analysis(clock, 5, inner)
    work = named("work", body=lambda m, ctx: void((ctx.analyses.get(outer, m), clock.spend(2))))
    with PassContext(instruments=[timing]):
        Sequential([work, asks(outer)])(module())
    assert timing.report("tree") == HEADING + (
        "  Total Execution Time: 0.0100 seconds\n"
        "\n"
        "  ----Wall Time----  ----Self Time----  ----Name----\n"
        "    0.0100 (100.0%)             0.0000  sequential\n"
        "    0.0100 (100.0%)             0.0020    work\n"
        "    0.0080 ( 80.0%)             0.0050      (A) Facts\n"
        "    0.0030 ( 30.0%)             0.0030        (A) Inner\n"
        "    0.0000 (  0.0%)             0.0000    asks\n"
        "    0.0000 (  0.0%)             0.0000  Rest\n"
        "    0.0100 (100.0%)             0.0100  Total\n"
    )
    assert "    0.0050 ( 50.0%)          1  (A) Facts\n" in timing.report("list")
    assert "\t\t(A) Facts: 8000us [5000us] (80.00%; 80.00%)\n" in timing.render()


def test_analysis_that_fails(timing: PassTimingInstrument, clock: Clock) -> None:
    broken = analysis(clock, 1, analysis(clock, 0))
    with PassContext(instruments=[timing]):
        with pytest.raises(ZeroDivisionError):
            Sequential([asks(broken)])(module())
        clock.work("b", 1)(module())
    assert shape(timing.spans) == [
        "sequential!",
        ["asks!", ["(A) Facts!", ["(A) Facts!"]]],
        "b",
    ]
    assert timing.innermost is None or timing.innermost.run is None


@pytest.mark.parametrize("hook", ["before_analysis", "after_analysis"])
def test_analysis_that_another_instrument_failed(
    timing: PassTimingInstrument, clock: Clock, hook: str
) -> None:
    bad = Recorder(fail_in=frozenset([hook]))

    def body(m: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(RuntimeError):
            ctx.analyses.get(analysis(clock, 1), m)
        bad.fail_in = frozenset()
        ctx.analyses.get(analysis(clock, 2), m)

    order = [timing, bad] if hook == "before_analysis" else [bad, timing]
    with PassContext(instruments=order):
        Sequential([named("caught", body=body), clock.work("b", 1)])(module())
    assert shape(timing.spans) == [
        "sequential",
        ["caught", ["(A) Facts!", ["(A) Facts"]], "b"],
    ]


def test_analyses_in_two_threads(timing: PassTimingInstrument, clock: Clock) -> None:
    meet = threading.Barrier(2)

    class Meets:
        def __init__(self, op: Operation) -> None:
            meet.wait(10)

    def work() -> None:
        with PassContext(instruments=[timing]):
            Sequential([asks(Meets), asks(Meets)])(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shape(timing.spans) == ["sequential", ["asks", ["(A) Meets"], "asks"]] * 2


def test_analysis_in_a_context_within_a_context(timing: PassTimingInstrument, clock: Clock) -> None:
    facts = analysis(clock, 1)

    def body(m: ModuleOp, ctx: PassContext) -> None:
        with PassContext(instruments=[timing]) as inner:
            inner.analyses.get(facts, m)

    with PassContext(instruments=[timing]):
        named("nests", body=body)(module())
    with PassContext(instruments=[timing]), PassContext(instruments=[timing]):
        asks(facts)(module())
    assert shape(timing.spans) == ["nests", ["(A) Facts"], "asks", ["(A) Facts"]]


# What it survives


def test_failing_pass_inside_nested_sequentials(timing: PassTimingInstrument, clock: Clock) -> None:
    with PassContext(instruments=[timing]):
        with pytest.raises(ValueError):
            Sequential([Fixpoint(Sequential([clock.work("a", 1), Fail()]))])(module())
        clock.work("b", 1)(module())
    assert shape(timing.spans) == [
        "sequential!",
        ["fixpoint!", ["sequential!", ["a", "toy-fail!"]]],
        "b",
    ]


def test_skipped_pass_leaves_nothing(timing: PassTimingInstrument, clock: Clock) -> None:
    blocker = Recorder(blocks=frozenset(["a"]))
    with PassContext(instruments=[timing, blocker], disabled_pass=["b"]):
        Sequential([clock.work("a", 1), clock.work("b", 1), clock.work("c", 1)])(module())
    assert shape(timing.spans) == ["sequential", ["c"]]


def test_two_instruments_agree(timing: PassTimingInstrument, clock: Clock) -> None:
    other = PassTimingInstrument(clock)
    with PassContext(instruments=[timing, other]):
        Sequential([clock.work("a", 1)])(module())
    assert timing.render() == other.render() != ""


def test_two_threads(timing: PassTimingInstrument) -> None:
    meet = threading.Barrier(2)

    def work(name: str) -> None:
        with PassContext(instruments=[timing]):
            Sequential([named(name, body=lambda m, c: void(meet.wait(10)))] * 2)(module())

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, shape(timing.spans))) == [
        "['a', 'a']",
        "['b', 'b']",
        "sequential",
        "sequential",
    ]
    assert len(timing.sessions) == 2


def test_pass_that_another_instrument_failed_before(
    timing: PassTimingInstrument, clock: Clock
) -> None:
    bad = Recorder(fail_in=frozenset(["before"]))
    with PassContext(instruments=[timing, bad]):
        with pytest.raises(RuntimeError):
            clock.work("a", 1)(module())
    with PassContext(instruments=[timing]):
        clock.work("b", 1)(module())
    assert shape(timing.spans) == ["a!", "b"]
