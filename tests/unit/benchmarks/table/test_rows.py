"""The rows of `make bench`: both sides in turn, the statistics, and what is not available."""

from __future__ import annotations

from collections.abc import Iterator

from support.tables import table_test
from table.rows import (
    Case,
    Pair,
    Round,
    Run,
    Sample,
    Scope,
    Unavailable,
    measure,
    measure_together,
    once,
    sizes,
    timed,
)


def recorder(log: list[str], name: str, times: Iterator[float], peak: int = 0) -> Round:
    def sample() -> Sample:
        log.append(name)
        return Sample(next(times), peak)

    return sample


def test_sides_take_turns_and_ratios_are_of_one_round() -> None:
    log: list[str] = []
    ours = recorder(log, "ours", iter([1.0, 4.0, 3.0]))
    peer = recorder(log, "peer", iter([2.0, 2.0, 6.0]))
    row = measure(Case("read", "x", "xDSL", lambda: Pair(ours, peer, ops=7), 10), seconds=0)
    assert log == ["ours", "peer"] * 3
    assert row.ratios == (2.0, 0.5, 2.0)
    assert (row.ratio, row.spread) == (2.0, (0.5, 2.0))
    assert (row.seconds, row.peer_seconds, row.ops) == (3.0, 2.0, 7)


def test_without_a_peer_there_is_no_ratio() -> None:
    row = measure(Case("read", "x", "", lambda: Pair(lambda: Sample(1.0)), rounds=1), seconds=0)
    assert (row.ours, row.theirs, row.ratio, row.spread) == ((1.0,), (), None, None)


def test_memory_is_the_greatest_peak_above_the_base() -> None:
    peaks = iter([30, 50, 40])
    pair = Pair(lambda: Sample(1.0, next(peaks)), lambda: Sample(1.0, 25), base=(20, 10))
    row = measure(Case("read", "x", "xDSL", lambda: pair), seconds=0)
    assert (row.memory, row.peer_memory) == (30, 15)


def test_what_is_not_available_is_a_note() -> None:
    def prepare() -> Pair:
        raise Unavailable("there is no mlir-opt")

    row = measure(Case("tool", "x", "mlir-opt", prepare))
    assert (row.note, row.failed, row.ours) == ("there is no mlir-opt", False, ())


def test_an_error_is_a_note_too_and_a_failure() -> None:
    def fail() -> Sample:
        raise RecursionError("too deep\nsecond line")

    row = measure(Case("read", "x", "xDSL", lambda: Pair(fail, fail)))
    assert (row.note, row.failed) == ("RecursionError: too deep", True)


def test_only_the_run_is_timed() -> None:
    log: list[str] = []

    def clock() -> float:
        log.append("clock")
        return float(len(log))

    def side() -> Run:
        log.append("preparation")
        return lambda: log.append("run")

    assert timed(side, clock)() == Sample(2.0)
    assert log == ["preparation", "clock", "run", "clock"]


def test_sizes_are_bounded() -> None:
    assert [*sizes(Scope(10_000))] == [1_000, 10_000]
    assert [*sizes(Scope(10**6))] == [1_000, 10_000, 100_000]
    assert [*sizes(Scope(10**6), at_most=10**6)][-1] == 10**6


@table_test("ops", [0, 100])
def test_the_label_has_what_a_filter_searches(ops: int) -> None:
    case = Case("read", "tensor ops", "xDSL", lambda: Pair(lambda: Sample(1.0)), ops)
    assert case.label == f"read tensor ops {'100 ' if ops else ''}xDSL"


def test_a_peer_that_fails_leaves_the_others() -> None:
    def fail() -> Sample:
        raise ValueError("no")

    def case(peer: str, side: Round) -> Case:
        return Case("read", "x", peer, lambda: Pair(lambda: Sample(1.0), side))

    bad, good = measure_together([case("a", fail), case("b", lambda: Sample(2.0))], seconds=0)
    assert (bad.note, bad.failed, bad.ours) == ("ValueError: no", True, ())
    assert (good.note, good.ours, good.theirs) == ("", (1.0,) * 3, (2.0,) * 3)


def test_a_run_without_preparation_is_the_same_each_time() -> None:
    run = [1].copy
    assert once(run)() is run
