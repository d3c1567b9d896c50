"""The time limit of a trial."""

from __future__ import annotations

import signal
import time

import pytest

from passline.tools.trials.trial import TimeLimitError, time_limit


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_limit_holds_if_a_finalizer_swallows_its_error() -> None:
    """Python ignores what `__del__` raises, and callbacks of the garbage collector."""

    class Slow:
        interrupted = False

        def __del__(self) -> None:
            try:
                time.sleep(30)
            except TimeLimitError:
                Slow.interrupted = True
                raise

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeLimitError, match="took longer than 0.05 s"):
        with time_limit(0.05):
            slow = Slow()
            del slow
            assert Slow.interrupted
            time.sleep(30)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
