"""Control characters in names and lines of the input, made visible in messages."""

from __future__ import annotations

import re

__all__ = ["visible"]

# All controls but tab and newline; the marks that change the direction of text. A terminal would
# act on them: move, recolour, hide, reverse.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return the text with each control character as an escape, such as `\\x1b`."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
