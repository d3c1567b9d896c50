"""The locations of positions in a text."""

from __future__ import annotations

from bisect import bisect_right

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.lexer import Position


class Lines:
    """The line table of a text, which converts positions to locations."""

    def __init__(self, text: str, name: str, offset: int) -> None:
        self._file = StringAttr(name)
        self._offset = offset
        self._starts = [0]
        while (end := text.find("\n", self._starts[-1])) >= 0:
            self._starts.append(end + 1)
        self._numbers = IntAttrs()

    @property
    def start_of_file(self) -> FileLineColLoc:
        """The location that mlir-opt gives to an implicit module."""
        return FileLineColLoc(self._file, IntAttr(0), IntAttr(0))

    def location(self, position: int) -> FileLineColLoc:
        """Return the location of a position in the text."""
        line = bisect_right(self._starts, position)
        column = position - self._starts[line - 1] + 1
        # The constructors verify the types of their arguments: 8 us, a tenth of the parsing.
        location = _new(FileLineColLoc)
        _set(location, "filename", self._file)
        _set(location, "line", self._numbers[line + self._offset])
        _set(location, "column", self._numbers[column])
        return location

    def position(self, location: Attribute) -> Position | None:
        """Return the position in the text of a location, None if it is in another file."""
        if not isinstance(location, FileLineColLoc) or location.filename != self._file:
            return None
        line = location.line.data - self._offset - 1
        if not 0 <= line < len(self._starts):
            return None
        return self._starts[line] + location.column.data - 1


class IntAttrs(dict[int, IntAttr]):
    """The IntAttr of each number, created once."""

    def __missing__(self, number: int) -> IntAttr:
        attr = self[number] = _new(IntAttr)
        _set(attr, "data", number)
        return attr


_new, _set = object.__new__, object.__setattr__
