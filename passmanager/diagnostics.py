"""Diagnostics: messages about the user's IR with their source locations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TextIO

from xdsl.dialects.builtin import FileLineColLoc, LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from .errors import PasslineError
from .ir.location import file_location, location_of, place_text, source_line
from .output.visible import excerpt_of, visible

Where = Operation | SSAValue | LocationAttr | None
"""The subject of a message, from which its source location is taken."""


class Severity(Enum):
    """The severity of a diagnostic; only errors make a pass fail."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"
    HELP = "help"


@dataclass
class Diagnostic:
    """A message with its severity, its source location and its notes."""

    severity: Severity
    message: str
    location: FileLineColLoc | None = None
    notes: list[Diagnostic] = field(default_factory=list["Diagnostic"])

    def note(self, where: Where, message: str) -> Diagnostic:
        """Add a note, with a location of its own; return this diagnostic."""
        self.notes.append(make(Severity.NOTE, where, message))
        return self

    def help(self, message: str) -> Diagnostic:
        """Add advice how to solve the problem; return this diagnostic."""
        self.notes.append(make(Severity.HELP, None, message))
        return self

    def settle(self, number: int) -> None:
        """Note the number of this diagnostic among those of a pass, from 1, before it is shown."""

    def __str__(self) -> str:
        return render(self)


class DiagnosticError(PasslineError):
    """The failure of a pass that reported errors; `diagnostics` has all its diagnostics in
    order.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)


Renderer = Callable[[Sequence[Diagnostic]], None]
"""A function that shows diagnostics to the user; called once for each pass that reported any."""


def make(severity: Severity, where: Where, message: str) -> Diagnostic:
    """Return a diagnostic about `where`; if that is an op, the message begins with its name."""
    if isinstance(where, Operation):
        message = f"'{where.name}' op {message}"
    return Diagnostic(severity, message, place_in_file(where))


def op_at(where: Where) -> Operation | None:
    """Return the op of a message's subject: the op itself, or the one that defines the value."""
    if isinstance(where, SSAValue):
        owner = where.owner
        return owner.parent_op() if isinstance(owner, Block) else owner
    return where if isinstance(where, Operation) else None


def place_in_file(where: Where) -> FileLineColLoc | None:
    """Return the source location of a message's subject."""
    if isinstance(where, LocationAttr):
        return file_location(where)
    op = op_at(where)
    return None if op is None else location_of(op)


class DiagnosticContext:
    """The diagnostics that a pass reports while it runs."""

    def __init__(self) -> None:
        self._collected: list[Diagnostic] = []
        self.rendered: list[Diagnostic] = []
        """The diagnostics that were handed to the renderer, in order."""

    def emit(self, severity: Severity, where: Where, message: str) -> Diagnostic:
        """Report a diagnostic, which is rendered when the pass ends, and return it."""
        diagnostic = make(severity, where, message)
        self.add(diagnostic)
        return diagnostic

    def add(self, diagnostic: Diagnostic) -> None:
        """Report a diagnostic that exists already."""
        self._collected.append(diagnostic)

    def error(self, where: Where, message: str) -> Diagnostic:
        """Report an error: the pass runs on, and fails when it ends."""
        return self.emit(Severity.ERROR, where, message)

    def warning(self, where: Where, message: str) -> Diagnostic:
        """Report a probable mistake."""
        return self.emit(Severity.WARNING, where, message)

    def note(self, where: Where, message: str) -> Diagnostic:
        """Report a neutral fact."""
        return self.emit(Severity.NOTE, where, message)

    def help(self, where: Where, message: str) -> Diagnostic:
        """Report advice for the user."""
        return self.emit(Severity.HELP, where, message)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(tuple(self._collected))

    def __len__(self) -> int:
        return len(self._collected)

    def flush(self, renderer: Renderer) -> None:
        """Pass the collected diagnostics to `renderer`, and clear them; raise DiagnosticError if
        one of them is an error.
        """
        if not self._collected:
            return
        # Cleared first: a renderer that raises is not called with the same diagnostics again.
        collected, self._collected = tuple(self._collected), []
        for number, diagnostic in enumerate(collected, 1):
            diagnostic.settle(number)
        self.rendered += collected
        renderer(collected)
        errors = [d for d in collected if d.severity is Severity.ERROR]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise DiagnosticError(headline(errors[0]) + more, collected)


_COLOURS = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;35m",
    Severity.REMARK: "\x1b[1;34m",
    Severity.NOTE: "\x1b[1;36m",
    Severity.HELP: "\x1b[1;32m",
}


def _label(severity: Severity, colour: bool) -> str:
    """Return `error:`, `warning:` and so on."""
    return f"{_COLOURS[severity]}{severity.value}:\x1b[0m" if colour else f"{severity.value}:"


def headline(diagnostic: Diagnostic, colour: bool = False) -> str:
    """Return the first line of a diagnostic: `file:line:col: error: message`."""
    severity = _label(diagnostic.severity, colour)
    loc = diagnostic.location
    place = f"{place_text(loc)}: " if loc else ""
    return f"{visible(place)}{severity} {visible(diagnostic.message)}"


def render(diagnostic: Diagnostic, colour: bool = False) -> str:
    """Return a diagnostic and its notes as text, each with its source line and a caret if the file
    can be read.
    """
    lines = [headline(diagnostic, colour)]
    if diagnostic.location is not None:
        lines += excerpt(diagnostic.location)
    lines += [render(note, colour) for note in diagnostic.notes]
    return "\n".join(lines)


def excerpt(location: FileLineColLoc) -> list[str]:
    """Return the source line at `location` and a caret under its column; empty if the line cannot
    be read.
    """
    line = source_line(location)
    if not line.strip():
        return []
    at = min(max(0, location.column.data - 1), len(line))
    return excerpt_of(line, at, at)


def wants_colour(stream: TextIO) -> bool:
    """Return whether to colour text on `stream`: it is a terminal, and NO_COLOR is not set."""
    import os

    return stream.isatty() and not os.environ.get("NO_COLOR")


def print_message(severity: Severity, message: str, program: str = "") -> None:
    """Print a message that is about no place in the IR on stderr, in colour on a terminal."""
    from .output.status import clear_status  # which a run without messages does not need

    clear_status()
    before = f"{program}: " if program else ""
    label = _label(severity, wants_colour(sys.stderr))
    print(f"{visible(before)}{label} {visible(message)}", file=sys.stderr)


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics on stderr, in colour on a terminal: the default renderer of contexts."""
    from .output.status import clear_status

    clear_status()
    colour = wants_colour(sys.stderr)
    for diagnostic in diagnostics:
        print(render(diagnostic, colour), file=sys.stderr)
