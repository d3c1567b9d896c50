"""An open file: its text, and the pieces of it that are read apart.

A piece is a function, or another operation isolated from above, directly in the file or in its
module; all that is left is a piece, too. So a key typed in a function makes no other one be read
again, and a function that is broken leaves the others as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from lsprotocol.types import Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent
from lsprotocol.types import TextDocumentContentChangePartial as PartialChange


class SourceText:
    """A text with its lines; positions are those of the protocol, offsets those of Python."""

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16) -> None:
        self.text = text
        self.encoding = encoding
        self._is_plain = text.isascii() or encoding == PositionEncodingKind.Utf32

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]

    def line_of(self, offset: int) -> int:
        """Return the number, from 0, of the line of an offset."""
        return bisect_right(self._starts, offset) - 1

    def line_start(self, line: int) -> int:
        """Return the offset at which a line begins; the end of the text for a line after it."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = self.line_of(offset)
        start = self._starts[line]
        return Position(line, self._units(self.text[start:offset]))

    def offset(self, position: Position) -> int:
        """Return the offset of a position, at most that of the end of its line."""
        start, end = self.line_start(position.line), self.line_start(position.line + 1)
        line = self.text[start:end].rstrip("\r\n")
        if self._is_plain:
            return start + min(position.character, len(line))
        units = 0
        for index, char in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(char)
        return start + len(line)

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def changed(self, changes: Sequence[TextDocumentContentChangeEvent]) -> SourceText:
        """Return the text after changes, each made on the result of the one before it."""
        source = self
        for change in changes:
            text = change.text
            if isinstance(change, PartialChange):
                start, end = (source.offset(p) for p in (change.range.start, change.range.end))
                text = source.text[:start] + text + source.text[end:]
            source = SourceText(text, self.encoding)
        return source

    def _units(self, text: str) -> int:
        if self._is_plain or text.isascii():
            return len(text)
        if self.encoding == PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True)
class Piece:
    """A part of a file that is read apart: one operation, or all that is left between these.

    `prefix` is what is read before the text: the definitions of the aliases in it. `segments` are
    the parts of the text: the offset of each in the text, and that in the file.
    """

    text: str
    prefix: str
    segments: tuple[tuple[int, int], ...]
    is_rest: bool = False

    @property
    def key(self) -> tuple[str, str, bool]:
        """All that the piece is read from."""
        return self.prefix, self.text, self.is_rest

    def in_file(self, offset: int) -> int:
        """Return the offset in the file of an offset in the text."""
        at = bisect_right(self.segments, (offset, 1 << 62)) - 1
        start, place = self.segments[max(at, 0)]
        return place + offset - start

    def in_text(self, offset: int) -> int | None:
        """Return the offset in the text of an offset in the file, None if that is elsewhere."""
        for index, (start, place) in enumerate(self.segments):
            following = self.segments[index + 1 : index + 2]
            end = place + (following[0][0] if following else len(self.text)) - start
            if place <= offset <= end:
                return offset - place + start
        return None

    @property
    def start(self) -> int:
        """The offset in the file at which the piece begins."""
        return self.segments[0][1]


@dataclass
class Split:
    """A part of a file between lines `// -----`, with its pieces: the last one is the rest. Dumps
    of the IR after passes are parts too; `dump` is what the banner says, as `After cse`."""

    start: int
    end: int
    pieces: list[Piece] = field(default_factory=list[Piece])
    dump: str = ""

    @property
    def rest(self) -> Piece:
        """The piece with all that is in no other one."""
        return self.pieces[-1]


_MARKER = re.compile(
    r"^[ \t]*// -----(?://[ \t]*IR Dump ([^\n]*?)[ \t]*//----- //)?[ \t]*\r?$\n?", re.MULTILINE
)
_STRUCTURE = re.compile(
    r'^([ \t]*)(?="?[A-Za-z_]|%|[#!][A-Za-z_][\w$-]*\s*=)|//[^\n]*|"(?:\\.|[^"\\\n])*"|[{}]',
    re.MULTILINE,
)
_BEGIN = re.compile(r'(?:%[^="\n]*=\s*)?("?)([A-Za-z_][\w$]*(?:\.[\w$]+)*)\1|([#!][\w$-]+)')
_MODULES = ("module", "builtin.module")
_ALIAS = re.compile(r"[#!][A-Za-z_][\w$-]*")


class _CodeLine(NamedTuple):
    """The start of a line with code on it, and the number of open braces before it."""

    start: int
    code: int
    depth: int


def split_pieces(text: str, is_isolated: Callable[[str], bool]) -> list[Split]:
    """Return the parts of a file with their pieces; `is_isolated` tells of the name of an operation
    whether its regions use no value from outside."""
    splits: list[Split] = []
    start, dump = 0, ""
    for marker in _MARKER.finditer(text):
        splits.append(_split(text, start, marker.start(), is_isolated))
        splits[-1].dump = dump
        start, dump = marker.end(), marker[1] or ""
    splits.append(_split(text, start, len(text), is_isolated))
    splits[-1].dump = dump
    return splits


