"""What decides whether a pass runs, by how it is called: the rules of TVM's design, as a table."""

from __future__ import annotations

import pytest
from support.passes.toy import Append, Recorder, collect, module, named, register_in_test, tags
from support.tables import table_test

from passline.passmanager import Pass, PassContext, PassInfo, Sequential, function_pass, module_pass

CALLS = ("alone", "child", "nested child", "required")

ROWS: list[tuple[str, tuple[str, ...]]] = [
    # The setting, and the calls with which the pass runs.
    ("nothing is said", CALLS),
    ("the level is too low", ("alone", "required")),
    ("the level is too low, but it is in required_pass", CALLS),
    ("it is in disabled_pass", ("alone", "required")),
    ("it is in disabled_pass and in required_pass", ("alone", "required")),
    ("an instrument blocks it", ()),
    ("an instrument blocks it, but it is in required_pass", CALLS),
]


def context(setting: str) -> PassContext:
    return PassContext(
        opt_level=1 if "level" in setting else 3,
        disabled_pass=["x"] if "disabled" in setting else [],
        required_pass=["x"] if "required" in setting else [],
        instruments=[Recorder(blocks=frozenset(["x"]))] if "instrument" in setting else [],
        renderer=collect([]),
    )


def pipeline(call: str, pass_: Pass) -> Pass:
    match call:
        case "alone":
            return pass_
        case "child":
            return Sequential([pass_])
        case "nested child":
            return Sequential([Sequential([pass_])])
        case _:
            return Sequential([named("dependent", requires=["x"], changes=False)])


@table_test(
    "setting, call, runs", [(s, call, call in calls) for s, calls in ROWS for call in CALLS]
)
def test_a_pass_runs(setting: str, call: str, runs: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        pass_ = named("x", level=2)
        register_in_test(patch, type(pass_))
        with context(setting):
            assert (tags(pipeline(call, pass_)(module())) == ["x"]) is runs


def test_events_of_a_sequential_with_a_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    """TVM runs a requirement before each dependent; here it runs again once it is not valid."""
    first = named("types", changes=False)
    register_in_test(monkeypatch, type(first))
    passes = [first, named("fold", requires=["types"]), named("dead-code", requires=["types"])]
    recorder = Recorder()
    with PassContext(opt_level=3, instruments=[recorder]):
        Sequential(passes)(module())
    ran = [event.split()[2] for event in recorder.events if " before " in event]
    assert ran == ["sequential", "types", "fold", "types", "dead-code"]


def test_traceable_is_kept() -> None:
    def nothing(*_: object) -> None:
        pass

    for make in (module_pass, function_pass):
        assert make(nothing, name="x", traceable=True).info.traceable  # pyright: ignore
        assert not make(nothing, name="x").info.traceable  # pyright: ignore
    assert Sequential([], traceable=True).info.traceable
    assert not Sequential([Append("a")]).info.traceable
    assert PassInfo(1, "x", [], True).traceable  # pyright: ignore
    assert Sequential([], PassInfo("x", traceable=True)).info.traceable
