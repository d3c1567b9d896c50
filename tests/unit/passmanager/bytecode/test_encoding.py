from __future__ import annotations

import pytest
from support.tables import table_test

from passline.passmanager.bytecode.encoding import (
    BytecodeError,
    parse_varint,
    unzigzag,
    varint,
    zigzag,
)


@table_test(
    ("value", "content"),
    [
        (0, "01"),
        (127, "ff"),
        (128, "0202"),
        (16383, "feff"),
        (16384, "040002"),
        ((1 << 56) - 1, "80ffffffffffffff"),
        (1 << 56, "000000000000000001"),
        ((1 << 64) - 1, "00ffffffffffffffff"),
    ],
)
def test_an_integer_takes_as_many_bytes_as_it_needs(value: int, content: str) -> None:
    assert varint(value).hex() == content
    assert parse_varint(bytes.fromhex(f"{content}77"), 0) == (value, len(content) // 2)


@table_test("content", ["", "02", "0400", "00ffffff", "80ff"])
def test_a_cut_integer_is_an_error(content: str) -> None:
    with pytest.raises(IndexError):
        parse_varint(bytes.fromhex(content), 0)


@table_test(
    ("value", "encoded"),
    [(0, 0), (-1, 1), (1, 2), (-2, 3), (1 << 62, 1 << 63), (-(1 << 62), (1 << 63) - 1)],
)
def test_signs_are_the_last_bit(value: int, encoded: int) -> None:
    assert zigzag(value) == encoded
    assert unzigzag(encoded) == value


def test_an_error_is_one_line_without_control_characters() -> None:
    error = BytecodeError("x.mlirbc", 12, "no '\x1b[2Jname'\nand more")
    assert str(error) == "'x.mlirbc' is not valid bytecode: at byte 12: no '\\x1b[2Jname'"
