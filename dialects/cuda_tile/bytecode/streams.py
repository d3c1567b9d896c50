"""The bytes of Tile IR bytecode: what is read and written one field after the other, and the tables
to which fields refer by index.

All is little-endian. Integers of variable length have seven bits in a byte, the lowest first; the
highest bit of a byte says that another one follows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NoReturn

from ....passmanager.bytecode.encoding import ALIGNMENT_BYTE, BytecodeError, unzigzag, zigzag

MAGIC = b"\x7fTileIR\0"
OLDEST, NEWEST = (13, 1), (13, 5)
"""The versions of the format that are read and written."""


class TileInput:
    """A part of a file that is read. Errors: BytecodeError with the place in the file."""

    def __init__(self, data: bytes, name: str, start: int = 0, end: int | None = None) -> None:
        self.data, self.name, self.start = data, name, start
        self.position, self.end = start, len(data) if end is None else end

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """Raise the error for a place, by default that of the next field."""
        raise BytecodeError(self.name, self.position if at is None else at, reason)

    @property
    def left(self) -> int:
        """The number of bytes that are not read yet."""
        return self.end - self.position

    def part(self, size: int) -> TileInput:
        """Return the next `size` bytes as an input of their own."""
        if size > self.left:
            self.fail(f"{size} bytes are needed, and {self.left} are left")
        self.position += size
        return TileInput(self.data, self.name, self.position - size, self.position)

    def bytes(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        part = self.part(size)
        return self.data[part.start : part.end]

    def fixed(self, size: int, signed: bool = False) -> int:
        """Return an integer of `size` bytes."""
        return int.from_bytes(self.bytes(size), "little", signed=signed)

    def varint(self) -> int:
        """Return an integer of variable length, of at most 64 bits."""
        at, found, shift = self.position, 0, 0
        if at < self.end and (byte := self.data[at]) < 0x80:  # most are this short
            self.position += 1
            return byte
        while (byte := self.fixed(1)) & 0x80:
            found |= (byte & 0x7F) << shift
            shift += 7
        found |= byte << shift
        if found >> 64:
            self.fail("an integer of more than 64 bits", at)
        return found

    def signed(self) -> int:
        """Return a signed integer of variable length."""
        return unzigzag(self.varint())

    def count(self, size: int = 1) -> int:
        """Return the length of a list, each element of which takes `size` bytes or more."""
        at = self.position
        if (found := self.varint()) * size > self.left:
            self.fail(f"a list of {found} elements in {self.left} bytes", at)
        return found

    def align(self, alignment: int) -> None:
        """Skip the bytes before the next multiple of `alignment`, counted from the start."""
        padding = -(self.position - self.start) % alignment
        if self.bytes(padding).strip(bytes((ALIGNMENT_BYTE,))):
            self.fail(f"expected the byte {ALIGNMENT_BYTE:#x} of padding", self.position - padding)


class TileOutput:
    """The bytes of a part of a file that is written."""

    def __init__(self) -> None:
        self.data = bytearray()

    def fixed(self, value: int, size: int, signed: bool = False) -> None:
        """Append an integer of `size` bytes."""
        self.data += value.to_bytes(size, "little", signed=signed)

    def varint(self, value: int) -> None:
        """Append an integer of at most 64 bits, not negative."""
        while value >= 0x80:
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def signed(self, value: int) -> None:
        """Append a signed integer of at most 64 bits."""
        self.varint(zigzag(value))

    def align(self, alignment: int) -> None:
        """Append padding up to the next multiple of `alignment`."""
        self.data += bytes((ALIGNMENT_BYTE,)) * (-len(self.data) % alignment)


class InputTable:
    """The entries of a table, whose places are known; each is read when it is asked for. A file
    may lack the table."""

    def __init__(self, source: TileInput | None, what: str, width: int) -> None:
        self.what = what
        self.entries: list[TileInput] = []
        if source is None or not (count := source.count(width)):
            return
        source.align(width)
        at = source.position
        starts = [source.fixed(width) for _ in range(count)]
        for start, end in zip(starts, [*starts[1:], source.left]):
            if not start <= end <= source.left:
                source.fail(f"{what} {len(self.entries)} is not within the section", at)
            place = (source.position + start, source.position + end)
            self.entries.append(TileInput(source.data, source.name, *place))

    def entry(self, index: int, source: TileInput) -> TileInput:
        """Return an entry to which a field that `source` has read refers."""
        if not 0 <= index < len(self.entries):
            source.fail(f"there is no {self.what} {index}, of {len(self.entries)}")
        entry = self.entries[index]
        return TileInput(entry.data, entry.name, entry.start, entry.end)


class OutputTable:
    """A table that is filled while what refers to it is written."""

    def __init__(self, width: int) -> None:
        self.width = width
        """The number of bytes of the place of an entry."""
        self.places: dict[Hashable, int] = {}
        self.entries: list[bytes] = []

    def index(self, key: Hashable, encode: Callable[[], bytes | bytearray]) -> int:
        """Return the index of the entry for `key`; a new one is added behind those that it refers
        to itself."""
        if key not in self.places:
            content = bytes(encode())
            self.places[key] = len(self.entries)
            self.entries.append(content)
        return self.places[key]

    def write(self, out: TileOutput) -> None:
        """Append the number, the places and the contents of all entries."""
        out.varint(len(self.entries))
        out.align(self.width)
        start = 0
        for entry in self.entries:
            out.fixed(start, self.width)
            start += len(entry)
        out.data += b"".join(self.entries)