def _split(text: str, start: int, end: int, is_isolated: Callable[[str], bool]) -> Split:
    lines, braces = _structure(text, start, end)
    outer = {line.start: name for line in lines if line.depth == 0 and (name := _name(text, line))}
    opens, inner = _module_brace(text, outer, braces)
    is_balanced = not braces or (braces[-1][1] == 0 and min(depth for _, depth in braces) >= 0)
    if is_balanced:
        ends = (place for place, depth in braces if depth < inner and place > opens)
        limit = next(ends, end) if inner else end
        body = [line for line in lines if line.depth == inner and opens < line.start < limit]
    else:
        # Braces tell nothing: an operation in the column of the first one is beside it.
        limit = _last_brace(text, start, end) if inner else end
        body = [line for line in lines if opens < line.start < limit]
        columns = (line.code - line.start for line in body if is_isolated(_name(text, line)))
        column = next(columns, None)
        body = [line for line in body if line.code - line.start == column]
    named = outer | {line.start: name for line in body if (name := _name(text, line))}
    starts = [*sorted(named), end]
    after = dict(pairwise(starts))
    aliases = _aliases(text, named, after)
    found, places = Split(start, end), list[tuple[int, int]]()
    for line in body:
        if not (name := named.get(line.start)) or name[0] in "#!" or not is_isolated(name):
            continue
        stop = _end_of_code(text, line.start, min(after[line.start], limit))
        places.append((line.start, stop))
        inside = text[line.start : stop]
        prefix = _used(inside, line.start, aliases) if aliases else ""
        if "dense_resource<" in inside:
            prefix += _metadata(text, start, end)
        found.pieces.append(Piece(inside, prefix, ((0, line.start),)))
    found.pieces.append(_rest(text, start, end, places))
    return found


def _structure(text: str, start: int, end: int) -> tuple[list[_CodeLine], list[tuple[int, int]]]:
    """Return the starts of lines with code, and the braces, each with the depth after it."""
    lines: list[_CodeLine] = []
    braces: list[tuple[int, int]] = []
    depth = 0
    for match in _STRUCTURE.finditer(text, start, end):
        if (found := match[0]) == "{":
            depth += 1
            braces.append((match.start(), depth))
        elif found == "}":
            depth -= 1
            braces.append((match.start(), depth))
        elif match[1] is not None:
            lines.append(_CodeLine(match.start(), match.end(), depth))
    return lines, braces


def _name(text: str, line: _CodeLine) -> str:
    """Return the name of the operation or the alias that begins on a line; empty if none does."""
    match = _BEGIN.match(text, line.code)
    if match is None:
        return ""
    if (name := match[2]) is None:
        return match[3]
    return name if "." in name or name in ("module", "func") else ""


def _module_brace(
    text: str, outer: dict[int, str], braces: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the offset of the brace of the module around all operations, and the depth in it; -1
    and 0 if there is none. `outer` are the names at the starts of lines outside of all braces."""
    ops = [start for start, name in outer.items() if name[0] not in "#!"]
    if not ops or outer[ops[0]] not in _MODULES:
        return -1, 0
    opened = next(
        (
            (place, depth)
            for place, depth in braces
            if place > ops[0]
            and depth == 1
            and text[place] == "{"
            and not text[ops[0] : place].rstrip().endswith(("attributes", "<"))
        ),
        None,
    )
    if opened is None:
        return -1, 0
    closed = next((place for place, depth in braces if depth == 0 and place > opened[0]), None)
    is_alone = closed is None or all(start < closed for start in ops)
    return opened if is_alone else (-1, 0)


def _last_brace(text: str, start: int, end: int) -> int:
    """Return the start of the last line if a brace alone is on it, else the end."""
    found = re.search(r"^[ \t]*\}[^\n{}]*\s*\Z", text[start:end], re.MULTILINE)
    return end if found is None else start + found.start()


def _end_of_code(text: str, start: int, end: int) -> int:
    """Return the end of the last line with code between two offsets."""
    while end > start:
        line = text.rfind("\n", start, end) + 1 or start
        code = text[line:end].strip()
        if code and not code.startswith("//"):
            return line + len(text[line:end].rstrip())
        end = max(line - 1, start)
    return end


def _rest(text: str, start: int, end: int, places: Sequence[tuple[int, int]]) -> Piece:
    """Return the piece between the others."""
    parts: list[str] = []
    segments: list[tuple[int, int]] = []
    length, at = 0, start
    for place, stop in (*places, (end, end)):
        segments.append((length, at))
        parts.append(text[at:place])
        length += place - at
        at = stop
    return Piece("".join(parts), "", tuple(segments), is_rest=True)


def _aliases(text: str, named: dict[int, str], after: dict[int, int]) -> dict[str, tuple[int, str]]:
    """Return the start and the text of the definition of each alias."""
    found: dict[str, tuple[int, str]] = {}
    for start, name in named.items():
        if name[0] in "#!":
            stop = _end_of_code(text, start, after[start])
            found.setdefault(name, (start, text[start:stop]))
    return found


def _used(text: str, before: int, defined: dict[str, tuple[int, str]]) -> str:
    """Return the definitions before an offset of the aliases that a text uses, a line each."""
    needed: dict[str, tuple[int, str]] = {}
    pending = [text]
    while pending:
        for name in _names_of_aliases(pending.pop()):
            if name in defined and name not in needed and defined[name][0] < before:
                needed[name] = defined[name]
                pending.append(defined[name][1])
    return "".join(f"{definition}\n" for _, definition in sorted(needed.values()))


def _names_of_aliases(text: str) -> Iterator[str]:
    return (match[0] for match in _ALIAS.finditer(text))


def _metadata(text: str, start: int, end: int) -> str:
    """Return the section with the resources of a file, or empty text."""
    begin = text.find("{-#", start, end)
    stop = text.find("#-}", begin, end) if begin >= 0 else -1
    return text[begin : stop + 3] + "\n" if stop >= 0 else ""
