"""The reports of failures, and the exit status for each kind; a command as a process of its own."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError

from ..passmanager.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Severity,
    print_diagnostics,
    print_message,
)
from ..passmanager.errors import ConditionError, InvalidIRError, NotInstalledError, PasslineError
from ..passmanager.fast.acceleration import is_turned_off
from ..passmanager.fast.parts import NO_ACCELERATION, OFF
from ..passmanager.ir.location import location_of, span_location
from ..passmanager.ir.text.syntax_errors import InvalidText, parse_errors
from ..passmanager.names import nearest_file
from ..passmanager.output.status import complete_streams, status_on_terminal
from ..passmanager.releases.release import unknown_release
from .loading import LoadedFileError

BAD_INPUT = 1
"""The input is wrong, or a pass failed on purpose."""
USAGE = 2
"""Options, pipeline text or names are wrong."""
BUG = 3
"""A pass raised something else: there is a bug in it."""
INTERRUPTED = 130
"""The run was interrupted."""
CLOSED_PIPE = 141
"""The reader of the output closed the pipe."""


def report(error: BaseException, *, debug: bool = False) -> int:
    """Report a failure and the pass it came from on stderr; return the exit status."""
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    if debug:
        traceback.print_exception(error)
    else:
        print_diagnostics(diagnostics_of(error))
        # No pass is at fault if a package is missing.
        notes = [] if isinstance(error, NotInstalledError) else notes_of(error)
        for note in notes:
            print_message(Severity.NOTE, note)
        if isinstance(error, InvalidIRError) and any(n.startswith("in pass ") for n in notes):
            advice = "the pass left invalid IR: the bug is in it, not in the input"
            print_message(Severity.HELP, advice)
    return status_of(error)


def notes_of(error: BaseException) -> list[str]:
    """Return the notes of an error: the passes it came through, and the output of a called tool."""
    said: object = getattr(error.__cause__, "stderr", None)  # of a CalledProcessError
    own = [said.strip()] if isinstance(said, str) and said.strip() else []
    return [*own, *getattr(error, "__notes__", ())]


def status_of(error: BaseException) -> int:
    """Return the exit status for a failure."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    expected = (ParseError, DiagnosticException, PasslineError, OSError, MemoryError)
    if isinstance(error, expected):
        return BAD_INPUT
    too_deep = isinstance(error, RecursionError) and not notes_of(error)  # and in no pass
    return BAD_INPUT if too_deep else BUG


def diagnostics_of(error: BaseException) -> list[Diagnostic]:
    """Return a failure as diagnostics; none for a DiagnosticError, which is reported already."""
    match error:
        case DiagnosticError():
            return []
        case ParseError() | InvalidText():
            return [_of_parser(each) for each in parse_errors(error)]
        case InvalidIRError():
            return [Diagnostic(Severity.ERROR, str(error), location_of(error.op))]
        case ConditionError() if error.op is not None:
            broken = Diagnostic(Severity.ERROR, error.message, location_of(error.op))
            if error.blame:
                broken.note(None, error.blame)
            return [broken.help(error.advice) if error.advice else broken]
        case LoadedFileError():
            return [Diagnostic(Severity.ERROR, str(error), error.place)]
        case KeyboardInterrupt():
            return [Diagnostic(Severity.ERROR, "interrupted")]
        case RecursionError() if not notes_of(error):
            return [Diagnostic(Severity.ERROR, "the IR is nested too deeply")]
        case MemoryError():
            said = f"out of memory: {error}" if str(error) else "out of memory"
            return [Diagnostic(Severity.ERROR, said)]
        case SystemExit():
            return [Diagnostic(Severity.ERROR, f"a pass called sys.exit({error.code!r})")]
        case OSError() if error.strerror:
            name = f"'{error.filename}': " if error.filename is not None else ""
            is_missing = isinstance(error, FileNotFoundError) and error.filename
            near = nearest_file(Path(str(error.filename))) if is_missing else ""
            return [Diagnostic(Severity.ERROR, f"{name}{error.strerror}{near}")]
        case DiagnosticException() | PasslineError() | OSError():
            return [Diagnostic(Severity.ERROR, str(error) or type(error).__name__)]
        case _:
            bug = Diagnostic(Severity.ERROR, f"{type(error).__name__}: {error}")
            where = f"in the pass{_place_in_pass(error)}"
            where = where if notes_of(error) else "in the tool, or in what it was given"
            newer = f"; {unknown}, which may be the cause" if (unknown := unknown_release()) else ""
            return [bug.help(f"this is a bug {where}; --debug shows the traceback{newer}")]


def _place_in_pass(error: BaseException) -> str:
    """Return `, at file:line`, the last line that ran of the file in which the pass begins; empty
    text if that is not known.
    """
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _runs_passes(str(frame.f_globals.get("__name__")))
    ]
    last = [f", at {file}:{line}" for file, line in lines if file == lines[0][0]]
    return last[-1] if last else ""


def _runs_passes(module: str) -> bool:
    """Return whether code of a module stands between the tool and a pass."""
    package, _, rest = module.partition(".")
    if package == __name__.partition(".")[0]:
        return rest.partition(".")[0] in ("passmanager", "tools")
    return package == "xdsl" or package in sys.stdlib_module_names


def _of_parser(error: ParseError) -> Diagnostic:
    diagnostic = Diagnostic(Severity.ERROR, error.msg, span_location(error.span))
    for span, said in error.refs if isinstance(error, MultipleSpansParseError) else ():
        diagnostic.note(span_location(span), said or "here")
    return diagnostic


def restart_without_acceleration() -> None:
    """Start this process anew if its options ask for all accelerated parts to be off, and modules
    that have decided otherwise are imported already: that of a tool of another project.
    """
    if NO_ACCELERATION in sys.argv[1:] and not is_turned_off():
        os.environ[OFF] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run_process(command: Callable[[], None]) -> None:
    """Run a command, report what it raises or failed to write, and exit with that status."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  else what is printed on it would go to stdout
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        os.open(os.devnull, os.O_RDONLY)  # else a file that is opened later would become stdin
    try:
        with complete_streams(), status_on_terminal():
            command()
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error, debug="--debug" in sys.argv))
