"""The exceptions of the pass infrastructure. A user's mistake always raises a PasslineError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from .output.visible import excerpt_of

if TYPE_CHECKING:
    from xdsl.ir import Operation

__all__ = [
    "ChangedResultError",
    "ConfigError",
    "InvalidIRError",
    "NotInstalledError",
    "PassContractError",
    "PassDependencyError",
    "PassNotFoundError",
    "PasslineError",
    "PipelineSyntaxError",
]


class PasslineError(Exception):
    """The base class of all exceptions that Passline raises on purpose."""


class PassNotFoundError(PasslineError, LookupError):
    """The error for a name that is neither a pass of the pipeline nor a registered one."""


class PassDependencyError(PasslineError):
    """The error for requirements that form a cycle, cannot be built, or invalidate each other."""


class PassContractError(PasslineError):
    """The error for a pass that did what its kind may not do, such as a function pass that adds a
    function.
    """


class PipelineSyntaxError(PasslineError):
    """The error for invalid pipeline text; the message shows the line with a caret below the error.

    `start` and `end` are offsets into `text`.
    """

    def __init__(self, message: str, text: str, start: int, end: int | None = None) -> None:
        self.message, self.text = message, text
        self.start, self.end = start, start + 1 if end is None else end
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line = text[line_start:] if line_end < 0 else text[line_start:line_end]
        end = min(self.end - line_start, len(line))
        shown = "\n  ".join(excerpt_of(line, start - line_start, end))
        super().__init__(f"{message}\n  {shown}")


class ConfigError(PasslineError, ValueError):
    """The error for a configuration key or value that no pass and no registered option accepts."""


class NotInstalledError(PasslineError, ModuleNotFoundError):
    """The error for a package that Passline needs and that is not installed; the message says how
    to install it.
    """


class InvalidIRError(PasslineError, VerifyException):
    """The error for IR that fails verification; `op` is the invalid operation."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op


class ChangedResultError(PasslineError):
    """The error for a pass that changes what a program computes, from an instrument that compares.

    `function` is the name of the function, or empty; `details` shows the difference. Both, and the
    message, may depend on the input, by which `passline-bisect` does not tell two faults apart.
    """

    def __init__(self, message: str, function: str, details: str) -> None:
        super().__init__(message)
        self.function, self.details = function, details
