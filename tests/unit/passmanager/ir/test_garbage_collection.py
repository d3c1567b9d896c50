"""paused_collector: the garbage collector is paused, and enabled again if it was."""

from __future__ import annotations

import gc

import pytest

from passline.passmanager.ir.garbage_collection import paused_collector


def test_pauses_and_resumes_also_after_an_error() -> None:
    with pytest.raises(ValueError), paused_collector():
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


def test_stays_disabled_if_it_was() -> None:
    gc.disable()
    try:
        with paused_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
