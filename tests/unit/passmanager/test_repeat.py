"""Repeat: a pass that runs several times."""

from __future__ import annotations

import pytest
from support.toy import Append, Fail, Nothing, Recorder, module, named, tags

from passline.passmanager import PassContext, Repeat, Sequential


def test_runs_n_times_even_if_nothing_changes() -> None:
    recorder = Recorder()
    with PassContext(instruments=[recorder]):
        assert tags(Repeat(Sequential([Append("a"), Nothing()]), 3)(module())) == ["a"] * 3
    assert recorder.events.count("%1 before toy-nothing") == 3


def test_info_is_that_of_the_pass() -> None:
    pass_ = Repeat(named("high", level=3, requires=["base"]), 2)
    assert (pass_.info.opt_level, pass_.info.required) == (3, ("base",))
    assert pass_.info.text == "repeat{n=2}(high)" and pass_.info.composite


def test_failure_names_the_time() -> None:
    with pytest.raises(Exception) as caught:
        Repeat(Fail(), 2)(module())
    assert caught.value.__notes__[0] == "in pass 'toy-fail' (time 1 of 2)"


@pytest.mark.parametrize("n", [0, -1])
def test_less_than_once_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n is 1 or more"):
        Repeat(Nothing(), n)
