"""ProfileInstrument: the profile of one pass only."""

from __future__ import annotations

import pstats
import re
import sys
import threading
from cProfile import Profile
from pathlib import Path

import pytest
from support.passes.toy import Fail, Nothing, Recorder, module, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import ProfileInstrument
from passline.passmanager.instruments import timing as profiling_module
from passline.passmanager.run import Run

EVERYTHING = 100_000


def mine(*_: object) -> None:
    """Do nothing; called by the profiled pass."""


def other(*_: object) -> None:
    """Do nothing; called by another pass."""


def calls(instrument: ProfileInstrument, function: str) -> int:
    """Return the number of calls of a function in the report."""
    found = re.search(rf"^ *(\d+)\S* .*\({function}\)$", instrument.report(), re.MULTILINE)
    return int(found[1]) if found else 0


def profile(*passes: ModulePass, name: str = "toy-mine") -> ProfileInstrument:
    instrument = ProfileInstrument(name, EVERYTHING)
    with PassContext(instruments=[instrument]):
        Sequential(passes)(module())
    return instrument


def is_profiled() -> bool:
    """Return whether a profiler is active in this thread."""
    if sys.version_info >= (3, 12):
        return sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is not None
    return sys.getprofile() is not None


MINE, OTHER = named("toy-mine", body=mine), named("toy-other", body=other)


