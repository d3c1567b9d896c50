from __future__ import annotations

import pytest
from support.bytecode import minimal, numbers, shown
from support.tables import table_test

from passline.passmanager.bytecode.attribute_table import MAX_DEPTH
from passline.passmanager.bytecode.encoding import BytecodeError, varint
from passline.passmanager.bytecode.reader import read_bytecode
from passline.passmanager.registry import make_ir_context


def with_entries(*entries: bytes, types: int = 0) -> bytes:
    """Return a file whose module has the last attribute, a dictionary; the last entries are
    types."""
    attributes = len(entries) - types
    sizes = [len(entry) << 1 | 1 for entry in entries]
    offsets = numbers(attributes, types, 0, attributes, *sizes[:attributes])
    offsets += numbers(0, types, *sizes[attributes:]) if types else b""
    operation = numbers(1 << 1, 0) + b"\x11" + numbers(0, attributes - 1, 1 << 1, 1, 0, 0)
    return minimal(OFFSETS=offsets, ATTRIBUTES=b"".join(entries), IR=operation)


UNKNOWN, NAME = numbers(15), numbers(2, 1)


def refused(content: bytes) -> str:
    with pytest.raises(BytecodeError) as error:
        read_bytecode(make_ir_context(), content, "x.mlirbc")
    return str(error.value)


def test_an_attribute_of_a_module_is_read() -> None:
    array = numbers(0, 2, 1, 1)
    assert 'module = ["module", "module"]' in shown(
        with_entries(UNKNOWN, NAME, array, numbers(1, 1, 1, 2))
    )


@table_test(
    ("entry", "message"),
    [
        (numbers(0, 1, 2), "an attribute that contains itself"),
        (numbers(0, 1, 3), "an attribute that contains itself"),
        (numbers(0, 1, 77), "there is no attribute 77, of 4"),
        (numbers(0, 1 << 60), "a list of 1152921504606846976 elements"),
        (numbers(2, 50), "there is no string 50, of 2"),
        (numbers(1, 1, 0, 0), "unknown_loc where a string is expected"),
        (numbers(1, 2, 1, 1, 1, 1), "a dictionary has two entries 'module'"),
        (numbers(4, 0), "where a string is expected"),
        (numbers(8, 5), "there is no type 5"),
        (numbers(7, 7), "the entry has 1 more bytes"),
        (numbers(0, 2, 1), "a list of 2 elements in 1 bytes"),
        (numbers(19), "a constant of strings, which xDSL does not have"),
        (b"\2", "the entry is cut"),
    ],
)
def test_an_entry_that_is_not_valid_is_refused(entry: bytes, message: str) -> None:
    content = with_entries(UNKNOWN, NAME, entry, numbers(1, 1, 1, 2))
    assert message in refused(content)


@table_test(
    ("attribute", "type", "message"),
    [
        (numbers(8, 0, 1), numbers(0, 1 << 40), "an integer type of 274877906944 bits"),
        (numbers(8, 0, 1), numbers(0, 32 << 2 | 3), "of no sign"),
        (numbers(8, 0, 1), numbers(5), "an integer of type f32"),
        (numbers(9, 0, 1), numbers(1), "a number of type index"),
        (numbers(8, 0, 9, 1), numbers(0, 100 << 2), "a list of 9 elements"),
        (numbers(17, 0, 3, 2) + b"ab", numbers(0, 8 << 2), "an array of 3 elements of i8 in 2"),
        (numbers(18, 0, 1) + b"a", numbers(19, 1, 2 * (1 << 62) - 2, 0), "contains itself"),
    ],
)
def test_a_number_that_does_not_fit_its_type_is_refused(
    attribute: bytes, type: bytes, message: str
) -> None:
    content = with_entries(UNKNOWN, NAME, attribute, numbers(1, 1, 1, 2), type, types=1)
    assert message in refused(content)


def test_a_constant_of_too_many_elements_is_refused() -> None:
    sizes = varint((1 << 40) << 1)
    types = numbers(0, 8 << 2), numbers(13, 1) + sizes + numbers(0)
    dense = numbers(18, 1, 1) + b"a"
    content = with_entries(UNKNOWN, NAME, dense, numbers(1, 1, 1, 2), *types, types=2)
    assert "a tensor of 1099511627776 elements exceeds the limit" in refused(content)


def chain(count: int) -> list[bytes]:
    """Return arrays, each around the one before it."""
    return [numbers(0, 1, 1 + index) for index in range(count)]


def test_attributes_may_be_nested_deeply() -> None:
    count = MAX_DEPTH - 10
    content = with_entries(UNKNOWN, NAME, *chain(count), numbers(1, 1, 1, count + 1))
    read_bytecode(make_ir_context(), content, "x.mlirbc")


def test_attributes_that_are_nested_too_deeply_are_refused() -> None:
    count = 100_000
    content = with_entries(UNKNOWN, NAME, *chain(count), numbers(1, 1, 1, count + 1))
    assert "nested more than 1000 deep" in refused(content)


def test_an_attribute_that_doubles_with_each_entry_is_refused() -> None:
    arrays = [numbers(0, 2, 1 + index, 1 + index) for index in range(60)]
    content = with_entries(UNKNOWN, NAME, *arrays, numbers(1, 1, 1, 61))
    assert "an attribute of more than 1048576 parts" in refused(content)


def test_text_that_is_no_attribute_is_refused_with_its_error() -> None:
    text = b"#foo\0"
    offsets = numbers(3, 0, 0, 2, 3, 5, 0, 1, len(text) << 1)
    operation = numbers(1 << 1, 0) + b"\x11" + numbers(0, 2, 1 << 1, 1, 0, 0)
    content = minimal(OFFSETS=offsets, ATTRIBUTES=UNKNOWN + NAME + text, IR=operation)
    assert "cannot read '#foo': " in refused(content)
    assert "the text of an attribute has no end" in refused(content.replace(b"#foo\0", b"#foox"))
