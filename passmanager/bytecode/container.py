"""The sections of a file of bytecode around its operations: strings, dialects, resources, and the
places of attributes, types and properties.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface

from .attribute_table import AttributeTable
from .builtin_decoding import ATTRIBUTES, TYPES
from .encoding import ALIGNMENT_BYTE, BYTECODE, VERSION, BytecodeError, Section, Since, parse_varint

__all__ = ["Container", "section_at"]

_BOOL, _STRING, _BLOB = 1, 2, 0
"""The kinds of resources."""
_ODD = bytes(range(1, 256, 2))
_QUARTERS = bytes(byte >> 2 for byte in range(256))
_ENCODED = bytes(byte >> 1 & 1 for byte in range(256))
"""The size of an entry in each byte that has one, and whether it is encoded."""
DECODERS = {("builtin", False): ATTRIBUTES, ("builtin", True): TYPES}


class Container:
    """A file of bytecode, whose sections are known, but no attribute and no operation is decoded.

    Errors: BytecodeError.
    """

    def __init__(self, ctx: Context, data: bytes, name: str, max_elements: int) -> None:
        self.data, self.name, self.ctx = data, name, ctx
        self.table = AttributeTable(data, name, ctx, max_elements, DECODERS)
        self.strings: list[bytes] = []
        self.dialects: list[str] = []
        self.op_names: list[tuple[str, bool]] = []
        """The names of operations, and whether each was registered where the file was written."""
        self.properties: list[tuple[int, int]] = []
        """The start and the end of the properties that operations refer to."""
        self._position = self._end = 0
        try:
            self._read()
        except IndexError:
            self.fail("the file is cut", min(self._position, len(data)))

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        """Raise the error for a place, by default that of the next field."""
        raise BytecodeError(self.name, self._position if position is None else position, reason)

    def _read(self) -> None:
        data = self.data
        assert data.startswith(BYTECODE)
        self._position, self._end = len(BYTECODE), len(data)
        self.version = self._varint()
        if self.version > VERSION:
            self.fail(f"version {self.version} of the format; {VERSION} is the newest known", 4)
        if (end := data.find(0, self._position)) < 0:
            self.fail("the name of the producer has no end")
        self.producer = data[self._position : end].decode(errors="replace")
        self._position = end + 1
        self.sections: dict[Section, tuple[int, int]] = {}
        while self._position < len(data):
            at = self._position
            section, start, end = section_at(data, at, len(data), self.name)
            if section in self.sections:
                self.fail(f"a second section {section.name}", at)
            self.sections[section], self._position = (start, end), end
        needed = [Section.STRING, Section.DIALECT, Section.ATTRIBUTES, Section.OFFSETS, Section.IR]
        needed += [Section.PROPERTIES] if self.version >= Since.PROPERTIES else []
        for section in needed:
            if section not in self.sections:
                self.fail(f"there is no section {section.name}", len(data))
        self._read_strings()
        self._read_properties()
        self._read_dialects()
        self._read_resources()
        self._read_offsets()

    # Fields

    def _enter(self, section: Section) -> None:
        self._position, self._end = self.sections[section]

    def _varint(self) -> int:
        found, end = parse_varint(self.data, self._position)
        if end > self._end:
            raise IndexError
        self._position = end
        return found

    def _count(self) -> int:
        """Return the length of a list, each element of which takes a byte or more."""
        at = self._position
        if (found := self._varint()) > self._end - self._position:
            self.fail(f"a list of {found} elements in {self._end - self._position} bytes", at)
        return found

    def _string(self, index: int) -> str:
        at = self._position
        if index >= len(self.strings):
            self.fail(f"there is no string {index}, of {len(self.strings)}", at)
        try:
            return self.strings[index].decode()
        except UnicodeDecodeError:
            self.fail(f"string {index} is a name, and not UTF-8", at)

    def _dialect(self) -> str:
        at = self._position
        if (index := self._varint()) >= len(self.dialects):
            self.fail(f"there is no dialect {index}, of {len(self.dialects)}", at)
        return self.dialects[index]

    # Sections

    def _read_strings(self) -> None:
        self._enter(Section.STRING)
        sizes = [self._varint() for _ in range(self._count())]
        if sum(sizes) != self._end - self._position or not all(sizes):
            self.fail(f"strings of {sum(sizes)} bytes in {self._end - self._position}")
        at = self._position
        for size in reversed(sizes):
            self.strings.append(self.data[at : at + size - 1])  # without the zero at its end
            at += size
        self.table.strings = self.strings

    def _read_properties(self) -> None:
        if Section.PROPERTIES not in self.sections:
            return
        self._enter(Section.PROPERTIES)
        if self._position == self._end:
            return
        for _ in range(self._count()):
            size = self._count()
            self.properties.append((self._position, self._position + size))
            self._position += size
        self._check_end()

    def _read_dialects(self) -> None:
        self._enter(Section.DIALECT)
        for _ in range(self._count()):
            index = self._varint()
            if self.version >= Since.DIALECT_VERSIONS:
                index, has_version = index >> 1, index & 1
                if has_version:  # xDSL's dialects have none: it is skipped
                    at = self._position
                    section, _, end = section_at(self.data, at, self._end, self.name)
                    if section is not Section.DIALECT_VERSION:
                        self.fail("expected the version of a dialect", at)
                    self._position = end
            self.dialects.append(self._string(index))
        if self.version >= Since.ELIDED_LOCATIONS:
            self._count()
        while self._position < self._end:
            dialect = self._dialect()
            for _ in range(self._count()):
                index, is_registered = self._varint(), 1
                if self.version >= Since.PROPERTIES:
                    index, is_registered = index >> 1, index & 1
                own = self._string(index)
                # Names without a dialect were valid once.
                name = f"{dialect}.{own}" if own else dialect
                self.op_names.append((name, bool(is_registered)))

    def _read_offsets(self) -> None:
        """Read where each attribute and type is."""
        table = self.table
        position, limit = self.sections[Section.ATTRIBUTES]
        self._enter(Section.OFFSETS)
        count = table.attributes = self._count()
        count += self._count()
        # A group of attributes ends with the last one.
        for stop in (table.attributes, count):
            while len(table.is_encoded) < stop:
                dialect, at = self._dialect(), self._position
                size = self._count()
                if size > stop - len(table.is_encoded):
                    self.fail(f"a group of {size} entries too many", at)
                table.group_starts.append(len(table.is_encoded))
                table.dialects.append(dialect)
                position = self._read_group(size, position, limit)
        table.bounds.append(position)
        self._check_end()
        table.values = [None] * count

    def _read_group(self, size: int, position: int, limit: int) -> int:
        """Read the sizes of entries of which the first is at a position; return their end."""
        table = self.table
        at = self._position
        offsets = self.data[at : at + size]
        # The sizes of short entries take one byte, which is odd.
        if at + size <= self._end and not offsets.translate(None, _ODD):
            bounds = [*accumulate(offsets.translate(_QUARTERS), initial=position)]
            if bounds[-1] <= limit:
                table.bounds += bounds[:-1]
                table.is_encoded += offsets.translate(_ENCODED)
                self._position += size
                return bounds[-1]
        for _ in range(size):
            at, offset = self._position, self._varint()
            end = position + (offset >> 1)
            if end > limit:
                self.fail("the entry ends behind the section", at)
            table.bounds.append(position)
            table.is_encoded.append(offset & 1)
            position = end
        return position

    def _check_end(self) -> None:
        if self._position != self._end:
            self.fail(f"the section has {self._end - self._position} more bytes")

    # Resources

    def _read_resources(self) -> None:
        kinds = [s for s in (Section.RESOURCE, Section.RESOURCE_OFFSETS) if s in self.sections]
        if not kinds:
            return
        if len(kinds) == 1:
            self.fail("a section of resources without the other", self.sections[kinds[0]][0])
        at, limit = self.sections[Section.RESOURCE]
        self._enter(Section.RESOURCE_OFFSETS)
        for _ in range(self._count()):  # external resources, such as reproducers
            self._string(self._varint())
            at = max([at, *(end for _, _, end, _ in self._resource_group(at, limit))])
        handles: list[str] = []
        while self._position < self._end:
            dialect = self._dialect()
            interface = self._interface(dialect)
            for key, start, end, kind in self._resource_group(at, limit):
                handle = interface.declare_resource(key)
                handles.append(handle)
                if start < end:
                    if kind != _BLOB:
                        self.fail(f"resource '{key}' is not a blob", start)
                    alignment, elements = self._blob(start, end)
                    content = alignment.to_bytes(4, "little") + elements
                    interface.parse_resource(handle, f"0x{content.hex().upper()}")
                at = end
        self.table.resources = handles

    def _interface(self, dialect: str) -> OpAsmDialectInterface:
        found = self.ctx.get_optional_dialect(dialect)
        interface = None if found is None else found.get_interface(OpAsmDialectInterface)
        if interface is None:
            self.fail(f"resources of dialect '{dialect}', which has none")
        return interface

    def _resource_group(self, at: int, limit: int) -> Iterator[tuple[str, int, int, int]]:
        """Yield the key, the start, the end and the kind of each resource of a group."""
        for _ in range(self._count()):
            key, size = self._string(self._varint()), self._varint()
            if self._position >= self._end:
                raise IndexError
            kind = self.data[self._position]
            self._position += 1
            if kind not in (_BOOL, _STRING, _BLOB):
                self.fail(f"resource '{key}' is of the unknown kind {kind}", self._position - 1)
            if size > limit - at:
                self.fail(f"resource '{key}' ends behind the section")
            yield key, at, at + size, kind
            at += size

    def _blob(self, start: int, end: int) -> tuple[int, bytes]:
        """Return the alignment and the content of a blob."""
        alignment, at = parse_varint(self.data, start)
        size, at = parse_varint(self.data, at)
        if alignment & (alignment - 1) or not 0 < alignment < 1 << 32:
            self.fail(f"{alignment} is not an alignment", start)
        at += -at % alignment
        if at + size != end:
            self.fail(f"a resource of {size} bytes in {end - at}", start)
        return alignment, self.data[at:end]


def section_at(data: bytes, position: int, limit: int, name: str) -> tuple[Section, int, int]:
    """Return the section at a position: its kind, and where its data starts and ends."""
    first = data[position]
    kind, is_aligned = first & 0x7F, first >> 7
    if kind > max(Section):
        raise BytecodeError(name, position, f"a section of the unknown kind {kind}")
    size, start = parse_varint(data, position + 1)
    if is_aligned:
        alignment, start = parse_varint(data, start)
        if not alignment or alignment & (alignment - 1):
            raise BytecodeError(name, position, f"{alignment} is not an alignment")
        padding = -start % alignment
        if padding > limit - start or data[start : start + padding].strip(b"\xcb"):
            raise BytecodeError(name, start, f"expected the byte {ALIGNMENT_BYTE:#x} of padding")
        start += padding
    if size > limit - start:
        raise BytecodeError(name, position, f"a section of {size} bytes in {limit - start}")
    return Section(kind), start, start + size
