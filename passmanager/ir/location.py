"""The source locations of operations."""

from __future__ import annotations

import linecache
import os

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

from .walk import ancestors


def span_location(span: Span[str] | Span[bytes]) -> FileLineColLoc:
    """Return the location of the start of a span."""
    file, line, column = span.get_location()
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def remember_source(name: str, content: bytes) -> None:
    """Keep the text of an input without a file, so that messages can show its lines."""
    lines = content.decode("utf-8-sig", errors="replace").splitlines(keepends=True)
    # Without a time of modification, `linecache.checkcache` leaves the entry alone.
    linecache.cache[name] = (len(content), None, lines, name)


def source_line(location: FileLineColLoc) -> str:
    """Return the line at a location in a file, or in a text that is remembered; empty text if it
    cannot be read.
    """
    name = location.filename.data
    linecache.checkcache(name)  # the file may have changed
    # Else `linecache` looks for a relative name in the folders of `sys.path`, too.
    if name not in linecache.cache and not os.path.exists(name):
        return ""
    return linecache.getline(name, location.line.data).rstrip("\r\n")


def file_location(location: Attribute) -> FileLineColLoc | None:
    """Return the first file location in `location`, or None. A name without a file location, as
    `loc("conv1")`, stands for a file of this name.
    """
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            named = FileLineColLoc(StringAttr(str(location)), IntAttr(0), IntAttr(0))
            return file_location(location.location) or named
        case CallSiteLoc():
            # The place of the code itself comes first, that of the call only if it is unknown.
            return file_location(location.callee) or file_location(location.caller)
        case FusedLoc():
            return file_location(location.locations)
        case ArrayAttr():
            found = (file_location(part) for part in location)
            return next((place for place in found if place is not None), None)
        case _:
            return None


def location_of(op: Operation) -> FileLineColLoc | None:
    """Return the file location of the innermost op around `op`, or `op` itself, that has one, or
    None.
    """
    # An op that a pass created has the place of the function or loop that it is in.
    places = (file_location(around.location) for around in ancestors(op))
    return next((place for place in places if place is not None), None)


def place_of(op: Operation) -> str:
    """Return ` at file:line:col` for a message, or empty text if no location is known."""
    loc = location_of(op)
    return f" at {place_text(loc)}" if loc else ""


def place_text(location: FileLineColLoc) -> str:
    """Return `file:line:col`, or the file alone if the location is the whole file."""
    line, column = location.line.data, location.column.data
    return f"{location.filename.data}:{line}:{column}" if line else location.filename.data
