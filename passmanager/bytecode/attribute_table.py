"""The attributes and types of a file of bytecode, each decoded when it is first asked for."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import BytesAttr, FileLineColLoc, StringAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ..fast.acceleration import is_accelerated
from ..fast.creation import make_attribute
from ..fast.reading.line_table import IntAttrs
from .encoding import BytecodeError, parse_varint, unzigzag

__all__ = ["AttributeTable", "Decoder"]

MAX_DEPTH = 1000
"""The limit on the nesting of attributes and types."""
MAX_SIZE = 1 << 20
"""The limit on the parts of an attribute, each counted as often as it is used."""

Decoder = Callable[["AttributeTable"], Attribute]
"""A function that decodes an entry of one kind, from the position of a table on."""

_PLACE = 11 << 1 | 1
"""The first byte of the encoding of a location in a file."""

_BUSY = UnitAttr()
"""The mark of an entry that is being decoded."""


class AttributeTable:
    """The entries of a file: attributes first, then types. They refer to each other by number.

    While an entry is decoded, the methods `varint`, `string`, `attribute` and so on read its fields
    one by one.
    """

    strings: Sequence[bytes] = ()
    resources: Sequence[str] = ()
    """The handles of the resources, in the order in which entries refer to them."""

    def __init__(
        self,
        data: bytes,
        name: str,
        ctx: Context,
        max_elements: int,
        decoders: Mapping[tuple[str, bool], Sequence[Decoder]],
    ) -> None:
        """`decoders` are those of the attributes (False) and types (True) of a dialect."""
        self.data, self.name, self.ctx = data, name, ctx
        self._decoders = decoders
        self.max_elements = max_elements
        self.position = 0
        """The place of the next field."""
        self.values: list[Attribute | None] = []
        """The entries as far as they are decoded."""
        self.attributes = 0
        """The number of attributes; the types follow."""
        self.bounds: list[int] = []
        """The start of each entry, which is the end of the one before; and the end of the last."""
        self.is_encoded = bytearray()
        """For each entry 1 if its dialect encodes it, 0 if it is text."""
        self.group_starts: list[int] = []
        self.dialects: list[str] = []
        """The first entry of each group, and the dialect of the group."""
        self.texts = dict[int, StringAttr | BytesAttr]()
        self.numbers = IntAttrs()
        """The IntAttr of each number, the same for equal numbers."""
        self._end: int = 0
        self._start: int = 0
        self._size: int = 0
        self._depth: int = 0
        self._nesting = 0
        self._sizes: dict[int, tuple[int, int]] = {}
        self._has_places = False

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise the error for a place, by default that of the entry that is decoded."""
        raise BytecodeError(self.name, self._start if position is None else position, reason)

    # Entries

    def attribute_at(self, index: int, position: int) -> Attribute:
        """Return an attribute by its number, which stands at a position."""
        if index >= self.attributes:
            self.fail(f"there is no attribute {index}, of {self.attributes}", position)
        return self.values[index] or self.entry(index)

    def type_at(self, index: int, position: int) -> Attribute:
        """Return a type by its number, which stands at a position."""
        number = index + self.attributes
        if number >= len(self.values):
            count = len(self.values) - self.attributes
            self.fail(f"there is no type {index}, of {count}", position)
        return self.values[number] or self.entry(number)

    def entry(self, number: int) -> Attribute:
        """Decode an entry, or return it if it is decoded."""
        if (known := self.values[number]) is not None:
            if known is _BUSY:
                self.fail("an attribute that contains itself", self.bounds[number])
            size, depth = self._sizes.get(number, (1, 1))
            self._size += size
            self._depth = max(self._depth, depth)
            return known
        outer = self.position, self._start, self._end, self._size, self._depth
        start, end = self.bounds[number : number + 2]
        dialect = self.dialects[bisect_right(self.group_starts, number) - 1]
        is_encoded = bool(self.is_encoded[number])
        self._nesting += 1
        if self._nesting > MAX_DEPTH:
            self.fail(f"attributes are nested more than {MAX_DEPTH} deep", start)
        self.position, self._start, self._end = start, start, end
        self._size = self._depth = 0
        self.values[number] = _BUSY
        try:
            found = self._decode(dialect, is_encoded, number >= self.attributes)
            if self.position != end:
                self.fail(f"the entry has {end - self.position} more bytes", self.position)
        except BaseException:
            self.values[number] = None
            raise
        self.values[number] = found
        self._nesting -= 1
        size, depth = self._size + 1, self._depth + 1
        if size > 1:
            if size > MAX_SIZE:
                self.fail(f"an attribute of more than {MAX_SIZE} parts", start)
            if depth > MAX_DEPTH:
                self.fail(f"attributes are nested more than {MAX_DEPTH} deep", start)
            self._sizes[number] = size, depth
        self.position, self._start, self._end, self._size, self._depth = outer
        self._size += size
        self._depth = max(self._depth, depth)
        return found

    def _decode(self, dialect: str, is_encoded: bool, is_type: bool) -> Attribute:
        try:
            if not is_encoded:
                return self._parse(is_type)
            decoders = self._decoders.get((dialect, is_type), ())
            kind = "type" if is_type else "attribute"
            if not decoders:
                self.fail(f"the encoding of {kind}s of dialect '{dialect}' is not known")
            code = self.varint()
            if code >= len(decoders):
                self.fail(f"dialect '{dialect}' has no {kind} of code {code}")
            return decoders[code](self)
        except IndexError:
            self.fail("the entry is cut")
        except RecursionError:
            self.fail("attributes are nested too deeply")
        except (VerifyException, ValueError, struct.error, OverflowError) as error:
            self.fail(f"not a valid attribute: {str(error).splitlines()[0]}")

    def _parse(self, is_type: bool) -> Attribute:
        """Parse an entry that is text, which a zero ends."""
        end = self.data.find(0, self.position, self._end)
        if end < 0:
            self.fail("the text of an attribute has no end")
        content = self.data[self.position : end]
        self.position = end + 1
        try:
            text = content.decode()
        except UnicodeDecodeError:
            self.fail("the text of an attribute is not UTF-8")
        try:
            parser = _parser_class()(self.ctx, text, self.name)
            found = parser.parse_type() if is_type else parser.parse_attribute()
            if parser.pos < len(text):
                parser.raise_error("expected the end of the text")
        except RecursionError:
            raise
        except Exception as error:  # parsers of dialects raise all kinds
            reason = error.msg if isinstance(error, ParseError) else str(error) or repr(error)
            self.fail(f"cannot read '{text[:80]}': {reason.strip().splitlines()[0]}")
        return found

    # Fields

    def byte(self) -> int:
        """Return the next byte."""
        if self.position >= self._end:
            raise IndexError
        self.position += 1
        return self.data[self.position - 1]

    def varint(self) -> int:
        """Return the next integer."""
        found, self.position = parse_varint(self.data, self.position)
        if self.position > self._end:
            raise IndexError
        return found

    def signed(self) -> int:
        """Return the next signed integer."""
        return unzigzag(self.varint())

    def count(self) -> int:
        """Return the length of a list, each element of which takes a byte or more."""
        if (found := self.varint()) > self._end - self.position:
            self.fail(f"a list of {found} elements in {self._end - self.position} bytes")
        return found

    def blob(self) -> bytes:
        """Return the next bytes, after their number."""
        size = self.count()
        start, self.position = self.position, self.position + size
        return self.data[start : self.position]

    def string(self) -> StringAttr | BytesAttr:
        """Return the next string."""
        return self.string_at(self.varint(), self.position)

    def string_at(self, index: int, position: int) -> StringAttr | BytesAttr:
        """Return a string by its number; bytes that are not UTF-8 as those."""
        if (known := self.texts.get(index)) is not None:
            return known
        if index >= len(self.strings):
            self.fail(f"there is no string {index}, of {len(self.strings)}", position)
        content = self.strings[index]
        try:
            found = StringAttr(content.decode())
        except UnicodeDecodeError:
            found = BytesAttr(content)
        self.texts[index] = found
        return found

    def attribute(self) -> Attribute:
        """Return the next attribute."""
        index = self.varint()
        if index >= self.attributes:
            self.fail(f"there is no attribute {index}, of {self.attributes}")
        return self.entry(index)

    def type(self) -> Attribute:
        """Return the next type."""
        index = self.varint() + self.attributes
        if index >= len(self.values):
            self.fail(f"there is no type {index - self.attributes}")
        return self.entry(index)

    def text(self) -> StringAttr:
        """Return the next attribute, a string."""
        found = self.attribute()
        if not isinstance(found, StringAttr):
            self.fail(f"{found.name} where a string is expected")
        return found

    def place(self) -> FileLineColLoc:
        """Return the location in a file that the next fields have: its name, line and column."""
        return make_attribute(
            FileLineColLoc,
            filename=self.text(),
            line=self.numbers[self.varint()],
            column=self.numbers[self.varint()],
        )

    def place_at(self, number: int) -> Attribute:
        """Decode an entry that is likely a location in a file; with the first one all others."""
        found = self.entry(number)
        if isinstance(found, FileLineColLoc) and not self._has_places:
            self._has_places = True
            stops = (*self.group_starts[1:], len(self.values))
            for start, stop, dialect in zip(self.group_starts, stops, self.dialects, strict=True):
                if dialect == "builtin":
                    self._add_places(start, min(stop, self.attributes))
        return found

    def _add_places(self, start: int, stop: int) -> None:
        """Decode the entries of a group that are locations in files whose names are decoded; leave
        those that are not valid."""
        data, values, bounds = self.data, self.values, self.bounds
        places: list[int] = []
        names: list[Attribute] = []
        lines: list[int] = []
        columns: list[int] = []
        for index in range(start, stop):
            if data[position := bounds[index]] != _PLACE or not self.is_encoded[index]:
                continue
            try:
                name, position = parse_varint(data, position + 1)
                # Most integers take one byte or two.
                if (line := data[position]) & 1:
                    line, position = line >> 1, position + 1
                elif line & 2:
                    line, position = (line | data[position + 1] << 8) >> 2, position + 2
                else:
                    line, position = parse_varint(data, position)
                if (column := data[position]) & 1:
                    column, position = column >> 1, position + 1
                else:
                    column, position = parse_varint(data, position)
            except IndexError:  # behind the end of the file
                continue
            if position != bounds[index + 1] or name >= self.attributes:
                continue
            filename = values[name]
            if filename.__class__ is StringAttr and values[index] is None:
                places.append(index)
                names.append(cast(Attribute, filename))
                lines.append(line)
                columns.append(column)
        numbers = self.numbers
        found = [*map(_new, repeat(FileLineColLoc, len(places)))]
        # Attributes are frozen; a call in Python for each field takes half of the time.
        for field, column in (
            ("filename", names),
            ("line", map(numbers.__getitem__, lines)),
            ("column", map(numbers.__getitem__, columns)),
        ):
            deque(map(_set, found, repeat(field), column), maxlen=0)
        for index, place in zip(places, found, strict=True):
            values[index] = place


_new, _set = object.__new__, object.__setattr__


def _parser_class() -> type[Parser]:
    """Return the class of the parsers of attributes that are text."""
    if not is_accelerated("locating"):
        return Parser
    from ..fast.reading.locating_parser import LocatingParser

    return LocatingParser
