"""Lines and names of the input as messages show them: control characters visible, carets below."""

from __future__ import annotations

import re

__all__ = ["excerpt_of", "visible"]

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


# All controls but tab and newline; the marks that change the direction of text. A terminal would
# act on them: move, recolour, hide, reverse.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return the text with each control character as an escape, such as `\\x1b`."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
