"""Running only a part of a pipeline: up to a pass, or from there on."""

from __future__ import annotations

from weakref import WeakSet

from xdsl.dialects.builtin import ModuleOp

from ..info import PassInfo, check_name, name_key
from ..instrument import PassInstrument
from ..run import Run

__all__ = ["StartAfter", "StopAfter"]


class _Window(PassInstrument):
    """What both have: knowing in which runs the pass has come by, be it that it ran or was skipped.

    Passes that a leaf calls on its module are part of it, and run when it does. A call on another
    module is a run of its own.
    """

    def __init__(self, name: str) -> None:
        check_name(name)
        self.pass_name = name
        self.unmatched = True
        """Whether no pass of this name has come by, in any run."""
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
    """Keeps what comes after the first pass `name` from running; each run by itself.

    `name`, in any spelling, may be that of a composite. Passes in the context's `required_pass` are
    not kept from running.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        return run not in self._passed or _in_leaf(run)


class StartAfter(_Window):
    """Keeps the first pass `name` and what comes before it from running; each run by itself.

    `name`, in any spelling, may be that of a composite. What later passes require runs all the
    same; passes in the context's `required_pass` are not kept from running.
    """

    def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
        run = Run.current()
        on_the_way = info.composite and info.key != self._key
        return run in self._passed or on_the_way or _in_leaf(run)


def _in_leaf(run: Run) -> bool:
    """Whether a leaf is running, which has called the pass in question."""
    return any(not frame.info.composite for frame in run.frames)
