"""The output of diagnostics and remarks: to stderr, to expectations in comments, or to a file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ...passmanager.diagnostics.diagnostics import Diagnostic, Severity, print_diagnostics
from ...passmanager.diagnostics.remarks import Remark, RemarkFilter, yaml_text
from ...passmanager.errors import InvalidIRError
from ...passmanager.run import Run
from ..command_line.arguments import REMARK_OPTIONS
from ..output import ResultFile
from .failures import BAD_INPUT, diagnostics_of, report, status_of

if TYPE_CHECKING:
    from .expected_diagnostics import ExpectedDiagnostics

__all__ = ["DiagnosticOutput", "expects_output", "remark_filter", "xdsl_report"]


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


class DiagnosticOutput:
    """Shows what passes and parsers report about one chunk after the other, as `args` ask for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._remarks: list[Remark] = []
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
            from .expected_diagnostics import ExpectedDiagnostics

            self._expected = ExpectedDiagnostics(
                name,
                text.decode(errors="replace"),
                line_offset,
                only_expected=self._args.verify_diagnostics == "only-expected",
            )

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the diagnostics of a pass, match them with the expected ones, or keep remarks."""
        if self._args.record or self._args.report:  # these get all remarks by themselves
            diagnostics = [d for d in diagnostics if self._is_asked_for(d)]
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
        self._expected.renderer(diagnostics_of(error))
        return self.finish_chunk(0)

    def finish_chunk(self, status: int) -> int:
        """Report missing and unexpected diagnostics; return the status, at least `status`."""
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
        return diagnostic.kind in self._asked.kinds(diagnostic.pass_name)

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
