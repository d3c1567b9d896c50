"""Operations that move elements of tiles."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, computed_tile

from passline.passmanager.errors import PasslineError

A = np.arange(8, dtype=np.int32).reshape(2, 4)


@table_test(
    "text, result, expected",
    [
        ("%r = iota : tile<4xi32>", "4xi32", np.arange(4)),
        ("%r = constant <i32: 7> : tile<2x2xi32>", "2x2xi32", np.full((2, 2), 7)),
        ("%r = constant <i32: [[1, 2], [3, 4]]> : tile<2x2xi32>", "2x2xi32", [[1, 2], [3, 4]]),
        ("%r = reshape %a : tile<2x4xi32> -> tile<8xi32>", "8xi32", A.ravel()),
        ("%r = permute %a [1, 0] : tile<2x4xi32> -> tile<4x2xi32>", "4x2xi32", A.T),
        (
            "%r = cat %a, %a dim = 1 : tile<2x4xi32>, tile<2x4xi32> -> tile<2x8xi32>",
            "2x8xi32",
            np.concatenate((A, A), 1),
        ),
        (
            "%s = reshape %a : tile<2x4xi32> -> tile<2x1x4xi32>\n"
            "%r = broadcast %s : tile<2x1x4xi32> -> tile<2x2x4xi32>",
            "2x2x4xi32",
            np.repeat(A[:, None], 2, 1),
        ),
        (
            "%i = constant <i32: 1> : tile<i32>\n"
            "%r = extract %a[%i, %i] : tile<2x4xi32> -> tile<1x2xi32>",
            "1x2xi32",
            A[1:, 2:],
        ),
        (
            "%i = constant <i32: 1> : tile<i32>\n"
            "%part = extract %a[%i, %i] : tile<2x4xi32> -> tile<1x2xi32>\n"
            "%z = constant <i32: 0> : tile<i32>\n"
            "%r = insert %part, %a[%z, %i] : tile<1x2xi32>, tile<2x4xi32>",
            "2x4xi32",
            np.concatenate((np.concatenate((A[:1, :2], A[1:, 2:]), 1), A[1:])),
        ),
    ],
)
def test_elements_move(text: str, result: str, expected: Array):
    found = computed_tile(text, result, a=(A, "2x4xi32"))
    np.testing.assert_array_equal(found, expected)


def test_a_part_that_does_not_exist():
    text = "%i = constant <i32: 2> : tile<i32>\n"
    text += "%r = extract %a[%i, %i] : tile<2x4xi32> -> tile<1x2xi32>"
    with pytest.raises(PasslineError, match=r"part \[2, 2\] of \[2, 2\] does not exist"):
        computed_tile(text, "1x2xi32", a=(A, "2x4xi32"))


@table_test("type, dtype", [("f16", np.float16), ("i32", np.int32), ("f64", np.float64)])
def test_bytes_of_tiles(type: str, dtype: type[np.generic]):
    array, size = np.array([1, -2, 3, 100]).astype(dtype), 4 * np.dtype(dtype).itemsize
    to_bytes = f"pack %a : tile<4x{type}> -> tile<{size}xi8>"
    data = computed_tile(f"%r = {to_bytes}", f"{size}xi8", a=(array, f"4x{type}"))
    assert data.tobytes() == array.tobytes()
    back = f"%r = unpack %a : tile<{size}xi8> -> tile<4x{type}>"
    found = computed_tile(back, f"4x{type}", a=(data, f"{size}xi8"))
    np.testing.assert_array_equal(found, array)


def test_nibbles_of_bytes():
    text = "%u = unpack %a : tile<2xi8> -> tile<4xf4E2M1FN>\n"
    text += "%r = ftof %u : tile<4xf4E2M1FN> -> tile<4xf32>"
    data = (np.array([0x21, 0x70], np.int8), "2xi8")
    assert computed_tile(text, "4xf32", a=data).tolist() == [0.5, 1, 0, 6]
    text = "%u = unpack %a : tile<2xi8> -> tile<4xf4E2M1FN>\n"
    text += "%r = pack %u : tile<4xf4E2M1FN> -> tile<2xi8>"
    assert computed_tile(text, "2xi8", a=data).tolist() == [0x21, 0x70]


def test_bits_of_bytes():
    data = (np.array([0x21, -0x80], np.int8), "2xi8")
    text = "%u = unpack %a : tile<2xi8> -> tile<16xi1>\n"
    bits = computed_tile(
        text + "%r = exti %u unsigned : tile<16xi1> -> tile<16xi8>", "16xi8", a=data
    )
    assert np.flatnonzero(bits).tolist() == [0, 5, 15]
    packed = computed_tile(text + "%r = pack %u : tile<16xi1> -> tile<2xi8>", "2xi8", a=data)
    assert packed.tolist() == data[0].tolist()
