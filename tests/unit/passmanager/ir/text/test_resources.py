"""Dense constants as blobs, both ways."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import table_test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    VectorType,
    bf16,
    f32,
    f64,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute

from passline.passmanager.ir.text.printer import blob_of, dense_of, is_splat


def floats(*values: float) -> DenseIntOrFPElementsAttr:
    data = struct.pack(f"<{len(values)}f", *values)
    return DenseIntOrFPElementsAttr(TensorType(f32, [len(values)]), BytesAttr(data))


def test_blob_is_the_alignment_and_the_elements() -> None:
    name, text = blob_of(floats(1.0, 2.0))
    assert text == "0x040000000000803F00000040"
    assert name.isidentifier()


@table_test(
    ("element", "alignment"),
    [(i8, 1), (bf16, 2), (i32, 4), (f64, 8), (ComplexType(f64), 16), (IntegerType(24), 4)],
)
def test_alignment_is_the_size_of_an_element(
    element: IntegerType | ComplexType, alignment: int
) -> None:
    data = BytesAttr(bytes(range(2 * element.compile_time_size)))
    dense = DenseIntOrFPElementsAttr(TensorType(element, [2]), data)
    _, text = blob_of(dense)
    assert int.from_bytes(bytes.fromhex(text[2:])[:4], "little") == alignment
    assert dense_of(dense.type, text) == dense


def test_name_is_that_of_the_content() -> None:
    names = [blob_of(value)[0] for value in (floats(1, 2), floats(1, 2), floats(2, 1))]
    assert names[0] == names[1] != names[2]


def test_truth_is_1_in_a_blob_as_in_mlir() -> None:
    dense = DenseIntOrFPElementsAttr(TensorType(i1, [3]), BytesAttr(b"\xff\x00\xff"))
    _, text = blob_of(dense)
    assert text == "0x01000000010001"
    assert dense_of(dense.type, text) == dense


@given(st.lists(st.binary(min_size=4, max_size=4), min_size=1, max_size=5))
def test_every_bit_comes_back(elements: list[bytes]) -> None:
    type = VectorType(f32, [len(elements)])
    dense = DenseIntOrFPElementsAttr(type, BytesAttr(b"".join(elements)))
    assert dense_of(type, blob_of(dense)[1]) == dense


@table_test(
    ("type", "text", "message"),
    [
        (TensorType(f32, [2]), "0x0400000000", "has 1 bytes, and tensor<2xf32> takes 8"),
        (TensorType(f32, [1]), "0xnothing", "is not made of hexadecimal digits"),
        (
            TensorType(f32, [DYNAMIC_INDEX]),
            "0x04000000",
            r"cannot be the elements of tensor<\?xf32>",
        ),
        (i32, "0x04000000", "cannot be the elements of i32"),
    ],
)
def test_blob_that_does_not_fit(type: Attribute, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dense_of(type, text)


def test_splat_is_the_same_bits() -> None:
    assert is_splat(floats(1, 1)) and is_splat(floats(1))
    assert not is_splat(floats(0.0, -0.0)) and not is_splat(floats())
