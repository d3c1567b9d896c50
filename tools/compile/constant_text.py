"""Large constants as text: in LLVM IR, and in assembly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .elf import ALIGNMENT
from .llvm_text import quoted

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["assembly_of", "llvm_ir_of"]

CHUNK = 1 << 20
"""The bytes that are turned into text at once."""


def llvm_ir_of(name: str, array: Array) -> Iterator[bytes]:
    """Yield the definition of a constant in LLVM IR."""
    kind = "global" if array.flags.writeable else "constant"
    yield f'{quoted(name)} = hidden {kind} [{array.nbytes} x i8] c"'.encode()
    yield from texts(array, "\\{:02X}")
    yield f'", align {ALIGNMENT}\n'.encode()


def assembly_of(constants: Mapping[str, Array]) -> Iterator[bytes]:
    """Yield the definitions of constants in the GNU assembler's language."""
    for name, array in constants.items():
        symbol = quoted(name)[1:]
        section = '.data.passline,"aw"' if array.flags.writeable else '.rodata.passline,"a"'
        yield (
            f"\t.section\t{section},@progbits\n\t.p2align\t{ALIGNMENT.bit_length() - 1}\n"
            f"\t.globl\t{symbol}\n\t.hidden\t{symbol}\n\t.type\t{symbol},@object\n{symbol}:\n"
        ).encode()
        for text in texts(array, "\\{:03o}"):
            yield b'\t.ascii\t"' + text + b'"\n'
        yield f"\t.size\t{symbol}, {array.nbytes}\n".encode()


def texts(array: Array, form: str) -> Iterator[bytes]:
    """Yield the text of the bytes of an array, a part at a time; `form` is that of one byte."""
    import numpy as np

    table = np.frombuffer("".join(map(form.format, range(256))).encode(), np.uint8)
    table = table.reshape(256, -1)
    data = np.frombuffer(array, np.uint8)
    for start in range(0, len(data), CHUNK):
        yield table[data[start : start + CHUNK]].tobytes()
