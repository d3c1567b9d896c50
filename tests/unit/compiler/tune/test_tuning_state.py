"""What passline-tune shows on a terminal."""

import pytest

from passline.tools.tune import TuningState


def test_kernel_and_candidate_are_shown():
    state = TuningState(32, None)
    assert str(state) == "looking for kernels"
    state.update(1, 18, 0)
    assert str(state) == "kernel 1 of 18, candidate 1"
    state.update(3, 18, 11)
    assert str(state).startswith("kernel 3 of 18, candidate 12, about 0:00 left")


def test_time_left_is_that_of_the_limit_or_of_the_rest():
    state = TuningState(32, 100)
    state.update(2, 5, 0)
    assert state.seconds_left(10) == pytest.approx(40)
    assert state.seconds_left(90) == pytest.approx(10)
