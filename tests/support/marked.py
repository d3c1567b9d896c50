"""Files of an editor in tests: the place of the cursor is marked in the text."""

from __future__ import annotations

from functools import cache

from passline.tools.lsp.document import SourceText
from passline.tools.lsp.known_dialects import KnownDialects
from passline.tools.lsp.open_file import OpenFile

CURSOR = "<|>"
URI = "file:///x.mlir"


@cache
def known_dialects() -> KnownDialects:
    """Return the dialects of this environment, which all tests share."""
    return KnownDialects()


def open_text(text: str) -> OpenFile:
    """Return a text as an open file."""
    return OpenFile(URI, SourceText(text), known_dialects())


def open_at(marked: str) -> tuple[OpenFile, int]:
    """Return a text without the mark of the cursor as an open file, and the offset of the mark."""
    before, mark, after = marked.partition(CURSOR)
    assert mark, "the text has no mark"
    return open_text(before + after), len(before)


def spans(file: OpenFile) -> list[tuple[str, str]]:
    """Return the message and the text of each problem of a file."""
    return [(p.message, file.text[p.start : p.end]) for p in file.problems()]
