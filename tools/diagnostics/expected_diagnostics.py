"""The check of diagnostics against comments: `// expected-error {{text}}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ...passmanager.diagnostics.diagnostics import Diagnostic, Severity

__all__ = ["ExpectedDiagnostics"]


@dataclass
class _Expectation:
    """A comment at `place` that expects a diagnostic about `line`, or about no line."""

    severity: Severity
    text: str
    pattern: re.Pattern[str]
    place: FileLineColLoc | None
    line: int | None
    met: bool = False


class ExpectedDiagnostics:
    """A matcher of the diagnostics about a chunk of a file with the comments in it, as in mlir-opt.

    A comment `// expected-error {{text}}` (or -warning, -remark, -note) at the end of a line is met
    by any number of diagnostics about the line whose message contains the text. `@+2`, `@-2`,
    `@above` and `@below` name another line (the last two the nearest line without such a comment),
    `@unknown` no line. In `expected-error-re {{text {{regex}} text}}` the inner braces hold Python
    regular expressions. A help counts as a note; a note without a location has that of its
    diagnostic. With `only_expected`, diagnostics without a comment are ignored. `line_offset` is
    the number of lines of the file `name` before `text`.
    """

    def __init__(
        self, name: str, text: str, line_offset: int = 0, *, only_expected: bool = False
    ) -> None:
        self._name = StringAttr(name)
        self._only_expected = only_expected
        self._problems: list[Diagnostic] = []
        self._expected = list(self._read(text.split("\n"), line_offset))

    def renderer(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Record diagnostics; serves as the renderer of a PassContext."""
        for diagnostic in diagnostics:
            self._process(diagnostic, diagnostic.location)
            for note in diagnostic.notes:
                self._process(note, note.location or diagnostic.location)

    def finish(self) -> list[Diagnostic]:
        """Return an error for each unexpected diagnostic and each comment that was not met."""
        unmet = [_not_produced(e) for e in self._expected if not e.met]
        unmet.sort(key=lambda problem: problem.location is None)
        return [*self._problems, *unmet]

    def _process(self, diagnostic: Diagnostic, location: FileLineColLoc | None) -> None:
        severity = diagnostic.severity
        if severity is Severity.HELP:
            severity = Severity.NOTE
        near: _Expectation | None = None
        for expectation in self._about(location):
            if expectation.pattern.search(diagnostic.message):
                if expectation.severity is severity:
                    expectation.met = True
                    return
                near = expectation
        if self._only_expected:
            return
        kind = severity.value
        if near is not None:
            what = f"'{kind}' diagnostic emitted when expecting a '{near.severity.value}'"
            self._problem(what, near.place)
        else:
            self._problem(f"unexpected {kind}: {diagnostic.message}", location)

    def _about(self, location: FileLineColLoc | None) -> list[_Expectation]:
        """Return the expectations about a location."""
        if location is not None and location.filename != self._name:
            return []
        line = None if location is None else location.line.data
        return [expectation for expectation in self._expected if expectation.line == line]

    def _problem(self, message: str, place: FileLineColLoc | None) -> None:
        self._problems.append(Diagnostic(Severity.ERROR, message, place))

    # Reading

    def _read(self, lines: list[str], offset: int) -> Iterator[_Expectation]:
        """Yield the expectations in a text whose first line is number `offset` + 1."""
        above = offset + 1
        below: list[_Expectation] = []
        for number, line in enumerate(lines, offset + 1):
            if (comment := _COMMENT.search(line.rstrip())) is None:
                for expectation in below:
                    expectation.line = number
                below.clear()
                above = number
            elif (expectation := self._expectation(comment, number)) is not None:
                if comment["where"] == "above":
                    expectation.line = above
                elif comment["where"] == "below":
                    expectation.line = offset + len(lines)  # unless a line without comment follows
                    below.append(expectation)
                yield expectation

    def _expectation(self, comment: re.Match[str], number: int) -> _Expectation | None:
        """Return the expectation in a comment; None, and record a problem, if malformed."""
        place = FileLineColLoc(self._name, IntAttr(number), IntAttr(comment.start() + 1))
        text, where = comment["text"], comment["where"] or ""
        try:
            pattern = _pattern(text, bool(comment["re"]))
        except ValueError as error:
            self._problem(str(error), place)
            return None
        severity = Severity(comment["kind"])
        if where == "unknown":
            return _Expectation(severity, text, pattern, None, None)
        distance = int(where) if where.startswith(("+", "-")) else 0
        return _Expectation(severity, text, pattern, place, number + distance)


_COMMENT = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<re>-re)? *"
    r"(?:@(?P<where>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)


def _pattern(text: str, has_regexes: bool) -> re.Pattern[str]:
    """Compile a text in which `{{}}` may enclose regular expressions; ValueError if invalid."""
    parts: list[str] = []
    plain, opening, rest = text.partition("{{") if has_regexes else (text, "", "")
    try:
        while opening:
            inner, closing, rest = rest.partition("}}")
            if not closing:
                raise ValueError("found start of regex with no end '}}'")
            re.compile(inner)
            parts += [re.escape(plain), f"(?:{inner})"]
            plain, opening, rest = rest.partition("{{")
        return re.compile("".join([*parts, re.escape(plain)]), re.DOTALL)
    except re.error as error:
        raise ValueError(f"invalid regex: {error.msg}") from None


def _not_produced(expectation: _Expectation) -> Diagnostic:
    message = f'expected {expectation.severity.value} "{expectation.text}" was not produced'
    return Diagnostic(Severity.ERROR, message, expectation.place)
