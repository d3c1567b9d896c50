"""The semantics of softmax, padding and matrix products, with formulas as oracles."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import Array, constant, i4, run, ui8
from support.pairs import pairs
from support.tables import table_test
from xdsl.dialects.builtin import FloatAttr, TensorType, bf16, f16, f32, f64, i1, i8, i32, i64

from passline.compiler.interpreters.relax.reduction import bias_add
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from passline.dialects.relax.reduction.nn import (
    BatchFlattenOp,
    BiasAddOp,
    DropoutOp,
    LogSoftmaxOp,
    PadOp,
    SoftmaxOp,
)
from passline.dialects.relax.types import Element


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape)


# Softmax


@pytest.mark.parametrize(
    ("element", "tolerance"), [(f16, 1e-3), (bf16, 1e-2), (f32, 1e-6), (f64, 1e-14)], ids=str
)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis: int, element: Element, tolerance: float):
    x = numbers(2, 3, 4)
    exps = np.exp(x.astype(np.float64))
    expected = exps / exps.sum(axis=axis, keepdims=True)
    result = run(SoftmaxOp(constant(x, element), axis=axis))
    np.testing.assert_allclose(result, expected, rtol=2 * tolerance)
    result = run(LogSoftmaxOp(constant(x, element), axis=axis))
    np.testing.assert_allclose(result, np.log(expected), rtol=2 * tolerance, atol=tolerance)


@pytest.mark.parametrize("element", [f16, f32, f64], ids=str)
def test_softmax_of_large_numbers_does_not_overflow(element: Element):
    x = constant([10000.0, 9992.0, -10000.0], element)
    exps = np.array([1, np.exp(-8), 0])
    np.testing.assert_allclose(run(SoftmaxOp(x)), exps / exps.sum(), rtol=1e-3, atol=1e-6)
    expected = np.array([0, -8, -20000]) - np.log(exps.sum())
    np.testing.assert_allclose(run(LogSoftmaxOp(x)), expected, rtol=1e-3, atol=1e-6)


def test_softmax_of_no_elements():
    assert run(SoftmaxOp(constant(np.ones((2, 0)), f32))).shape == (2, 0)
    assert run(LogSoftmaxOp(constant(np.ones((0, 2)), f32))).shape == (0, 2)


# The small ones


def test_dropout_does_nothing():
    x = constant(numbers(2, 3), f32)
    np.testing.assert_array_equal(run(DropoutOp(x, rate=0.9)), run(x), strict=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("element", [f16, i8, i4], ids=str)
def test_bias_add(element: Element, axis: int):
    x = numbers(2, 3, 4)
    bias = numbers(x.shape[axis], seed=1)
    expected = np.moveaxis(np.moveaxis(x, axis, -1) + bias, -1, axis)
    result = run(BiasAddOp(constant(x, element), constant(bias, element), axis=axis))
    np.testing.assert_array_equal(result, expected)


def test_bias_add_of_i1_wraps_around():
    x = constant([[True, False]], i1)
    assert run(BiasAddOp(x, constant([True, True], i1))).tolist() == [[False, True]]


@pytest.mark.parametrize("shape", [(2, 3, 4), (3,), (0, 3), (2, 0)])
def test_batch_flatten(shape: tuple[int, ...]):
    x = numbers(*shape)
    result = run(BatchFlattenOp(constant(x, i32)))
    assert result.shape == (shape[0], int(np.prod(shape[1:])))
    np.testing.assert_array_equal(result.ravel(), x.ravel())


# Padding


@table_test(
    "mode, expected",
    [
        ("constant", [9, 9, 1, 2, 3, 9]),
        ("reflect", [3, 2, 1, 2, 3, 2]),
        ("edge", [1, 1, 1, 2, 3, 3]),
        ("circular", [2, 3, 1, 2, 3, 1]),
    ],
)
def test_pad(mode: str, expected: list[int]):
    for element in [f16, bf16, i8, ui8]:
        x = constant([[1, 2, 3]], element)
        result = run(PadOp(x, pad_width=(0, 0, 2, 1), pad_value=9.0, pad_mode=mode))
        np.testing.assert_array_equal(result, [expected])
        assert result.dtype == run(x).dtype


@table_test(
    "mode, widths, expected",
    [
        ("constant", (-1, 2), [2, 3, 0, 0]),
        ("reflect", (-1, 1), [2, 3, 2]),
        ("edge", (2, -2), [1, 1, 1]),
        ("circular", (-1, 1), [2, 3, 2]),
        ("reflect", (5, 0), [2, 1, 2, 3, 2, 1, 2, 3]),
        ("constant", (-2, -1), []),
    ],
)
def test_negative_and_great_widths(mode: str, widths: tuple[int, int], expected: list[int]):
    result = run(PadOp(constant([1, 2, 3], i32), pad_width=widths, pad_mode=mode))
    np.testing.assert_array_equal(result, expected)


def test_a_scalar_has_nothing_to_pad():
    assert run(PadOp(constant(2.5, f32), pad_width=())) == 2.5


def test_pad_values_are_made_of_the_element_type():
    assert run(PadOp(constant([0], i8), pad_width=(1, 0), pad_value=300.0))[0] == 44
    assert run(PadOp(constant([0], ui8), pad_width=(1, 0), pad_value=-1.0))[0] == 255
    assert run(PadOp(constant([0.0], f16), pad_width=(1, 0), pad_value=-np.inf))[0] == -np.inf
    assert run(PadOp(constant([0.0], bf16), pad_width=(1, 0), pad_value=1.001))[0] == 1


# Products of matrices


@table_test("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)])
def test_dense(shape: tuple[int, ...]):
    for element in [f16, bf16, f32, f64, i8, ui8, i64]:
        x, weight = constant(numbers(*shape), element), constant(numbers(5, 4, seed=1), element)
        result = run(DenseOp(x, weight))
        expected = np.einsum("...k,nk->...n", run(x), run(weight))
        np.testing.assert_array_equal(result, expected, strict=True)


@pairs(batches=[(2, 2), (1, 2), (2, 1)], transpose_b=[False, True], transpose_a=[False, True])
def test_batch_matmul(batches: tuple[int, int], transpose_a: bool, transpose_b: bool):
    n, m = batches
    x = numbers(n, *((4, 3) if transpose_a else (3, 4)))
    y = numbers(m, *((5, 4) if transpose_b else (4, 5)), seed=1)
    op = BatchMatmulOp(
        constant(x, f32), constant(y, f32), transpose_a=transpose_a, transpose_b=transpose_b
    )
    rules = "ki" if transpose_a else "ik", "jk" if transpose_b else "kj"
    expected = [np.einsum(f"{','.join(rules)}->ij", x[i % n], y[i % m]) for i in range(2)]
    np.testing.assert_array_equal(run(op), expected)


def test_batch_matmul_broadcasts_any_batch_dimensions():
    x, y = numbers(2, 1, 4, 3), numbers(5, 4, seed=1)
    op = BatchMatmulOp(constant(x, f32), constant(y, f32), transpose_a=True)
    np.testing.assert_array_equal(run(op), np.einsum("abki,jk->abij", x, y))


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_sums_of_narrow_floats_are_f32(element: Element):
    """In f16 and bf16, 2048 + 1 is 2048."""
    x = constant([[2048.0] + [1.0] * 2048], element)
    one = constant(np.ones((2049, 1)), element)
    transposed = constant(np.ones((1, 2049)), element)
    assert run(MatmulOp(x, one)) == 4096
    assert run(DenseOp(x, transposed)) == 4096


def test_out_dtype_is_that_of_the_sums():
    x, y = constant(np.full((1, 3), 200), ui8), constant(np.full((1, 3), -100), i8)
    assert run(DenseOp(x, y, out_dtype=i32)).tolist() == [[-60000]]
    half = constant(np.full((1, 1, 3), 300), f16)
    assert run(BatchMatmulOp(half, half, out_dtype=f32)).tolist() == [[[270000.0]]]


def test_products_of_integers_are_exact_modulo_2_to_the_64():
    x = constant([[2**62 + 1, 3]], i64)
    assert run(DenseOp(x, x)).tolist() == [[(2**62 + 1) ** 2 + 9 - 2**124 - 2**64]]
    assert run(MatmulOp(constant([[2**53 + 1]], i64), constant([[1]], i64))) == 2**53 + 1


def test_outputs_of_a_dense_fill_are_the_same_to_the_last_bit():
    x = constant(np.random.default_rng(0).standard_normal((3, 70)), f32)
    fill = FullOp(FloatAttr(0.02, f32), TensorType(f32, [37, 70]))
    result = run(DenseOp(x, fill))
    assert result.shape == (3, 37) and (result == result[:, :1]).all()
    expanded = run(DenseOp(x, constant(run(fill), f32)))
    np.testing.assert_allclose(result, expanded, rtol=0, atol=1e-6)


def test_a_bias_of_another_size_is_refused():
    op = BiasAddOp(constant(np.ones((2, 3)), f32), constant(np.ones(3), f32), axis=1)
    with pytest.raises(ValueError, match="a bias of 3 elements for a dimension of 1"):
        bias_add(op, np.ones((2, 1)), np.ones(3))
