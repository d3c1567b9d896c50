"""The semantics of tensor creation, with numpy and Python numbers as oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import ALL_ELEMENTS, constant, run
from support.pairs import pairs
from support.tables import table_test
from xdsl.dialects.builtin import f16, f32, f64, i8, i32, i64
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.data.creation import ArangeOp, OneHotOp, ShapeOfOp, SizeOfOp, TriluOp


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 4)])
def test_shape_and_size(shape: tuple[int, ...]):
    x = constant(np.zeros(shape), f32)
    np.testing.assert_array_equal(run(ShapeOfOp(x)), np.array(shape, np.int64), strict=True)
    np.testing.assert_array_equal(run(SizeOfOp(x)), np.array(np.prod(shape, dtype=int)))


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_arange_of_integers(start: int, stop: int, step: int):
    op = ArangeOp(*(constant(n, i32) for n in (start, stop, step)))
    expected = [*range(start, stop, step)]
    assert run(op).tolist() == expected
    assert str(op.result.type) == f"tensor<{len(expected)}xi32>"


@table_test("numbers", [(0, 1, 0.25), (1, -1, -0.3), (0.1, 0.1, 1), (5, 0, 1)])
def test_arange_of_floats(numbers: tuple[float, float, float]):
    for element in [f16, f32, f64]:
        op = ArangeOp(*(constant(n, element) for n in numbers))
        start, _, step = (float(run(constant(n, element))) for n in numbers)
        size = len(np.arange(*(float(run(constant(n, element))) for n in numbers)))
        expected = constant([start + i * step for i in range(size)], element)
        np.testing.assert_array_equal(run(op), run(expected), strict=True)
        assert op.result.type == expected.result.type


def test_arange_without_an_end():
    with pytest.raises(VerifyException, match="range from 1 to 2 by 0 is not finite"):
        ArangeOp(*(constant(n, i32) for n in (1, 2, 0)))


@table_test("axis", [0, 1, -1])
def test_one_hot(axis: int):
    for element in ALL_ELEMENTS:
        indices = np.array([[0, 2], [1, 1]])
        on, off = constant(5, element), constant(1, element)
        op = OneHotOp(constant(indices, i8), on, off, depth=3, axis=axis)
        hot = np.moveaxis(np.where(np.eye(3, dtype=bool)[indices], 5, 1), -1, axis)
        np.testing.assert_array_equal(run(op), run(constant(hot, element)), strict=True)


def test_one_hot_of_indices_out_of_range():
    op = OneHotOp(constant([-1, 3, 2], i64), constant(1, f32), constant(0, f32), depth=3)
    assert run(op).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]


@pairs(
    shape=[(3, 4), (2, 4, 3), (0, 3)], upper=[False, True], k=[-(2**63), -2, -1, 0, 1, 4, 2**63 - 1]
)
def test_trilu(shape: tuple[int, ...], upper: bool, k: int):
    x = constant(np.arange(np.prod(shape)).reshape(shape) + 1, f32)
    result = run(TriluOp(x, constant(k, i64), upper=upper))
    for place in np.ndindex(shape):
        above = place[-1] - place[-2]
        kept = above >= k if upper else above <= k
        assert result[place] == (run(x)[place] if kept else 0)
