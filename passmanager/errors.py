"""The exceptions of the pass infrastructure. A user's mistake always raises a PasslineError."""

from __future__ import annotations

import re
from importlib import metadata
from json import loads
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from .output.visible import excerpt_of

if TYPE_CHECKING:
    from xdsl.ir import Operation


# The exceptions of the pass infrastructure. A user's mistake always raises a PasslineError.


class PasslineError(Exception):
    """The base class of all exceptions that Passline raises on purpose."""


class PassNotFoundError(PasslineError, LookupError):
    """The error for a name that is neither a pass of the pipeline nor a registered one."""


class PassDependencyError(PasslineError):
    """The error for requirements that form a cycle, cannot be built, or invalidate each other."""


class PassPlacementError(PassDependencyError):
    """The error for passes whose `after`, `before` and `stage` contradict each other."""


class PassContractError(PasslineError):
    """The error for a pass that did what its kind may not do, such as a function pass that adds a
    function.
    """


class ConditionError(PasslineError):
    """The error for a condition that does not hold before or after a pass, or cannot be checked.

    `op` breaks it, `message` names pass, condition and op, `blame` the pass that changed the op
    last, and `advice` the passes that would establish the condition.
    """

    op: Operation | None = None
    message = blame = advice = ""


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


# The commands that install missing packages, for a clone and for a wheel.


_NEED_OF_EXTRA = re.compile(r"""([\w-]+)[^[]*;\s*extra\s*==\s*["']([\w-]+)["']""")
"""A requirement of an extra in the metadata of a distribution: `numpy>=2; extra == "compiler"`; not
that of another extra, `passline[compiler]`."""


def report_missing(module: str) -> None:
    """Raise NotInstalledError for a missing module if an extra of Passline installs its package.

    The metadata of the distribution name the extras; the first that has the package is meant.
    """
    package = module.partition(".")[0]
    try:
        needs = metadata.requires("passline") or []
    except metadata.PackageNotFoundError:  # run from a clone that is not installed
        return
    for need in needs:
        match = _NEED_OF_EXTRA.match(need)
        if match and match[1].replace("-", "_").lower() == package:
            message = f"{package} is not installed: {install_hint(match[2])}"
            raise NotInstalledError(message, name=module)


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of Passline: for the clone if Passline runs from
    one, else for the wheel."""
    return f"pip install -e '.[{extra}]'" if _is_editable() else f"pip install 'passline[{extra}]'"


def _is_editable() -> bool:
    """Return whether Passline runs from a clone (PEP 610)."""
    try:
        text = metadata.distribution("passline").read_text("direct_url.json")
        return bool(text) and bool(loads(text).get("dir_info", {}).get("editable"))
    except (metadata.PackageNotFoundError, ValueError):
        return True  # run from a clone that is not installed
