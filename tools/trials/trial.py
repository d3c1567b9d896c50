"""Trials: runs of a part of a pipeline on a copy of a module, and their outcome."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from types import FrameType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passmanager.context import PassContext
from ...passmanager.diagnostics.diagnostics import Diagnostic
from ...passmanager.errors import ChangedResultError, InvalidIRError, NotInstalledError
from ...passmanager.fast.clone import clone
from ...passmanager.instrument import PassInstrument
from ...passmanager.sequential import Sequential
from ..diagnostics.failures import diagnostics_of
from .interestingness import Failure
from .place import OpPlace, function_of
from .prefix import Prefix

__all__ = ["TimeLimitError", "TrialOutcome", "Trials", "time_limit"]


@dataclass(frozen=True)
class TrialOutcome:
    """The outcome of a run: the module after it, what the passes reported, and how it failed."""

    module: ModuleOp
    """The module after the run; after a failure, as the pass left it."""
    prefix: Prefix
    printed: Sequence[str] = ()
    """The diagnostics of the passes, and that of the failure, as text."""
    error: BaseException | None = None
    failure: Failure | None = None

    @property
    def function(self) -> str:
        """The function that a failure names, or empty."""
        if isinstance(self.error, InvalidIRError):
            return function_of(self.error.op)
        if isinstance(self.error, ChangedResultError):
            return self.error.function
        return self.prefix.failed_function

    @property
    def place(self) -> OpPlace | None:
        """The operation that a failure names, or None."""
        return OpPlace.of(self.error.op) if isinstance(self.error, InvalidIRError) else None


@dataclass
class Trials:
    """Runs of passes on copies of modules, all in `pass_context`, silently."""

    ir_context: Context
    pass_context: PassContext
    timeout: float | None = None
    """The seconds after which a run fails."""
    checks: Callable[[], Sequence[PassInstrument]] = tuple
    """Makes the further instruments of a run."""
    count: int = 0
    """The number of runs so far."""
    _printed: list[str] = field(default_factory=list[str])

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Keep the diagnostics of a pass: the renderer of `pass_context`."""
        self._printed += map(str, diagnostics)

    def run(
        self, passes: Sequence[ModulePass], source: ModuleOp, prefix: Prefix | None = None
    ) -> TrialOutcome:
        """Run the passes on a copy of `source`, all of them or the beginning `prefix`."""
        prefix = Prefix() if prefix is None else prefix
        module = clone(source)
        self.count += 1
        self._printed = []
        self.pass_context.instruments = [prefix, *self.checks()]
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()), self.pass_context:
                with time_limit(self.timeout):
                    Sequential(passes).apply(self.ir_context, module)
        except (KeyboardInterrupt, NotInstalledError):  # no pass is the cause
            raise
        except BaseException as error:  # sys.exit too
            printed = [*self._printed, *map(str, diagnostics_of(error))]
            failure = _failure_of(error, prefix)
            return TrialOutcome(module, prefix, printed, error, failure)
        return TrialOutcome(module, prefix, self._printed)


def _failure_of(error: BaseException, prefix: Prefix) -> Failure:
    """Return the failure of a run, to be compared with those of others."""
    if isinstance(error, ChangedResultError):  # its message depends on the input
        return Failure(type(error).__name__, prefix.ran[-1].name, "")
    return Failure.of(error, prefix.failed)


# A pass that does not end is a failure like another.


class TimeLimitError(BaseException):
    """The error for a call that takes too long. No Exception, as code may expect those."""


@contextmanager
def time_limit(seconds: float | None) -> Generator[None]:
    """Raise TimeLimitError in the body if it takes longer.

    Python ignores what is raised in a finalizer or in a callback of the garbage collector. So the
    error is raised again after as many seconds more, until the body ends.

    Nothing is limited without `seconds`, in other threads than the first, and on systems without
    SIGALRM; one long call of C code is not interrupted.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # the timer may have raised in the block before
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
