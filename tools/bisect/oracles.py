"""Oracles, which judge outcomes: by a failure, a command or an expression."""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.errors import PasslineError
from ..trials.interestingness import Command
from ..trials.trial import TrialOutcome
from .lit_test import command_in_test

__all__ = ["BadText", "CommandFails", "Oracle", "SameFailure"]


class Oracle(ABC):
    """A judge of outcomes. `wrong` says what is wrong with a bad one."""

    wrong = ""

    @abstractmethod
    def __call__(self, outcome: TrialOutcome) -> bool:
        """Return whether the outcome is bad."""

    @abstractmethod
    def run_lines(self, command: str, directory: Path) -> list[str]:
        """Return RUN lines for a test in `directory` that fails if `command` has a bad outcome."""

    @property
    def check_lines(self) -> list[str]:
        """The further lines that such a test needs."""
        return []


class SameFailure(Oracle):
    """The oracle for which an outcome is bad if the run fails as `outcome` does: in the same pass,
    with the same exception and a message that differs only in numbers, names and types."""

    def __init__(self, outcome: TrialOutcome) -> None:
        assert outcome.error is not None and outcome.failure is not None
        self.failure = outcome.failure
        message = next(iter(str(outcome.error).strip().splitlines()), "")
        names_pass = message.startswith(f"pass '{self.failure.pass_name}")
        self.wrong = message if names_pass else f"{self.failure}: {message}".rstrip(": ")

    def __call__(self, outcome: TrialOutcome) -> bool:
        return outcome.failure == self.failure

    def run_lines(self, command: str, directory: Path) -> list[str]:
        return [command]


class BadText(Oracle):
    """The oracle for which a line of the text or of a message that matches a regex is bad."""

    def __init__(self, pattern: re.Pattern[str], text_of: Callable[[ModuleOp], str]) -> None:
        self._pattern = pattern
        self._text_of = text_of
        self._in_messages = False
        self.wrong = f"the output matches '{pattern.pattern}'"

    def __call__(self, outcome: TrialOutcome) -> bool:
        # The result is not printed after a failure.
        text = "" if outcome.error is not None else self._text_of(outcome.module)
        if any(map(self._pattern.search, text.splitlines())):
            return True
        messages = (line for message in outcome.printed for line in message.splitlines())
        found = any(map(self._pattern.search, messages))
        self._in_messages |= found
        return found

    def run_lines(self, command: str, directory: Path) -> list[str]:
        merged = " 2>&1" if self._in_messages else ""
        return [f"{command}{merged} | filecheck %s --allow-empty --strict-whitespace"]

    @property
    def check_lines(self) -> list[str]:
        pattern = self._pattern.pattern.replace("}}", "}(?:)}")  # "}}" would end it
        return [f"CHECK-NOT: {{{{{pattern}}}}}"]


class CommandFails(Oracle):
    """The oracle for which an outcome is bad if a command that gets its text in a file exits with
    another status than 0, or takes too long. A run that fails is not judged."""

    def __init__(
        self,
        words: Sequence[str],
        file: Path,
        text_of: Callable[[ModuleOp], str],
        timeout: float | None,
    ) -> None:
        self._words = words
        self._text = shlex.join(words).replace("'{}'", "{}")
        self._command = Command(words, file, text_of, timeout)

    def __call__(self, outcome: TrialOutcome) -> bool:
        if outcome.error is not None:
            return False
        status = self._command.status(outcome.module)
        if status in (126, 127):  # of a shell
            raise PasslineError(f"the command could not be run, status {status}: {self._text}")
        if status == 0:
            return False
        self.wrong = f"the command {self._command.outcome}: {self._text}"
        return True

    def run_lines(self, command: str, directory: Path) -> list[str]:
        return [f"{command} -o %t.mlir", command_in_test(self._words, directory)]
