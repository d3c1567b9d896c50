"""What the tools say when something fails, and the status that they end with."""

from __future__ import annotations

import os
import sys
import traceback

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ..passmanager.diagnostics import Diagnostic, Severity, print_diagnostics
from ..passmanager.errors import DiagnosticError, InvalidIRError, PasslineError
from ..passmanager.ir.location import location_of, span_location

__all__ = ["BAD_INPUT", "BUG", "CLOSED_PIPE", "INTERRUPTED", "USAGE", "report", "silence_stdout"]

BAD_INPUT = 1
"""The input is wrong, or a pass failed on purpose."""
USAGE = 2
"""Options, pipeline text or names are wrong."""
BUG = 3
"""A pass raised something else: there is a bug in it."""
INTERRUPTED = 130
CLOSED_PIPE = 141


def report(error: BaseException, *, debug: bool = False) -> int:
    """Say on stderr what failed and in which pass; returns the exit status."""
    if isinstance(error, BrokenPipeError):
        silence_stdout()
        return CLOSED_PIPE
    if debug:
        traceback.print_exception(error)
    elif not isinstance(error, DiagnosticError):  # its diagnostics have been shown
        print_diagnostics([_diagnostic(error)])
    if not debug:
        for note in getattr(error, "__notes__", ()):
            print(f"note: {note}", file=sys.stderr)
    return _status(error)


def _status(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    expected = (
        ParseError,
        DiagnosticException,
        PasslineError,
        OSError,
        RecursionError,
    )
    return BAD_INPUT if isinstance(error, expected) else BUG


def _diagnostic(error: BaseException) -> Diagnostic:
    match error:
        case ParseError():
            return Diagnostic(Severity.ERROR, error.msg, span_location(error.span))
        case InvalidIRError():
            return Diagnostic(Severity.ERROR, str(error), location_of(error.op))
        case KeyboardInterrupt():
            return Diagnostic(Severity.ERROR, "interrupted")
        case RecursionError():
            return Diagnostic(Severity.ERROR, "the IR is nested too deeply")
        case SystemExit():
            message = f"a pass called sys.exit({error.code!r})"
            return Diagnostic(Severity.ERROR, message)
        case OSError() if error.strerror:
            name = f"'{error.filename}': " if error.filename else ""
            return Diagnostic(Severity.ERROR, f"{name}{error.strerror}")
        case DiagnosticException() | PasslineError():
            return Diagnostic(Severity.ERROR, str(error) or type(error).__name__)
        case _:
            diagnostic = Diagnostic(Severity.ERROR, f"{type(error).__name__}: {error}")
            return diagnostic.help("this is a bug in the pass; --debug shows the traceback")


def silence_stdout() -> None:
    """Nobody reads stdout any more, or it is full: let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
