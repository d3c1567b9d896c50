"""What the pass infrastructure raises. A user's mistake is always a PasslineError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from xdsl.ir import Operation

__all__ = [
    "ConfigError",
    "InvalidIRError",
    "PassContractError",
    "PassDependencyError",
    "PassNotFoundError",
    "PasslineError",
    "PipelineSyntaxError",
]


class PasslineError(Exception):
    """The base of all errors that Passline raises on purpose."""


class PassNotFoundError(PasslineError, LookupError):
    """A name that is no pass of the pipeline and none in the registry."""


class PassDependencyError(PasslineError):
    """Requirements that form a cycle, cannot be built, or undo each other."""


class PassContractError(PasslineError):
    """A pass did what its kind may not do, such as a function pass that adds a function."""


class PipelineSyntaxError(PasslineError):
    """Pipeline text that cannot be read; the message shows the whole text and a caret.

    `start` and `end` are offsets into `text`.
    """

    def __init__(self, message: str, text: str, start: int, end: int | None = None) -> None:
        self.message, self.text = message, text
        self.start, self.end = start, start + 1 if end is None else end
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line = text[line_start:] if line_end < 0 else text[line_start:line_end]
        width = max(1, min(self.end, line_start + len(line)) - start)
        before = "".join("\t" if c == "\t" else " " for c in text[line_start:start])
        marker = before + "^" * width
        super().__init__(f"{message}\n  {line}\n  {marker}")


class ConfigError(PasslineError, ValueError):
    """A configuration key or value that no pass and no registered option accepts."""


class InvalidIRError(PasslineError, VerifyException):
    """IR that does not verify; `op` is the operation that was found wrong."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