def test_report(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    def long(*_: object) -> None:
        spend(0.5)
        short()

    def short() -> None:
        spend(0.25)

    monkeypatch.setattr(profiling_module, "Profile", lambda: Profile(lambda: now))
    instrument = ProfileInstrument("toy-mine", limit=5)
    with PassContext(instruments=[instrument], verify_each=False):
        named("toy-mine", body=long)(module())
    report = re.sub(r"[^ \n]*/(?=\w+\.py)", "", instrument.report())
    report = re.sub(r"(?<=\.py:)\d+", "N", re.sub(r"\d+ function", "N function", report))
    report = re.sub(r"from \d+ to", "from N to", report)
    assert report == (
        "         N function calls in 0.750 seconds\n"
        "\n"
        "   Ordered by: cumulative time, internal time, name/file/line\n"
        "   List reduced from N to 5 due to restriction <5>\n"
        "\n"
        "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
        "        2    0.750    0.375    0.750    0.375 test_profiling.py:N(spend)\n"
        "        1    0.000    0.000    0.750    0.750 test_profiling.py:N(long)\n"
        "        1    0.000    0.000    0.750    0.750 base.py:N(transform)\n"
        "        1    0.000    0.000    0.750    0.750 toy.py:N(transform_module)\n"
        "        1    0.000    0.000    0.250    0.250 test_profiling.py:N(short)\n"
        "\n"
        "\n"
    )


def test_runs_are_taken_together_and_other_passes_left_out() -> None:
    instrument = profile(MINE, OTHER, Sequential([OTHER, MINE]))
    assert calls(instrument, "mine") == 2 and calls(instrument, "other") == 0


def test_any_spelling() -> None:
    assert calls(profile(MINE, name="toy.Mine"), "mine") == 1


def test_what_runs_inside_the_pass_belongs_to_it() -> None:
    instrument = profile(Sequential([OTHER], name="toy-mine"), OTHER)
    assert calls(instrument, "other") == 1


def test_pass_inside_one_of_its_name() -> None:
    def body(module: ModuleOp, _: PassContext) -> None:
        MINE.apply(Run.current().ir_context, module)
        other()

    instrument = profile(named("toy-mine", body=body))
    assert calls(instrument, "mine") == 1 and calls(instrument, "other") == 1


def test_limit() -> None:
    def body(*_: object) -> None:
        for function in (sorted, list, tuple, frozenset):
            function([1])

    instrument = ProfileInstrument("toy-mine", limit=2)
    with PassContext(instruments=[instrument]):
        named("toy-mine", body=body)(module())
    assert "due to restriction <2>" in instrument.report()


def test_dump(tmp_path: Path) -> None:
    profile(MINE).dump(tmp_path / "out.prof")
    functions = {name for _, _, name in pstats.Stats(str(tmp_path / "out.prof")).stats}  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    assert "mine" in functions


def test_pass_that_did_not_run_is_told_with_the_nearest(tmp_path: Path) -> None:
    instrument = profile(MINE, name="toy-mien")
    assert instrument.report() == (
        "no profile: pass 'toy-mien' did not run, did you mean 'toy-mine'?\n"
    )
    assert profile(name="x").report() == "no profile: pass 'x' did not run\n"
    instrument.dump(tmp_path / "out.prof")
    assert not any(tmp_path.iterdir())


def test_another_profiler_is_told() -> None:
    active = Profile()
    active.enable()
    try:
        with pytest.raises(
            RuntimeError,
            match="pass 'toy-mine' cannot be profiled while another profiler is active "
            "in this thread: ",
        ):
            profile(OTHER, MINE)
        assert is_profiled()
    finally:
        active.disable()


def test_second_instrument_for_the_same_pass_is_told() -> None:
    one, two = ProfileInstrument("toy-mine", EVERYTHING), ProfileInstrument("toy-mine", EVERYTHING)
    with pytest.raises(RuntimeError, match="another profiler"):
        with PassContext(instruments=[one, two]):
            Sequential([MINE])(module())
    assert not is_profiled()
    with PassContext(instruments=[one]):
        MINE(module())
    assert calls(one, "mine") == 1


def test_profilers_of_later_python_raise_valueerror(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused:
        def enable(self) -> None:
            raise ValueError("Another profiling tool is already active")

    monkeypatch.setattr(profiling_module, "Profile", Refused)
    with pytest.raises(RuntimeError, match="in this thread: Another profiling tool"):
        profile(MINE)


# What it survives


def test_failing_pass_inside_nested_sequentials() -> None:
    def fail(*_: object) -> None:
        mine()
        raise ValueError("boom")

    instrument = ProfileInstrument("toy-mine", EVERYTHING)
    with PassContext(instruments=[instrument]):
        with pytest.raises(ValueError):
            Sequential([Sequential([named("toy-mine", body=fail)])])(module())
        assert not is_profiled()
        with pytest.raises(ValueError):
            Sequential([MINE, Fail()])(module())
    assert calls(instrument, "mine") == 2


def test_skipped_pass_has_no_profile() -> None:
    instrument = ProfileInstrument("toy-mine", EVERYTHING)
    blocker = Recorder(blocks=frozenset(["toy-mine"]))
    with PassContext(instruments=[instrument, blocker]):
        Sequential([MINE, Nothing()])(module())
    assert "did not run" in instrument.report()


@table_test("hook", ["before", "after"])
def test_profiler_stops_when_another_instrument_fails(hook: str) -> None:
    instrument = ProfileInstrument("toy-mine", EVERYTHING)
    bad = Recorder(fail_in=frozenset([hook]))
    order = [instrument, bad] if hook == "before" else [bad, instrument]
    with pytest.raises(RuntimeError):
        with PassContext(instruments=order):
            MINE(module())
    assert not is_profiled()


def test_entered_twice_adds_up() -> None:
    instrument = ProfileInstrument("toy-mine", EVERYTHING)
    for _ in range(2):
        with PassContext(instruments=[instrument]):
            MINE(module())
    assert calls(instrument, "mine") == 2


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="one profiler per process")
def test_two_threads_add_up() -> None:
    instrument = ProfileInstrument("toy-mine", EVERYTHING)
    meet = threading.Barrier(2)

    def body(*_: object) -> None:
        meet.wait(10)
        mine()

    def work() -> None:
        with PassContext(instruments=[instrument]):
            Sequential([named("toy-mine", body=body), OTHER])(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls(instrument, "mine") == 2 and calls(instrument, "other") == 0
