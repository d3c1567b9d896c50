"""Instruments that run only a part of a pipeline: up to a pass, or from it on."""

from __future__ import annotations

from weakref import WeakSet

from xdsl.dialects.builtin import ModuleOp

from ...instrument import PassInstrument
from ...registration.info import PassInfo, check_name
from ...registration.names import name_key
from ...run import Run

__all__ = ["StartAfter", "StartBefore", "StopAfter", "StopBefore"]


class _Window(PassInstrument):
    """The base class, which records the runs in which the pass has run or was skipped.

    Passes that a leaf pass calls on its module are part of that pass, and run if it does. A call on
    another module is a run of its own.
    """

    def __init__(self, name: str) -> None:
        check_name(name)
        self.pass_name = name
        self.unmatched = True
        """Whether no pass of this name has run or was skipped in any run."""
        self._key = name_key(name)
        self._passed: WeakSet[Run] = WeakSet()

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if info.key == self._key:
            self.unmatched = False
            self._passed.add(Run.current())

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self.run_after_pass(module, info)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        self.run_after_pass(module, info)


class StopAfter(_Window):
    """An instrument that blocks all passes after the first pass `name`, in each run.

    `name`, in any spelling, may name a composite. Passes in the context's `required_pass` are
    not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        return run not in self._passed or _in_leaf(run)


class StartAfter(_Window):
    """An instrument that blocks the first pass `name` and all passes before it, in each run.

    `name`, in any spelling, may name a composite. The requirements of later passes run
    nevertheless; passes in the context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        encloses_start = info.composite and info.key != self._key
        return run in self._passed or encloses_start or _in_leaf(run)


class StopBefore(_Window):
    """An instrument that blocks the first pass `name` and all passes after it, in each run.

    `name`, in any spelling, may name a composite. The requirements of that pass run. Passes in the
    context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        return (run not in self._passed and info.key != self._key) or _in_leaf(run)


class StartBefore(_Window):
    """An instrument that blocks all passes before the first pass `name`, in each run.

    `name`, in any spelling, may name a composite. The requirements of that pass are blocked, too;
    those of later passes run, and passes in the context's `required_pass` are not blocked.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        encloses_start = info.composite or info.key == self._key
        return run in self._passed or encloses_start or _in_leaf(run)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.run_after_pass(module, info)


def _in_leaf(run: Run) -> bool:
    """Return whether a leaf pass is running, which called the pass in question."""
    return any(not frame.info.composite for frame in run.frames)
