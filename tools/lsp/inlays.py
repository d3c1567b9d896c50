"""Inlay hints: the remarks of passes beside the lines that they are about, and in results the pass
that made an operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from lsprotocol.types import InlayHint, InlayHintKind, Position

from ...passmanager.report.blame import blame_rows
from ...passmanager.report.record_reader import Record
from .open_file import OpenFile
from .piece_facts import PieceFacts

_PLACE = re.compile(r":(\d+):(\d+)$")


class RemarkHint(NamedTuple):
    """A remark at an offset of a piece; it goes when the text of the piece changes."""

    facts: PieceFacts
    offset: int
    label: str
    message: str


def remark_hints(file: OpenFile, record: Record) -> list[RemarkHint]:
    """Return the remarks in the record of a run on a file, each at the end of its line."""
    begins = record.begins()
    found: list[RemarkHint] = []
    for event in record.events:
        diagnostics = cast("Sequence[dict[str, Any]]", event.get("diagnostics", ()))
        for diagnostic in diagnostics:
            place = _PLACE.search(diagnostic.get("location", ""))
            if diagnostic["severity"] != "remark" or place is None:
                continue
            start = file.source.line_start(int(place[1]) - 1)
            end = file.text.find("\n", start)
            offset = end if end >= 0 else len(file.text)
            if (at := file.at(start + int(place[2]) - 1)) is None:
                continue
            inside = at[0].piece.in_text(offset)
            passes = str(begins[event["pass"]]["name"]) if "pass" in event else ""
            remark: dict[str, Any] = diagnostic.get("remark", {})
            label = f"{passes}: {remark.get('kind', 'remark')} {remark.get('name', '')}".strip()
            last = len(at[0].piece.text) if inside is None else inside
            found.append(RemarkHint(at[0].facts, last, label, diagnostic["message"]))
    return found


def shown_remarks(file: OpenFile, hints: Sequence[RemarkHint]) -> Iterator[InlayHint]:
    """Yield the hints of remarks whose pieces have not changed."""
    for placed in file.placed:
        for hint in hints:
            if hint.facts is placed.facts:
                position = file.source.position(placed.piece.in_file(hint.offset))
                yield _hint(position, hint.label, hint.message)


class PassResult(NamedTuple):
    """The text of the result of a run, and the origin of the operation on each line of it: the pass
    that made it."""

    text: str
    origins: Sequence[str]


def result_of(record: Record) -> PassResult:
    """Return the result in the record of a run, without the module around it."""
    rows = [row for run in blame_rows(record) for row in run]
    text = "".join(f"{line}\n" for _, _, line in rows)
    return PassResult(text, [origin for origin, _, _ in rows])


def origin_hints(result: PassResult, shown: str) -> Iterator[InlayHint]:
    """Yield the origins of operations that are not those of the input, while the text that is shown
    is that of the result."""
    if shown != result.text:
        return
    for number, (origin, line) in enumerate(zip(result.origins, result.text.split("\n"))):
        if origin not in ("", "input"):
            position = Position(number, len(line.encode("utf-16-le")) // 2)
            yield _hint(position, f"made by {origin}".replace("made by input, ", ""), "")


def _hint(position: Position, label: str, tooltip: str) -> InlayHint:
    kind = InlayHintKind.Parameter
    return InlayHint(position, label, kind, tooltip=tooltip or None, padding_left=True)
