"""Object files with data that LLVM did not get."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from support.models.from_text import Array
from support.native.needs_llvmlite import needs_native

from passline.compiler.compile import code as elf
from passline.compiler.compile.code import with_data
from passline.compiler.native.jit import load_llvm, machine_of
from passline.compiler.native.objects import SECTION, SYMBOL, undefined_symbols
from passline.dialects.target import NAMED
from passline.passmanager.errors import PasslineError

IR = """
@a = external hidden constant [3 x i8]
@"b c" = external hidden constant [5 x i8]
@other = external constant i8
define i8 @f() {
  %1 = load i8, ptr @a
  %2 = load i8, ptr @"b c"
  %3 = load i8, ptr @other
  %4 = add i8 %1, %2
  %5 = add i8 %3, %4
  ret i8 %5
}
"""
DATA = {
    name: np.frombuffer(data, np.uint8) for name, data in {"a": b"123", "b c": b"45678"}.items()
}


def code_for(name: str) -> bytes:
    machine = machine_of(NAMED[name])
    module = load_llvm().parse_assembly(IR)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return machine.emit_object(module)


def sections(image: bytes) -> list[tuple[int, ...]]:
    (table,) = struct.unpack_from("<Q", image, 0x28)
    (count,) = struct.unpack_from("<H", image, 0x3C)
    return [SECTION.unpack_from(image, table + i * SECTION.size) for i in range(count)]


def name_of(image: bytes, section: tuple[int, ...]) -> str:
    (named,) = struct.unpack_from("<H", image, 0x3E)
    start = sections(image)[named][4] + section[0]
    return image[start : image.index(b"\0", start)].decode()


def symbols(image: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, section, value and visibility of each symbol."""
    for kind, offset, size, link in ((s[1], s[4], s[5], s[6]) for s in sections(image)):
        if kind == 2:
            for entry in range(offset, offset + size, SYMBOL.size):
                name, _, other, section, value, _ = SYMBOL.unpack_from(image, entry)
                start = sections(image)[link][4] + name
                yield image[start : image.index(b"\0", start)].decode(), section, value, other


@needs_native
@pytest.mark.parametrize("target", ["x86-64", "aarch64"])
def test_symbols_are_defined_by_their_data(target: str) -> None:
    code = code_for(target)
    image = b"".join(with_data(code, DATA))
    assert {"a", "b c"} < {*undefined_symbols(code)}
    assert "other" in undefined_symbols(image) and not {"a", "b c"} & {*undefined_symbols(image)}
    places = {name: (section, value, other) for name, section, value, other in symbols(image)}
    for name, array in DATA.items():
        section, value, visibility = places[name]
        found = sections(image)[section]
        assert name_of(image, found) == ".rodata.passline" and visibility == 2
        start = found[4] + value
        assert start % 64 == 0 and image[start : start + array.nbytes] == array.tobytes()
    names = [name_of(image, section) for section in sections(image)]
    assert names == [name_of(code, section) for section in sections(code)] + [".rodata.passline"]


@needs_native
def last_section(target: str, data: Mapping[str, Array]) -> tuple[str, int]:
    """Return the name and the flags of the section with the data."""
    image = b"".join(with_data(code_for(target), data))
    *_, last = sections(image)
    return name_of(image, last), last[2]


@needs_native
def test_the_section_can_be_written_or_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert last_section("x86-64", DATA) == (".rodata.passline", 2)
    copies = {name: array.copy() for name, array in DATA.items()}
    assert last_section("x86-64", copies) == (".data.passline", 3)
    monkeypatch.setattr(elf, "LARGE_BYTES", 4)
    assert last_section("x86-64", DATA) == (".lrodata.passline", 0x10000002)
    assert last_section("aarch64", DATA) == (".rodata.passline", 2)


def test_code_without_constants_stays_as_it_is() -> None:
    assert with_data(b"code", {}) == [b"code"]


def test_other_formats_are_refused() -> None:
    with pytest.raises(PasslineError, match="ELF of 64 bits"):
        with_data(b"\xcf\xfa\xed\xfe", DATA)
