"""The parts of an input file between marker lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["split_chunks"]


def split_chunks(content: bytes, marker: str = "// -----") -> Iterator[tuple[bytes, int]]:
    """Yield the parts of a file between lines equal to `marker`, each with the number of lines
    before it."""
    start = line = 0
    pattern = rb"^[ \t]*" + re.escape(marker.encode()) + rb"[ \t]*\r?$\n?"
    for found in re.finditer(pattern, content, re.MULTILINE):
        yield content[start : found.start()], line
        line += content.count(b"\n", start, found.end())
        start = found.end()
    yield content[start:], line
