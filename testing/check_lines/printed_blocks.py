"""CHECK lines for the output of a tool, a block of lines for each top-level symbol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .captured_names import CapturedNames

__all__ = ["BlockKey", "CheckBlock", "check_blocks", "depth_change", "is_separator", "symbol_in"]

_WORD = r'[^%@={(:#"]*'
_SYMBOL = re.compile(rf'{_WORD}(?:"[^"]*"{_WORD})?@(?P<name>"(?:[^"\\]|\\.)*"|[\w$.-]+)')
_GENERIC_SYMBOL = re.compile(r'\s*"[\w.$]+"\(\).*\bsym_name = "(?P<name>[^"]+)"')
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
_ALIAS = re.compile(r"([#!][A-Za-z_][\w$.-]*) = ")
_MODULE = re.compile(r'\s*(?:(?:builtin\.)?module\b(?!\S)|"builtin\.module"\(\)).*\{$')
_PLAIN_MODULE = re.compile(r'(?:(?:builtin\.)?module |"builtin\.module"\(\) \()\{')
_VARIABLE = re.compile(r"[%^#!]\[\[")
_HIDDEN = "\0"
_BLANK = "{{^[[:blank:]]+$}}"
_PREDECESSORS = re.compile(r"\s+// (?:pred|\d+ preds|no predecessors)\b.*")

BlockKey = tuple[int, str | None, int]
"""The chunk of the output, the symbol, and how many blocks of it come before; symbol None: what
stands before the first symbol."""


@dataclass(frozen=True)
class CheckBlock:
    """The CHECK lines of one symbol, without prefix: (`-LABEL`, text), ..."""

    key: BlockKey
    lines: tuple[tuple[str, str], ...]


def is_separator(line: str) -> bool:
    """Return whether a line separates the parts of a file with `--split-input-file`."""
    return line.lstrip().startswith("// -----")


def symbol_in(line: str) -> str | None:
    """Return the name of the symbol that a line defines, or None. Calls look the same, but are
    nested deeper."""
    match = _SYMBOL.match(line) or _GENERIC_SYMBOL.match(line)
    return match["name"].strip('"') if match else None


def depth_change(line: str) -> int:
    """Return by how many braces a line opens more than it closes."""
    text = _STRING_OR_COMMENT.sub("", line)
    return text.count("{") - text.count("}")


def check_blocks(text: str, folders: Sequence[str] = ()) -> Iterator[CheckBlock]:
    """Yield the blocks of CHECK lines that match the output `text` of a tool.

    `folders` are paths of this machine, which the lines match by `{{.*}}`.
    """
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(folder, _HIDDEN)
    chunk: list[str] = []
    number = 0
    for line in [*text.splitlines(), "// -----"]:
        if is_separator(line):
            yield from _blocks_of_chunk(number, chunk)
            chunk = []
            number += 1
        else:
            chunk.append(line.rstrip() or line)


def _blocks_of_chunk(number: int, lines: list[str]) -> Iterator[CheckBlock]:
    module = _module_around(lines)
    skipped = module if module is not None and _is_plain(lines, *module) else ()
    deepest_symbol = 1 if module else 0
    indent = "  " if skipped else ""
    names = CapturedNames({match[1] for line in lines if (match := _ALIAS.match(line))})
    counts: dict[str | None, int] = {}
    symbol: str | None = None
    block: list[tuple[str, str]] = []
    depth = 0
    follows = False

    def finish() -> Iterator[CheckBlock]:
        while block and block[-1][1] in ("", _BLANK):
            block.pop()
        if block:
            counts[symbol] = counts.get(symbol, -1) + 1
            yield CheckBlock((number, symbol, counts[symbol]), tuple(block))
            block.clear()

    for index, line in enumerate(lines):
        if index in skipped:
            follows = False
            depth += depth_change(line)
            continue
        found = symbol_in(line) if depth <= deepest_symbol else None
        depth += depth_change(line)
        if found is not None:
            yield from finish()
            symbol = found
            names.enter_symbol()
        shown = _PREDECESSORS.sub("", line) if line.lstrip().startswith("^") else line
        pattern = names.pattern(shown.removeprefix(indent)).replace(_HIDDEN, "{{.*}}")
        if line.isspace():  # CHECK-EMPTY is for lines without anything
            pattern = _BLANK
        if found is not None:
            block += _label(pattern, found)
        elif block or line.strip():
            block.append(("" if not follows else "-NEXT" if pattern else "-EMPTY", pattern))
        follows = bool(block)
    yield from finish()


def _label(pattern: str, symbol: str) -> Iterator[tuple[str, str]]:
    """Yield the lines for the line that defines a symbol: a label may have no variables."""
    variable = _VARIABLE.search(pattern)
    label = pattern[: variable.start()] if variable else pattern
    if symbol not in label:
        yield "", pattern
        return
    yield "-LABEL", label.rstrip()
    if variable:
        yield "-SAME", pattern[variable.start() :]


def _module_around(lines: list[str]) -> tuple[int, int] | None:
    """Return the first and the last line of the module that all lines are in, aliases apart; None
    without one."""
    shown = [index for index, line in enumerate(lines) if line.strip() and not _ALIAS.match(line)]
    if not shown or not _MODULE.match(lines[shown[0]]):
        return None
    depth = 0
    for index in shown:
        depth += depth_change(lines[index])
        if depth <= 0:
            return (shown[0], index) if index == shown[-1] else None
    return None


def _is_plain(lines: list[str], first: int, last: int) -> bool:
    """Return whether a module has no name and no attributes, and is not empty: its first and last
    line are not checked."""
    return bool(_PLAIN_MODULE.fullmatch(lines[first])) and any(
        map(str.strip, lines[first + 1 : last])
    )
