"""Large constants in another order."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import AnyFloat, TensorType, bf16, f32
from xdsl.ir import Attribute

from passline.compiler.interpreters.arrays import Array, array_of, dense_of
from passline.compiler.kernels.contraction.contraction import dense_constant, pack_rows


@pytest.mark.parametrize("shape", [(1, 8, 5), (2, 7, 3), (3, 1, 4), (1, 4, 0), (0, 4, 4)])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_rows_of_a_block_are_next_to_each_other(shape: tuple[int, int, int], is_transposed: bool):
    width, (groups, rows, terms) = 4, shape
    matrices: Array = np.arange(groups * rows * terms, dtype=np.float32).reshape(shape)
    if is_transposed:
        matrices = np.ascontiguousarray(matrices.transpose(0, 2, 1)).transpose(0, 2, 1)
    packed = pack_rows(matrices, width)
    blocks = -(-rows // width)
    assert packed.shape == (groups, blocks, terms, width)
    padded = np.pad(matrices, ((0, 0), (0, blocks * width - rows), (0, 0)))
    expected = padded.reshape(groups, blocks, width, terms).transpose(0, 1, 3, 2)
    np.testing.assert_array_equal(packed, expected)


def test_packed_elements_are_not_copied():
    packed = pack_rows(np.ones((1, 3, 5), np.float32), 2)
    constant = dense_constant(packed, TensorType(f32, packed.shape))
    assert np.shares_memory(array_of(constant), packed)
    np.testing.assert_array_equal(array_of(constant), packed)


@pytest.mark.parametrize("element", [f32, bf16])
def test_other_elements_are_copied(element: AnyFloat):
    packed = pack_rows(np.arange(15, dtype=np.float32).reshape(1, 3, 5), 2)
    other: list[Array] = [packed[:, :1], packed.transpose(3, 1, 2, 0), packed + 1]
    for array in [*other, *([packed] if element == bf16 else [])]:
        type = TensorType[Attribute](element, array.shape)
        constant = dense_constant(array, type)
        assert constant == dense_of(array, type)
        np.testing.assert_array_equal(array_of(constant), array)
