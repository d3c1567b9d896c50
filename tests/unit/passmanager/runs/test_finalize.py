"""`finalize_pass_ctx`, the hook that runs once whenever a context is left."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from support.passes.toy import Fail, Nothing, Recorder, module
from support.tables import table_test

from passline.passmanager import PassContext


class Writer(Recorder):
    """A recorder that also records `finalize_pass_ctx`."""

    def finalize_pass_ctx(self) -> None:
        self.record("finalize")


def writers(**fail_in: str) -> tuple[list[Writer], list[str]]:
    """Three writers with one list of events; `_2="exit"` makes the second fail there."""
    events: list[str] = []
    made = [Writer(f"%{i}", events, frozenset(fail_in.get(f"_{i}", "").split())) for i in (1, 2, 3)]
    return made, events


def ends(events: Iterable[str]) -> list[str]:
    """The events of a context that is left."""
    return [event for event in events if event.endswith(("exit", "finalize"))]


FINALIZED = ["%1 finalize", "%2 finalize", "%3 finalize"]


def test_all_are_finalized_after_all_exited() -> None:
    instruments, events = writers()
    with PassContext(instruments=instruments):
        Nothing()(module())
    assert ends(events) == ["%1 exit", "%2 exit", "%3 exit", *FINALIZED]


def test_all_are_finalized_if_one_fails_to_exit() -> None:
    instruments, events = writers(_2="exit")
    ctx = PassContext(instruments=instruments)
    with pytest.raises(RuntimeError, match="%2 exit"):
        with ctx:
            pass
    assert ends(events) == ["%1 exit", "%2 exit", *FINALIZED]
    assert ctx.instruments == ()


def test_all_are_finalized_if_one_fails_to_finalize() -> None:
    instruments, events = writers(_1="finalize", _2="finalize")
    ctx = PassContext(instruments=instruments)
    with pytest.raises(RuntimeError, match="%1 finalize") as caught:
        with ctx:
            pass
    assert ends(events)[3:] == FINALIZED
    (note,) = caught.value.__notes__
    assert note == "and Writer.finalize_pass_ctx raised RuntimeError('%2 finalize')"
    assert ctx.instruments == () and PassContext.current() is not ctx


def test_failure_to_exit_is_raised_before_that_to_finalize() -> None:
    instruments, _ = writers(_3="exit", _1="finalize")
    with pytest.raises(RuntimeError, match="%3 exit") as caught:
        with PassContext(instruments=instruments):
            pass
    (note,) = caught.value.__notes__
    assert note == "and Writer.finalize_pass_ctx raised RuntimeError('%1 finalize')"


def test_those_entered_are_finalized_last_first_if_one_fails_to_enter() -> None:
    instruments, events = writers(_3="enter", _2="exit", _1="finalize")
    ctx = PassContext(instruments=instruments)
    with pytest.raises(RuntimeError, match="%3 enter") as caught:
        ctx.__enter__()
    assert ends(events) == ["%2 exit", "%1 exit", "%2 finalize", "%1 finalize"]
    assert [note.partition(" raised")[0] for note in caught.value.__notes__] == [
        "and Writer.exit_pass_ctx",
        "and Writer.finalize_pass_ctx",
    ]


@table_test("hook", ["should_run", "before", "after"])
def test_all_are_finalized_if_a_hook_of_a_pass_raises(hook: str) -> None:
    instruments, events = writers(_2=hook)
    with pytest.raises(RuntimeError, match=f"%2 {hook}"):
        with PassContext(instruments=instruments):
            Nothing()(module())
    assert ends(events)[3:] == FINALIZED


def test_all_are_finalized_if_a_pass_fails() -> None:
    instruments, events = writers()
    with pytest.raises(ValueError, match="boom"):
        with PassContext(instruments=instruments):
            Fail()(module())
    assert ends(events)[3:] == FINALIZED


def test_overridden_instruments_are_finalized_once() -> None:
    (one, two, _), events = writers()
    with PassContext(instruments=[one]) as ctx:
        ctx.override_instruments([two])
        assert events == ["%1 enter", "%1 exit", "%1 finalize", "%2 enter"]
    assert ends(events) == ["%1 exit", "%1 finalize", "%2 exit", "%2 finalize"]


def test_overridden_instruments_are_finalized_if_one_fails_to_exit() -> None:
    (one, two, three), events = writers(_1="exit")
    with PassContext(instruments=[one, two]) as ctx:
        with pytest.raises(RuntimeError, match="%1 exit"):
            ctx.override_instruments([three])
        assert ctx.instruments == ()
    assert events == ["%1 enter", "%2 enter", "%1 exit", "%1 finalize", "%2 finalize"]


def test_each_entering_of_a_context_is_finalized() -> None:
    (one, *_), events = writers()
    ctx = PassContext(instruments=[one])
    with ctx, ctx:
        pass
    assert events == ["%1 enter", "%1 enter", *["%1 exit", "%1 finalize"] * 2]
