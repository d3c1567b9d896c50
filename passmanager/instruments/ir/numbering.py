"""The numbering of passes, which tells apart several passes of one name, and by which some of them
run to bisect a miscompilation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Container
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp

from ...instrument import PassInstrument
from ...registration.info import PassInfo
from ...run import PassFrame, Run

__all__ = ["NumberingInstrument", "OptBisect", "PassNumbers"]


class NumberingInstrument(PassInstrument):
    """An instrument that numbers the leaf passes that are about to run, from 1.

    All instruments of this class that are in the same contexts give a pass the same number, also if
    another instrument then blocks it. Composites and the passes in the context's `required_pass`,
    about which `should_run` is not asked, have no number. The numbers go on as long as the
    instrument lives, over chunks of the input, runs and threads.
    """

    def __init__(self) -> None:
        self.count = 0
        """The number of the last pass that was numbered."""
        self._lock = threading.Lock()
        # The pass that is about to run has no frame yet, and a run has at most one such pass.
        self._next: WeakKeyDictionary[Run, int] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[PassFrame, int] = WeakKeyDictionary()

    @property
    def number(self) -> int | None:
        """The number of the pass that is running, or None if it has none."""
        return self._numbers.get(Run.current().frames[-1])

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        """Return whether the pass with this number may run; called in the order of the numbers."""
        return True

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        if info.composite:
            return True
        with self._lock:
            self.count += 1
            self._next[Run.current()] = self.count
            return self.should_run_number(self.count, module, info)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self._next.pop(Run.current(), None)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        if (number := self._next.pop(run, None)) is not None:
            self._numbers[run.frames[-1]] = number


class PassNumbers(NumberingInstrument):
    """An instrument that prints the number and the name of each pass that runs on stderr.

    Source: LLVM's `-print-pass-numbers`.
    """

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        super().run_before_pass(module, info)
        if (number := self.number) is not None:
            sys.stderr.write(f" Running pass {number} {info.name} on {module.name}\n")


class OptBisect(NumberingInstrument):
    """An instrument that numbers the leaf passes that are about to run, prints the numbers on
    stderr, and blocks the passes whose number is above `limit` or, if `limit` is a container of
    numbers, not in it.

    -1 means no limit. Composites, and passes in the context's `required_pass`, are not numbered and
    always run. The numbers go on as long as the instrument lives, so that each step of a search
    takes a new one. Errors: TypeError or ValueError for another limit.
    Source: LLVM's `-opt-bisect-limit` and `-opt-bisect`.
    """

    def __init__(self, limit: int | Container[int]) -> None:
        super().__init__()
        if isinstance(limit, (bool, str)) or not isinstance(limit, (int, Container)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"the limit of OptBisect is a whole number or a container of numbers, not {limit!r}"
            )
        if isinstance(limit, int) and limit < -1:
            raise ValueError(f"the limit of OptBisect is 0 or more, or -1 for none, not {limit}")
        self.limit = limit

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        runs = self._includes(number)
        verb = "running" if runs else "NOT running"
        sys.stderr.write(f"BISECT: {verb} pass ({number}) {info.name} on {module.name}\n")
        return runs

    def _includes(self, number: int) -> bool:
        if isinstance(self.limit, int):
            return self.limit == -1 or number <= self.limit
        return number in self.limit
