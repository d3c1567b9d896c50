"""The attributes, types, strings and names that a file of bytecode has, as they are collected.

An entry is encoded when it is first met, and is the same for equal encodings. Its number is known
only at the end, when the entries that are used most have got the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, TypeAttribute

from ..ir.text.printer import ExactPrinter
from .encoding import Section, Since, add_section, add_varint, varint

__all__ = ["Entries", "Fields", "NotEncodable", "TableEntry"]

Fields: TypeAlias = "tuple[int | bytes | TableEntry, ...]"
"""An encoding: integers, each of variable length, bytes as they are, and other entries."""


_TYPE = 6
"""The code of an attribute that is a type."""


class NotEncodable(Exception):
    """Raised for an attribute that the builtin dialect cannot encode, which is written as text."""


class Numbered:
    """Something that belongs to a dialect, and is referred to by a number."""

    __slots__ = ("dialect", "number", "uses")

    def __init__(self, dialect: int) -> None:
        self.dialect = dialect
        self.uses = 0
        self.number = 0


class TableEntry(Numbered):
    """An attribute or a type."""

    __slots__ = ("fields", "is_encoded")

    def __init__(self, dialect: int, is_encoded: bool, fields: Fields) -> None:
        super().__init__(dialect)
        self.is_encoded = is_encoded
        self.fields = fields


class OpName(Numbered):
    """The name of an operation, without its dialect."""

    __slots__ = ("is_registered", "text")

    def __init__(self, dialect: int, text: str, is_registered: bool) -> None:
        super().__init__(dialect)
        self.text, self.is_registered = text, is_registered


class Entries:
    """The entries of a file."""

    def __init__(self, encoder: Callable[[Entries, Attribute, bool], Fields]) -> None:
        """`encoder` returns the encoding of an attribute or a type of the builtin dialect."""
        self._encoder = encoder
        self.strings: dict[bytes, int] = {}
        self.dialects: dict[str, int] = {}
        self.resources: dict[str, int] = {}
        """The handles of resources of the builtin dialect, with their numbers."""
        self._attributes: dict[int, TableEntry] = {}
        self._types: dict[int, TableEntry] = {}
        self._by_fields: tuple[dict[object, TableEntry], dict[object, TableEntry]] = {}, {}
        self._names: dict[str, OpName] = {}
        self._kept: list[Attribute] = []  # so that no other object gets the id of one of them

    # Collecting

    def string(self, text: str | bytes) -> int:
        """Return the number of a string."""
        content = text.encode() if isinstance(text, str) else text
        return self.strings.setdefault(content, len(self.strings))

    def dialect(self, name: str) -> int:
        """Return the number of a dialect."""
        return self.dialects.setdefault(name, len(self.dialects))

    def resource(self, handle: str) -> int:
        """Return the number of a resource."""
        self.dialect("builtin")
        return self.resources.setdefault(handle, len(self.resources))

    def op_name(self, name: str, is_registered: bool) -> OpName:
        """Return the entry of the name of an operation."""
        if (known := self._names.get(name)) is None:
            dialect, _, own = name.partition(".")
            known = self._names[name] = OpName(self.dialect(dialect), own, is_registered)
        known.uses += 1
        return known

    def attribute(self, attribute: Attribute) -> TableEntry:
        """Return the entry of an attribute; a type is one, too."""
        if (known := self._attributes.get(id(attribute))) is None:
            if isinstance(attribute, TypeAttribute):
                known = self._entry(0, "builtin", True, (_TYPE, self.type(attribute)))
            else:
                known = self._encode(attribute, False)
            self._attributes[id(attribute)] = known
            self._kept.append(attribute)
        known.uses += 1
        return known

    def type(self, type: Attribute) -> TableEntry:
        """Return the entry of a type."""
        if (known := self._types.get(id(type))) is None:
            known = self._types[id(type)] = self._encode(type, True)
            self._kept.append(type)
        known.uses += 1
        return known

    def fields(self, fields: Fields) -> TableEntry:
        """Return the entry of an attribute of the builtin dialect with this encoding."""
        entry = self._entry(0, "builtin", True, fields)
        entry.uses += 1
        return entry

    def _encode(self, attribute: Attribute, is_type: bool) -> TableEntry:
        try:
            fields = self._encoder(self, attribute, is_type)
            return self._entry(int(is_type), "builtin", True, fields)
        except NotEncodable:
            pass
        text = _text_of(attribute)
        name = attribute.name
        if isinstance(attribute, UnregisteredAttr):
            name = attribute.attr_name.data
        dialect = name.partition(".")[0] if text[:1] in "#!" else "builtin"
        return self._entry(int(is_type), dialect, False, (text.encode() + b"\0",))

    def _entry(self, table: int, dialect: str, is_encoded: bool, fields: Fields) -> TableEntry:
        known = self._by_fields[table]
        key = (is_encoded, fields)
        if (entry := known.get(key)) is None:
            entry = known[key] = TableEntry(self.dialect(dialect), is_encoded, fields)
        return entry

    # Numbering and writing

    def number(self) -> None:
        """Give all entries their numbers."""
        self._sorted = [_numbered(table.values()) for table in self._by_fields]
        self._sorted_names = _numbered(self._names.values())

    def add_dialects(self, out: bytearray, version: int) -> None:
        """Append the section of dialects and the names of operations."""
        part = bytearray(varint(len(self.dialects)))
        for name in self.dialects:
            index = self.string(name)
            add_varint(part, index << 1 if version >= Since.DIALECT_VERSIONS else index)
        if version >= Since.ELIDED_LOCATIONS:
            add_varint(part, len(self._names))
        for dialect, group in _groups(self._sorted_names):
            part += varint(dialect) + varint(len(group))
            for name in group:
                index = self.string(name.text)
                if version >= Since.PROPERTIES:
                    index = index << 1 | name.is_registered
                add_varint(part, index)
        add_section(out, Section.DIALECT, (part,))

    def add_entries(self, out: bytearray) -> None:
        """Append the sections of attributes and types."""
        offsets, content = bytearray(), bytearray()
        for table in self._sorted:
            add_varint(offsets, len(table))
        for table in self._sorted:
            for dialect, group in _groups(table):
                offsets += varint(dialect) + varint(len(group))
                for entry in group:
                    start = len(content)
                    add_fields(content, entry.fields)
                    add_varint(offsets, (len(content) - start) << 1 | entry.is_encoded)
        add_section(out, Section.OFFSETS, (offsets,))
        add_section(out, Section.ATTRIBUTES, (content,))

    def add_strings(self, out: bytearray) -> None:
        """Append the section of strings; no string may be added after it."""
        part = bytearray(varint(len(self.strings)))
        for text in reversed(self.strings):
            add_varint(part, len(text) + 1)
        for text in self.strings:
            part += text + b"\0"
        add_section(out, Section.STRING, (part,))


def add_fields(out: bytearray, fields: Fields) -> None:
    """Append an encoding."""
    for field in fields:
        if isinstance(field, bytes):
            out += field
        else:
            add_varint(out, field if isinstance(field, int) else field.number)


def _text_of(attribute: Attribute) -> str:
    ExactPrinter(stream := StringIO()).print_attribute(attribute)
    return stream.getvalue()


NamedT = TypeVar("NamedT", bound=Numbered)


def _numbered(entries: Iterable[NamedT]) -> list[NamedT]:
    """Return entries in the order of their numbers: those that are used most first, those of equal
    length of the number by dialect."""
    by_uses = sorted(entries, key=lambda entry: -entry.uses)
    ordered: list[NamedT] = []
    start, bits = 0, 7
    while start < len(by_uses):
        ordered += sorted(by_uses[start : 1 << bits], key=lambda entry: entry.dialect)
        start, bits = 1 << bits, bits + 7
    for number, entry in enumerate(ordered):
        entry.number = number
    return ordered


def _groups(entries: Sequence[NamedT]) -> Iterator[tuple[int, list[NamedT]]]:
    """Yield neighbours of the same dialect."""
    group: list[NamedT] = []
    for entry in entries:
        if group and group[0].dialect != entry.dialect:
            yield group[0].dialect, group
            group = []
        group.append(entry)
    if group:
        yield group[0].dialect, group
