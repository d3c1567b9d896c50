"""Code actions: passes and pipelines to run here, and corrections of misspelt names; and lenses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    CodeLens,
    Command,
    Diagnostic,
    Range,
    TextEdit,
    WorkspaceEdit,
)

from .open_file import OpenFile
from .run_lines import RunLine, run_lines

ROOT = __package__.partition(".")[0] if __package__ else ""

RUN, PREVIEW = "passline.runPipeline", "passline.previewPipeline"
RESULT, REMARKS = "passline.showResult", "passline.showRemarks"
TEST, OUTPUT, UPDATE = "passline.runTest", "passline.showOutput", "passline.updateChecks"

ON_FUNCTIONS = ("canonicalize", "cse", "sccp", "loop-invariant-code-motion")
"""The passes that are offered for a function, of those that there are."""
ON_FILES = ("canonicalize", "cse", "inline", "symbol-dce")
"""The passes that are offered for all of a file."""


def code_actions(
    file: OpenFile, place: Range, diagnostics: Sequence[Diagnostic], previews: bool
) -> Iterator[CodeAction]:
    """Yield the corrections of diagnostics, and the passes that may run on what is around a place.

    With `previews`, each pass has a second action that shows what it would change: an editor that
    does not ask for confirmation of edits shows no preview itself.
    """
    for diagnostic in diagnostics:
        yield from _corrections(file, diagnostic)
    line = place.start.line
    offset = file.source.offset(place.start)
    for run in _run_lines_at(file, line):
        if run.pipeline:
            yield from _runs(file, run.pipeline, "of this RUN line", "the file", line, "", previews)
    if (found := file.at(offset)) is not None and not found[0].piece.is_rest:
        symbols = found[0].facts.symbols
        for name in _known(file, ON_FUNCTIONS) if len(symbols) == 1 else ():
            symbol = symbols[0][0]
            yield from _runs(file, name, "", f"@{symbol}", line, symbol, previews)
    for name in _known(file, ON_FILES):
        yield from _runs(file, name, "", "the file", line, "", previews)


def _known(file: OpenFile, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in file.known.passes]


def _run_lines_at(file: OpenFile, line: int) -> list[RunLine]:
    return [run for run in run_lines(file.text) if run.line <= line <= run.last]


def _runs(
    file: OpenFile, pipeline: str, words: str, where: str, line: int, symbol: str, previews: bool
) -> Iterator[CodeAction]:
    """Yield the action that runs a pipeline, and the one that shows what it would change."""
    what = f"the pipeline {words}" if words else pipeline
    argument = {"uri": file.uri, "pipeline": pipeline, "line": line, "symbol": symbol}
    titles = {RUN: f"Run {what} on {where}"}
    if previews:
        titles[PREVIEW] = f"Show what {what} changes in {where}"
    for command, title in titles.items():
        yield CodeAction(
            title,
            kind=CodeActionKind.RefactorRewrite,
            command=Command(title, command, arguments=[argument]),
        )


def _corrections(file: OpenFile, diagnostic: Diagnostic) -> Iterator[CodeAction]:
    match = re.search(r"did you mean '([^']+)'\?", diagnostic.message)
    if match is None:
        return
    start, end = (file.source.offset(p) for p in (diagnostic.range.start, diagnostic.range.end))
    written = file.text[start:end]
    new = f'"{match[1]}"' if written.startswith('"') else match[1]
    edit = WorkspaceEdit({file.uri: [TextEdit(diagnostic.range, new)]})
    yield CodeAction(
        f"Write '{match[1]}'",
        kind=CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=True,
        edit=edit,
    )


@cache
def can_update_checks() -> bool:
    """Return whether pytest has the option that writes CHECK lines: Passline's plugin is there."""
    return all(map(find_spec, ("pytest", "lit"))) and find_spec(f"{ROOT}.testing") is not None


def lenses(file: OpenFile) -> Iterator[CodeLens]:
    """Yield the lenses on RUN lines: run the test, show its output, or see what its passes do."""
    for run in run_lines(file.text):
        start = file.source.line_start(run.line)
        place = file.source.range(start, start)
        titles = {TEST: "Run", OUTPUT: "Show the output"}
        if run.pipeline and file.known.is_passline:
            titles |= {RESULT: "Show which pass made what", REMARKS: "Show remarks"}
        if run.filtered != run.command and can_update_checks():
            titles[UPDATE] = "Update CHECK lines"
        argument = {"uri": file.uri, "line": run.line, "pipeline": run.pipeline, "symbol": ""}
        for command, title in titles.items():
            yield CodeLens(place, Command(title, command, arguments=[argument]))
