"""Text in two columns that fits a terminal: no word is cut, and no name is broken at a hyphen."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from textwrap import TextWrapper

__all__ = ["filled", "output_width", "rows", "terminal_width"]

MAX_COLUMNS = 120
"""The number of columns of a wide terminal that are used."""


def terminal_width() -> int:
    """Return the number of columns for help: those of the terminal, or of COLUMNS, or 100."""
    return min(shutil.get_terminal_size((100, 24)).columns, MAX_COLUMNS)


def output_width() -> int | None:
    """Return the number of columns for a list on stdout; None if that is neither a terminal nor of
    the size that COLUMNS gives: for a pipe, each entry is on a line."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    return terminal_width() if is_terminal or os.environ.get("COLUMNS") else None


def filled(text: str, width: int | None, indent: str = "", first: str | None = None) -> list[str]:
    """Return `text` as lines of at most `width` columns, after `indent`, or first `first`."""
    start = indent if first is None else first
    if width is None:
        return [f"{start}{text}".rstrip()]
    wrapper = _Wrapper(
        width, initial_indent=start, subsequent_indent=indent, break_long_words=False
    )
    return wrapper.wrap(text) or [start.rstrip()]


class _Wrapper(TextWrapper):
    """A wrapper that breaks lines at blanks, and long pipelines such as `a{x=1},b,c` within."""

    def _split(self, text: str) -> list[str]:
        chunks = re.split(r"(\s+)", text)
        return [part for chunk in chunks for part in _parts(chunk) if part]


def _parts(word: str) -> list[str]:
    """Return the parts of a word between which a line may be broken."""
    return [word] if len(word) <= 40 else re.findall(r"[^,({]*[,({]?", word)


def rows(pairs: Iterable[tuple[str, str]], width: int | None) -> Iterator[str]:
    """Yield the lines of two columns; a left entry wider than the column has its own line."""
    pairs = [*pairs]
    most = len(pairs) and max(len(left) for left, _ in pairs)
    column = most + 4 if width is None else min(most + 4, max(width * 2 // 5, 12))
    for left, right in pairs:
        first = f"  {left:{column - 2}}"
        if len(left) + 4 > column:
            yield f"  {left}"
            first = " " * column
        yield from filled(right, width, " " * column, first)
