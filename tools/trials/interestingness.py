"""The criteria of trials: the exit status of a command, or the failure of the pipeline."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.diagnostics.diagnostics import DiagnosticError
from ...passmanager.errors import PasslineError

__all__ = ["Command", "Failure", "check_command", "command_words", "with_place"]


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
