"""Remarks in the YAML format of LLVM and MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .actions import Remark

__all__ = ["yaml_text"]


def yaml_text(remarks: Iterable[Remark]) -> str:
    """Return the remarks in the YAML format of LLVM's `-pass-remarks-output` and of MLIR."""
    return "".join(f"{line}\n" for remark in remarks for line in _yaml_lines(remark))


def _yaml_lines(remark: Remark) -> Iterator[str]:
    yield f"--- !{remark.kind.value}"
    yield _yaml_entry("Pass", _scalar(remark.category))
    yield _yaml_entry("Name", _scalar(remark.name))
    if (loc := remark.location) is not None:
        file, line, column = _scalar(loc.filename.data), loc.line.data, loc.column.data
        place = f"{{ File: {file}, Line: {line}, Column: {column} }}"
        yield _yaml_entry("DebugLoc", place)
    # LLVM's reader rejects a remark without a function.
    yield _yaml_entry("Function", _scalar(remark.function or "<unknown function>"))
    yield "Args:"
    for key, value in remark.arguments.items():
        yield f"  - {_yaml_entry(_scalar(key), _scalar(str(value)))}"
    yield "..."


def _yaml_entry(key: str, value: str) -> str:
    return f"{f'{key}:':<16} {value}"


_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*( [\w./-]+)*", re.ASCII)
_NOT_STRINGS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar: plain where no reader takes it for something else, else
    quoted.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_STRINGS:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    """Return a character as written in double quotes."""
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return (
        f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
    )
