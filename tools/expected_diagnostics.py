"""The output of diagnostics, and their check against comments: `// expected-error {{text}}`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from ..passmanager.actions import Remark, RemarkFilter
from ..passmanager.diagnostics import Diagnostic, Severity, print_diagnostics
from ..passmanager.errors import InvalidIRError
from ..passmanager.remark_yaml import yaml_text
from ..passmanager.run import Run
from .command_line.arguments import REMARK_OPTIONS
from .failures import BAD_INPUT, diagnostics_of, report, status_of
from .output import ResultFile

# The check of diagnostics against comments: `// expected-error {{text}}`.


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


# The output of diagnostics and remarks: to stderr, to expectations in comments, or to a file.


def remark_filter(args: argparse.Namespace) -> dict[str, str]:
    """Return the remarks to make: those to show or write, for a record all of them."""
    return {"all": ""} if args.record or args.report else _asked_remarks(args)


def _asked_remarks(args: argparse.Namespace) -> dict[str, str]:
    """Return the remarks to show or write: kind -> regular expression on the names of passes."""
    named = {kind: getattr(args, option) for kind, option in REMARK_OPTIONS.items()}
    given = {kind: pattern for kind, pattern in named.items() if pattern is not None}
    if args.remarks_output:
        return given or {"all": ""}
    return {} if args.quiet else given


class FinalRemarks:
    """The last remark of each kind, name, category and function about each place.

    Source: MLIR's `--remark-policy=final`.
    """

    def __init__(self) -> None:
        self._last: dict[object, Remark] = {}

    def add(self, remarks: Iterable[Remark]) -> None:
        """Note remarks, in the place of earlier ones."""
        for r in remarks:
            key = (r.location, r.kind, r.name, r.category, r.function)
            self._last.pop(key, None)
            self._last[key] = r

    def take(self) -> list[Remark]:
        """Return the remarks by their places, those without one last, and forget them; a remark to
        which another one is related comes after that."""
        remarks = sorted(self._last.values(), key=_order)
        self._last.clear()
        present = {id(remark) for remark in remarks}
        explaining = {id(remark.related) for remark in remarks}
        found: dict[int, Remark] = {}
        for remark in remarks:
            if id(remark) not in explaining:
                each: Remark | None = remark
                while each is not None and id(each) in present:
                    found.setdefault(id(each), each)
                    each = each.related
        return [*found.values()]


def _order(remark: Remark) -> tuple[bool, str, int, int]:
    if (place := remark.location) is None:
        return True, "", 0, 0
    return False, place.filename.data, place.line.data, place.column.data


class DiagnosticOutput:
    """Shows what passes and parsers report about one chunk after the other, as `args` ask for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._remarks: list[Remark] = []
        self._final = FinalRemarks()
        self._expected: ExpectedDiagnostics | None = None
        self.prints_diagnostics = False
        """Whether --verify-diagnostics has xDSL's meaning: the tool prints errors to the output."""

    @cached_property
    def _asked(self) -> RemarkFilter:
        return RemarkFilter(_asked_remarks(self._args))

    def start_chunk(self, name: str, text: bytes, line_offset: int) -> None:
        """Read the diagnostics that the comments of a chunk expect, with --verify-diagnostics."""
        self._expected = None
        if self._args.verify_diagnostics and not self.prints_diagnostics:
            self._expected = ExpectedDiagnostics(
                name,
                text.decode(errors="replace"),
                line_offset,
                only_expected=self._args.verify_diagnostics == "only-expected",
            )

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the diagnostics of a pass, or match them with the expected ones; remarks are kept
        if a file gets them."""
        if self._args.record or self._args.report:  # these get all remarks by themselves
            diagnostics = [d for d in diagnostics if self._is_asked_for(d)]
        if self._args.remark_policy == "final":
            self._final.add(d for d in diagnostics if isinstance(d, Remark))
            diagnostics = [d for d in diagnostics if not isinstance(d, Remark)]
        self._show(diagnostics)

    def _show(self, diagnostics: Sequence[Diagnostic]) -> None:
        if self._args.remarks_output:
            self._remarks += [d for d in diagnostics if isinstance(d, Remark)]
            diagnostics = [d for d in diagnostics if not isinstance(d, Remark)]
        if self._expected is not None:
            self._expected.renderer(diagnostics)
        else:
            print_diagnostics([d for d in diagnostics if self._is_shown(d)])

    def fail_chunk(self, error: BaseException) -> int:
        """Report an error that ended a chunk, unless it was expected; return the exit status."""
        if self._expected is None or status_of(error) != BAD_INPUT:
            return self.finish_chunk(report(error, debug=self._args.debug))
        # As in mlir-opt, a pass may fail without a word.
        silent = isinstance(error, PassFailedException) and not str(error)
        self._expected.renderer([] if silent else diagnostics_of(error))
        return self.finish_chunk(0)

    def finish_chunk(self, status: int) -> int:
        """Report the remarks that are final, and missing and unexpected diagnostics; return the
        status, at least `status`."""
        self._show(self._final.take())
        if self._expected is None:
            return status
        problems = self._expected.finish()
        print_diagnostics(problems)
        return max(status, BAD_INPUT if problems else 0)

    def write_remarks(self) -> int:
        """Write the remarks to the file of --remarks-output; return the exit status."""
        if not self._args.remarks_output:
            return 0
        file = ResultFile(self._args.remarks_output)
        try:
            file.write(yaml_text(self._remarks))
            file.commit()
        except OSError as error:
            return report(error, debug=self._args.debug)
        return 0

    def _is_asked_for(self, diagnostic: Diagnostic) -> bool:
        if not isinstance(diagnostic, Remark):
            return True
        name, category = diagnostic.pass_name, diagnostic.category
        return self._asked.wants(diagnostic.kind, name, category)

    def _is_shown(self, diagnostic: Diagnostic) -> bool:
        severity = diagnostic.severity
        if isinstance(diagnostic, Remark):
            return True  # remark_filter dropped the others
        if severity is Severity.REMARK and not self._args.quiet:
            wanted, name = self._args.remarks, Run.current().frames[-1].info.name
            return wanted is not None and re.search(wanted, name) is not None
        return severity is Severity.ERROR or not self._args.quiet


# xDSL's meaning of --verify-diagnostics: errors are printed to the output, for FileCheck. In
# mlir-opt the option compares diagnostics with `expected-error` comments; in xdsl-opt it prints
# those of invalid IR and of passes, and goes on with the next chunk. A file that has comments for
# FileCheck and none of the former is written for xdsl-opt.

_EXPECTED_DIAGNOSTIC = re.compile(rb"//.*expected-(?:error|warning|remark|note)")
_CHECK = re.compile(rb"^.*//.*\bCHECK(?:-[A-Z]+)*:", re.MULTILINE)


def expects_output(content: bytes) -> bool:
    """Return whether the comments of a file are about the output, and none about diagnostics."""
    return _EXPECTED_DIAGNOSTIC.search(content) is None and _CHECK.search(content) is not None


def xdsl_report(error: DiagnosticException, module: ModuleOp | None) -> str:
    """Return what xdsl-opt prints for an error: the message, and the IR with the error in it.

    An error of our verifier is that of xDSL's for the same module, if it has one.
    """
    if isinstance(error, InvalidIRError) and module is not None:
        try:
            module.verify()
        except DiagnosticException as found:
            error = found
    given: list[str] = getattr(error, "__notes__", [])
    notes = [*getattr(error, "ir_notes", ()), *(n for n in given if not n.startswith("in pass "))]
    return "".join(f"{text}\n" for text in (str(error), *notes))
