"""Object files in ELF: the addition of large constants, whose bytes LLVM never gets."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from typing_extensions import Buffer

from ...passmanager.errors import PasslineError
from ..native.symbols import COUNTS, ELF64, SECTION, SYMBOL, TABLE, sections_of, symbols_in

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

__all__ = ["ALIGNMENT", "MACHINES", "with_data"]

ALIGNMENT = 64
"""The alignment of constants, in bytes."""
MACHINES = {"x86_64": 62, "aarch64": 183}
"""The number of each architecture in the header of a file."""
LARGE_BYTES = 1 << 30
"""More bytes than this go into a section that code may be more than 2 GB away from."""

PROGBITS = 1
WRITE, ALLOC, X86_64_LARGE = 1, 2, 0x10000000
GLOBAL_OBJECT, HIDDEN = 0x11, 2
MACHINE = 0x12
"""The offset of the architecture in the header of a file."""


def with_data(code: bytes, constants: Mapping[str, Array]) -> list[Buffer]:
    """Return an object file, in parts, that defines the symbols in `constants`, which are undefined
    in `code`: one section with the bytes of all arrays is added to it.

    The symbols are visible to other object files of a library, and not outside of it. PasslineError
    if `code` is no little-endian ELF file of 64 bits.
    """
    if not constants:
        return [code]
    if not code.startswith(ELF64):
        raise PasslineError("constants can only be added to object files in ELF of 64 bits")
    image = bytearray(code)
    _, named = struct.unpack_from("<HH", image, COUNTS)
    sections, data = sections_of(image), Tail(len(image))
    starts = {n: data.add(a.data.cast("B"), ALIGNMENT) for n, a in constants.items()}
    first = min(starts.values())
    places = {name: (starts[name] - first, array.nbytes) for name, array in constants.items()}
    define(image, sections, places)

    size = max(start + length for start, length in places.values())
    name, flags = section_kind(image, constants, size)
    strings = bytes(image[sections[named][4] : sections[named][4] + sections[named][5]])
    sections[named][4:6] = data.add(strings + name + b"\0", 1), len(strings) + len(name) + 1
    sections.append([len(strings), PROGBITS, flags, 0, first, size, 0, 0, ALIGNMENT, 0])
    table = data.add(b"".join(SECTION.pack(*section) for section in sections), 8)
    struct.pack_into("<Q", image, TABLE, table)
    struct.pack_into("<H", image, COUNTS, len(sections))
    return [bytes(image), *data.parts]


class Tail:
    """The data to append to a file of `size` bytes."""

    def __init__(self, size: int) -> None:
        self.parts: list[Buffer] = []
        self._end = size

    def add(self, data: memoryview | bytes, alignment: int) -> int:
        """Add data, and return its offset in the file, a multiple of `alignment`."""
        start = self._end + -self._end % alignment
        self.parts += [bytes(start - self._end), data]
        self._end = start + len(data)
        return start


def define(
    image: bytearray, sections: Sequence[Sequence[int]], places: Mapping[str, tuple[int, int]]
) -> None:
    """Let the undefined symbols that `places` names be in the section after the last one."""
    for entry, text, is_defined in [*symbols_in(image, sections)]:
        if text in places and not is_defined:
            name, *_ = SYMBOL.unpack_from(image, entry)
            new = name, GLOBAL_OBJECT, HIDDEN, len(sections), *places[text]
            SYMBOL.pack_into(image, entry, *new)


def section_kind(image: bytearray, constants: Mapping[str, Array], size: int) -> tuple[bytes, int]:
    """Return the name and the flags of the section of the constants."""
    if any(array.flags.writeable for array in constants.values()):
        return b".data.passline", ALLOC | WRITE
    (machine,) = struct.unpack_from("<H", image, MACHINE)
    if machine == MACHINES["x86_64"] and size > LARGE_BYTES:
        return b".lrodata.passline", ALLOC | X86_64_LARGE
    return b".rodata.passline", ALLOC
