"""The numbers of passes, by which one of several of a name can be told."""

from __future__ import annotations

import sys
import threading
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp

from ..info import PassInfo
from ..instrument import PassInstrument
from ..run import Frame, Run

__all__ = ["NumberingInstrument", "PassNumbers"]


class NumberingInstrument(PassInstrument):
    """An instrument that knows the number of the pass that is running, which is the one that
    `OptBisect` gives it.
    """

    def __init__(self) -> None:
        self.count = 0
        """How many passes have been numbered."""
        self._lock = threading.Lock()
        self._next: WeakKeyDictionary[Run, int] = WeakKeyDictionary()
        self._numbers: WeakKeyDictionary[Frame, int] = WeakKeyDictionary()

    @property
    def number(self) -> int | None:
        """The number of the pass that is running, if it has one."""
        return self._numbers.get(Run.current().frames[-1])

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        if not info.composite:
            with self._lock:
                self.count += 1
                self._next[Run.current()] = self.count
        return True

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self._next.pop(Run.current(), None)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        if (number := self._next.pop(run, None)) is not None:
            self._numbers[run.frames[-1]] = number


class PassNumbers(NumberingInstrument):
    """Writes the number and the name of each pass that runs on stderr.

    Source: LLVM's `-print-pass-numbers`.
    """

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        super().run_before_pass(module, info)
        if (number := self.number) is not None:
            sys.stderr.write(f" Running pass {number} {info.name} on {module.name}\n")
