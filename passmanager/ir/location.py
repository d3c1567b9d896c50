"""Where in which file an operation comes from."""

from __future__ import annotations

import linecache

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.lexer import Span

__all__ = [
    "file_location",
    "location_of",
    "place_of",
    "place_text",
    "remember_source",
    "span_location",
]


def span_location(span: Span[str] | Span[bytes]) -> FileLineColLoc:
    """Where a span begins."""
    file, line, column = span.get_location()
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def remember_source(name: str, content: bytes) -> None:
    """Keep the text of an input that is no file, so that messages can show its lines."""
    lines = content.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[name] = (len(content), None, lines, name)


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The first place in a file that `location` speaks of; where it has a name only, that stands
    for one, as `loc("conv1")`.
    """
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            named = FileLineColLoc(StringAttr(str(location)), IntAttr(0), IntAttr(0))
            return file_location(location.location) or named
        case CallSiteLoc():
            return file_location(location.callee) or file_location(location.caller)
        case FusedLoc():
            return file_location(location.locations)
        case ArrayAttr():
            found = (file_location(part) for part in location)
            return next((place for place in found if place is not None), None)
        case _:
            return None


def location_of(op: Operation) -> FileLineColLoc | None:
    """The place in a file of the nearest op, from `op` outwards, that knows one."""
    current: Operation | None = op
    while current is not None:
        if (place := file_location(current.location)) is not None:
            return place
        current = current.parent_op()
    return None


def place_of(op: Operation) -> str:
    """` at file:line:col` for a message, or nothing if no place is known."""
    loc = location_of(op)
    return f" at {place_text(loc)}" if loc else ""


def place_text(location: FileLineColLoc) -> str:
    """`file:line:col`, or the file alone for what is all of it."""
    line, column = location.line.data, location.column.data
    return f"{location.filename.data}:{line}:{column}" if line else location.filename.data
