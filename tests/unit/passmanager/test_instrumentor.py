"""PassInstrumentor: the order of hooks, and the notes of their exceptions."""

from __future__ import annotations

import pytest
from support.passes.toy import Recorder
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import PassInfo, PassInstrument
from passline.passmanager.instrument import PassInstrumentor, check_instruments

INFO = PassInfo("toy-fold", text="toy-fold{x=1}")


def recorders(**fail_in: str) -> tuple[PassInstrumentor, list[str]]:
    """Return an instrumentor of two recorders with one list of events."""
    events: list[str] = []
    return PassInstrumentor(
        Recorder(label, events, frozenset(fail_in.get(label, "").split())) for label in ("a", "b")
    ), events


class Decider(PassInstrument):
    def should_execute(self, tag: str) -> bool:
        return False


def test_hooks_are_called_in_order() -> None:
    instrumentor, events = recorders()
    module = ModuleOp([])
    instrumentor.before_pass(module, INFO)
    instrumentor.before_analysis(module, int)
    instrumentor.after_pass(module, INFO)
    assert events == [
        "a before toy-fold",
        "b before toy-fold",
        "a before_analysis int",
        "b before_analysis int",
        "a after toy-fold",
        "b after toy-fold",
    ]


def test_the_note_on_a_pipeline_has_its_name_alone() -> None:
    instrumentor, _ = recorders(a="before after")
    info = PassInfo("optimize", text="optimize(a,b)", composite=True)
    for hook in (instrumentor.before_pass, instrumentor.after_pass):
        with pytest.raises(RuntimeError) as error:
            hook(ModuleOp([]), info)
        assert error.value.__notes__[0].endswith("for pass 'optimize'")


def test_an_exception_of_a_hook_is_noted_and_ends_the_dispatch() -> None:
    instrumentor, events = recorders(a="before invalidated")
    with pytest.raises(RuntimeError) as error:
        instrumentor.before_pass(ModuleOp([]), INFO)
    assert error.value.__notes__ == ["in Recorder.run_before_pass, for pass 'toy-fold{x=1}'"]
    with pytest.raises(RuntimeError) as error:
        instrumentor.analysis_invalidated(ModuleOp([]), int)
    assert error.value.__notes__ == ["in Recorder.analysis_invalidated, for analysis int"]
    assert events == ["a before toy-fold", "a invalidated int"]


def test_an_exception_of_a_hook_about_a_failure_becomes_a_note_on_it() -> None:
    instrumentor, events = recorders(a="failed analysis_failed invalidated")
    module, failure = ModuleOp([]), ValueError("boom")
    instrumentor.pass_failed(module, INFO, failure)
    instrumentor.analysis_failed(module, int, failure)
    instrumentor.analysis_invalidated(module, int, failure)
    assert [note.split(" raised")[0] for note in failure.__notes__] == [
        "and Recorder.pass_failed",
        "and Recorder.analysis_failed",
        "and Recorder.analysis_invalidated",
    ]
    assert len(events) == 6


def test_only_instruments_with_a_decision_are_deciders() -> None:
    decider = Decider()
    assert PassInstrumentor([PassInstrument(), decider]).deciders == (decider,)
    assert PassInstrumentor().deciders == ()


def test_instruments_are_checked() -> None:
    instrument = PassInstrument()
    assert check_instruments(None) == () and check_instruments([instrument]) == (instrument,)
    with pytest.raises(TypeError, match="instruments is a list of instruments"):
        check_instruments(instrument)
    with pytest.raises(TypeError, match="3 is not an instrument"):
        check_instruments([3])


def test_only_instruments_that_override_should_run_are_asked() -> None:
    silent, blocker, patched = PassInstrument(), Recorder(), PassInstrument()
    patched.should_run = lambda module, info: False
    instrumentor = PassInstrumentor([silent, blocker, patched])
    assert instrumentor.askers == (blocker, patched)
    assert instrumentor.find_blockers(ModuleOp([]), INFO) == "PassInstrument"
