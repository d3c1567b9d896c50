"""The numbering of passes, which tells apart several passes of one name."""

from __future__ import annotations

import sys
import threading
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp

from ...instrument import PassInstrument
from ...registration.info import PassInfo
from ...run import Frame, Run

__all__ = ["NumberingInstrument", "PassNumbers"]


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
        self._numbers: WeakKeyDictionary[Frame, int] = WeakKeyDictionary()

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
