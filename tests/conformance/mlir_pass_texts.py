"""What passline-opt prints where MLIR's CHECK lines have another text, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

CHECKS: Mapping[str, Mapping[str, tuple[str, str]]] = {}
"""File -> prefix of CHECK lines -> the reason, and our lines: a line anywhere after the one before,
after `+` the next line, after `-` no line before the next, after `&` in any order."""
