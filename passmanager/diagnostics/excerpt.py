"""A line of text with carets under a part of it, as messages show it."""

from __future__ import annotations

from ..output.visible import visible

__all__ = ["excerpt_of"]

_WIDTH = 160
"""A line with more characters is shown in part: this many, half of them before the carets."""


def excerpt_of(line: str, start: int, end: int) -> list[str]:
    """Return the line, and below it carets from `start` to `end`, at least one; control characters
    are made visible.
    """
    end = max(end, start + 1)
    if len(line) > _WIDTH:
        first = max(0, min(start - _WIDTH // 2, len(line) - _WIDTH))
        left, right = "..." if first else "", "..." if first + _WIDTH < len(line) else ""
        line = f"{left}{line[first : first + _WIDTH]}{right}"
        start, end = (min(at - first + len(left), len(line)) for at in (start, end))
    start, end = len(visible(line[:start])), len(visible(line[:end])) + max(0, end - len(line))
    line = visible(line)
    # Tabs stay tabs, so that the carets are aligned whatever their width.
    before = "".join("\t" if c == "\t" else " " for c in line[:start])
    return [line, before + "^" * (end - start)]
