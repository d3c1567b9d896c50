"""The parts that MLIR's bytecode is made of: integers of variable length, sections, versions.

All is little-endian. Source: MLIR's `BytecodeFormat.md` and `Encoding.h`, of version 22.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from ..errors import PasslineError
from ..ir.text.parser import BYTECODE
from ..output.visible import visible

__all__ = [
    "ALIGNMENT_BYTE",
    "BYTECODE",
    "HAS_ATTRIBUTES",
    "HAS_OPERANDS",
    "HAS_PROPERTIES",
    "HAS_REGIONS",
    "HAS_RESULTS",
    "HAS_SUCCESSORS",
    "HAS_USE_ORDERS",
    "PRODUCER",
    "VERSION",
    "BytecodeError",
    "Section",
    "Since",
    "add_section",
    "add_varint",
    "parse_varint",
    "unzigzag",
    "varint",
    "zigzag",
]

VERSION = 6
"""The newest version of the format, that of MLIR 22; all older ones are read and written, too."""
PRODUCER = "Passline"
ALIGNMENT_BYTE = 0xCB


class BytecodeError(PasslineError):
    """The error for bytecode that is cut, of another version, or not valid, with the place."""

    def __init__(self, name: str, position: int, reason: str) -> None:
        said = visible(reason.partition("\n")[0])
        super().__init__(f"'{name}' is not valid bytecode: at byte {position}: {said}")
        self.position = position


class Since(IntEnum):
    """The first versions that have a part of the format."""

    DIALECT_VERSIONS = 1
    REGION_SECTIONS = 2
    USE_ORDERS = 3
    ELIDED_LOCATIONS = 4
    """Block arguments without a location, and the number of operation names."""
    PROPERTIES = 5
    SEGMENTS_LAST = 6
    """Sizes of segments as integers at the end of the properties, not as an attribute."""


class Section(IntEnum):
    """The kinds of sections."""

    STRING = 0
    DIALECT = 1
    ATTRIBUTES = 2
    OFFSETS = 3
    """The sizes of the entries in the section of attributes and types."""
    IR = 4
    RESOURCE = 5
    RESOURCE_OFFSETS = 6
    DIALECT_VERSION = 7
    PROPERTIES = 8


HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS = 1, 2, 4, 8
HAS_REGIONS, HAS_USE_ORDERS, HAS_PROPERTIES = 16, 32, 64
"""The bits that say which parts an operation has."""


# Integers of one to nine bytes: the zeros at the low end of the first one count those that follow.


def parse_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the integer at a position, and the position behind it; IndexError if it is cut."""
    first = data[position]
    if first & 1:
        return first >> 1, position + 1
    if first:
        count = (first & -first).bit_length()  # of all bytes
        end = position + count
        found = int.from_bytes(data[position:end], "little") >> count
    else:
        end = position + 9
        found = int.from_bytes(data[position + 1 : end], "little")
    if end > len(data):
        raise IndexError
    return found, end


def varint(value: int) -> bytes:
    """Return the bytes of an integer of at most 64 bits, not negative."""
    if value < 128:
        return bytes(((value << 1) | 1,))
    count = (value.bit_length() + 6) // 7
    if count > 8:
        return b"\0" + value.to_bytes(8, "little")
    return ((value << count) | (1 << (count - 1))).to_bytes(count, "little")


def add_varint(out: bytearray, value: int) -> None:
    """Append an integer to `out`."""
    if value < 128:
        out.append((value << 1) | 1)
    else:
        out += varint(value)


def zigzag(value: int) -> int:
    """Return a signed integer of 64 bits as one that is not negative, with the sign last."""
    return (value << 1) ^ (value >> 63)


def unzigzag(value: int) -> int:
    """Return the signed integer that `zigzag` encodes."""
    return (value >> 1) ^ -(value & 1)


def add_section(
    out: bytearray, kind: Section, parts: Iterable[bytes | bytearray], alignment: int = 1
) -> None:
    """Append a section to a file; with an alignment its data starts at a multiple of that."""
    data = b"".join(parts)
    out.append(kind | (0x80 if alignment > 1 else 0))
    add_varint(out, len(data))
    if alignment > 1:
        add_varint(out, alignment)
        out += bytes((ALIGNMENT_BYTE,)) * (-len(out) % alignment)
    out += data
