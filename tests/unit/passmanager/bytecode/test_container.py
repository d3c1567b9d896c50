from __future__ import annotations

import pytest
from support.bytecode import TEXT, minimal, numbers, shown, written
from support.tables import table_test

from passline.passmanager.bytecode.container import Container
from passline.passmanager.bytecode.encoding import BytecodeError, varint
from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.registry import make_ir_context


def refused(content: bytes) -> str:
    """Return the message for a file that is not valid, without its name."""
    with pytest.raises(BytecodeError) as error:
        read_bytecode(make_ir_context(), content, "x.mlirbc")
    return str(error.value).removeprefix("'x.mlirbc' is not valid bytecode: ")


def test_the_smallest_module_is_read() -> None:
    assert shown(minimal()).startswith('"builtin.module"() ({')


def test_producer_and_version_are_known() -> None:
    file = Container(make_ir_context(), written("module {}", 4), "x.mlirbc", 1)
    assert (file.producer, file.version) == ("Passline", 4)


def test_a_newer_version_is_refused_by_name() -> None:
    content = minimal().replace(varint(6) + b"test", varint(7) + b"test", 1)
    assert refused(content) == "at byte 4: version 7 of the format; 6 is the newest known"


def test_each_cut_file_is_refused() -> None:
    content = written(TEXT)
    for end in range(4, len(content), 7):
        with pytest.raises(BytecodeError):
            read_bytecode(make_ir_context(True), content[:end], "x.mlirbc")


HUGE = varint((1 << 64) - 1)


@table_test(
    ("section", "content", "message"),
    [
        ("STRING", None, "there is no section STRING"),
        ("PROPERTIES", None, "there is no section PROPERTIES"),
        ("STRING", HUGE, "a list of 18446744073709551615 elements"),
        ("STRING", numbers(1, 200) + b"builtin\0", "strings of 200 bytes in 8"),
        ("STRING", numbers(1, 0), "strings of 0 bytes in 0"),
        ("DIALECT", numbers(1, 9 << 1, 0), "there is no string 9, of 2"),
        ("DIALECT", HUGE, "a list of 18446744073709551615 elements"),
        ("DIALECT", numbers(1, 0, 1, 3, 1, 3), "there is no dialect 3, of 1"),
        ("OFFSETS", HUGE, "a list of 18446744073709551615 elements"),
        ("OFFSETS", numbers(1, 0, 0, 1, 50 << 1 | 1), "the entry ends behind the section"),
        ("OFFSETS", numbers(1, 0, 0, 2, 3, 3), "a group of 2 entries too many"),
        ("OFFSETS", numbers(1, 0, 0, 1, 3, 3), "the section has 1 more bytes"),
        ("ATTRIBUTES", numbers(99), "dialect 'builtin' has no attribute of code 99"),
        ("PROPERTIES", numbers(1, 9), "a list of 9 elements in 0 bytes"),
        ("RESOURCE", b"", "a section of resources without the other"),
        ("IR", numbers(3), "a top level with arguments"),
        ("IR", numbers(2, 7) + b"\0" + numbers(0), "there is no operation name 7, of 1"),
        ("IR", numbers(2, 0) + b"\0" + numbers(5), "there is no attribute 5, of 1"),
        ("IR", numbers(2, 0) + b"\2" + numbers(0, 1, 0), "there is no type 0, of 0"),
        ("IR", numbers(2, 0) + b"\4" + numbers(0, 1, 0), "there is no value 0, of 0"),
        ("IR", numbers(2, 0) + b"\x10" + numbers(0, 1 << 50), "regions are more than the file"),
        ("IR", numbers(2, 0) + b"\x10" + numbers(0, 2, 1 << 50, 0), "blocks and values are more"),
        ("IR", numbers(2, 0) + b"\x10" + numbers(0, 2, 1, 1 << 50), "blocks and values are more"),
        ("IR", numbers(2, 0) + b"\x10" + numbers(0, 3) + b"\0\1", "expected a section of operat"),
    ],
)
def test_what_is_not_valid_is_refused(section: str, content: bytes | None, message: str) -> None:
    assert message in refused(minimal(**{section: content}))


def test_a_section_that_is_there_twice_is_refused() -> None:
    content = minimal()
    assert "a second section STRING" in refused(content + content[10:])


def test_an_unknown_section_is_refused() -> None:
    assert "a section of the unknown kind 99" in refused(minimal() + b"\x63\1")


def test_a_section_larger_than_the_file_is_refused() -> None:
    assert "a section of 18446744073709551615 bytes in 0" in refused(minimal() + b"\5" + HUGE)


def test_a_section_that_is_aligned_is_read() -> None:
    content = minimal()
    padded = content + b"\x85" + numbers(0, 4096)
    end = len(padded) + -len(padded) % 4096
    padded = padded.ljust(end, b"\xcb")
    assert "a section of resources without the other" in refused(padded)
    assert "expected the byte 0xcb of padding" in refused(padded[:-1] + b"\0")
    assert "3 is not an alignment" in refused(content + b"\x85" + numbers(0, 3))
