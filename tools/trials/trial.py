"""Trials: runs of a part of a pipeline on a copy of a module, and their outcome."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO
from pathlib import Path
from types import FrameType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passmanager.context import PassContext
from ...passmanager.diagnostics import Diagnostic, DiagnosticError
from ...passmanager.errors import (
    ChangedResultError,
    InvalidIRError,
    NotInstalledError,
    PasslineError,
)
from ...passmanager.fast.clone import clone
from ...passmanager.instrument import PassInstrument
from ...passmanager.sequential import Sequential
from ..failures import diagnostics_of
from .prefix import OpPlace, Prefix, function_of

# The criteria of trials: the exit status of a command, or the failure of the pipeline.


def command_words(text: str) -> list[str]:
    """Split the command of --test as a shell does; PasslineError if malformed or not found."""
    try:
        words = shlex.split(text) or [""]
    except ValueError as error:
        raise PasslineError(f"argument --test: {error}") from None
    check_command(words, "argument --test: ")
    return words


def check_command(words: Sequence[str], where: str = "") -> None:
    """Raise PasslineError, with `where` in front, if the command is not found."""
    if shutil.which(words[0]) is None:
        wrong = "is not executable" if os.path.isfile(words[0]) else "is not a command"
        raise PasslineError(f"{where}'{words[0]}' {wrong}")


class Command:
    """A command that takes the name of a file with IR: where its words hold `{}`, or else as its
    last argument.

    Its output is dropped. It runs once for each distinct text.
    """

    def __init__(
        self,
        words: Sequence[str],
        file: Path,
        text_of: Callable[[ModuleOp], str],
        timeout: float | None = None,
    ) -> None:
        self.outcome = ""
        """How the last run ended."""
        self._words = [word.replace("{}", str(file)) for word in with_place(words)]
        self._file = file
        self._text_of = text_of
        self._timeout = timeout
        self._statuses: dict[bytes, int | None] = {}

    def __call__(self, module: ModuleOp) -> bool:
        """Return whether the module is interesting: whether the command exits with 0."""
        return self.status(module) == 0

    def status(self, module: ModuleOp) -> int | None:
        """Return the exit status of the command for the text of a module; None after a timeout."""
        text = self._text_of(module)
        key = sha256(text.encode()).digest()
        if key not in self._statuses:
            self._file.write_text(text)
            self._statuses[key] = self._run()
        status = self._statuses[key]
        self.outcome = (
            f"took longer than {self._timeout:g} s"
            if status is None
            else f"ended with status {status}"
        )
        return status

    def _run(self) -> int | None:
        """Run the command; return its exit status, or None after a timeout."""
        null = subprocess.DEVNULL
        # A group of its own: what the command has started ends with it.
        process = subprocess.Popen(
            self._words, stdin=null, stdout=null, stderr=null, start_new_session=True
        )
        try:
            return process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def with_place(words: Sequence[str]) -> Sequence[str]:
    """Return the words of a command with `{}` where the file is named, at the end if nowhere."""
    return words if any("{}" in word for word in words) else [*words, "{}"]


@dataclass(frozen=True)
class Failure:
    """The failure of a pipeline, without details of one module: numbers, names and types."""

    exception: str
    pass_name: str
    message: str

    @staticmethod
    def of(error: BaseException, pass_name: str) -> Failure:
        """Return the failure that an exception out of a pass is."""
        message = next(iter(str(error).strip().splitlines()), "")  # below may stand the module
        if isinstance(error, DiagnosticError) and error.diagnostics:
            message = error.diagnostics[0].message
        return Failure(type(error).__name__, pass_name, _normalised(message))

    def __str__(self) -> str:
        where = f" in pass '{self.pass_name}'" if self.pass_name else ""
        return f"{self.exception}{where}"


def _normalised(message: str) -> str:
    """Return the message without locations, numbers, names and types, which may differ."""
    message = re.sub(r"\S+:\d+:\d+|loc\(\"[^\"]*\"\)", "PLACE", message)
    message = re.sub(r"[%@^#!][\w.$#-]+", "NAME", message)
    while (shorter := re.sub(r"[\w.]*<[^<>]*>", "TYPE", message)) != message:
        message = shorter
    message = re.sub(r"\b(?:[su]?i|b?f|tf)\d+\b|\bindex\b", "TYPE", message)
    message = re.sub(r"\b0x[0-9a-fA-F]+\b|-?\b\d+(?:\.\d+)?(?:x\d+)*\b", "NUMBER", message)
    return re.sub(r"\b(NUMBER|TYPE|NAME)(?:(?:, | x |\s)\1)+", r"\1", message)


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
