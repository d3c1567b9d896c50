"""The semantics of indexed reads and writes, with loops as the oracle."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from support.operations.evaluation import ALL_ELEMENTS, constant, i4, run
from support.pairs import pairs
from support.tables import table_test
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, i1, i8, i16, i32, i64
from xdsl.utils.exceptions import InterpretationError

from passline.dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    NonzeroOp,
    ScatterElementsOp,
    ScatterNDOp,
    StridedSliceOp,
    TakeOp,
)
from passline.dialects.relax.types import Element

UNSIGNED = [IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)]
INDICES: list[Element] = [i8, i16, i32, i64, *UNSIGNED]

bounds = st.one_of(st.integers(-9, 9), st.sampled_from([2**63 - 1, -(2**63)]))


@given(bounds, bounds, st.integers(-3, 3).filter(bool), st.integers(0, 5), st.sampled_from([0, -1]))
def test_slices_are_pythons(begin: int, end: int, stride: int, size: int, axis: int):
    x = constant(np.arange(size * size).reshape(size, size), i32)
    op = StridedSliceOp(x, begin=[begin], end=[end], strides=[stride], axes=[axis])
    rows = run(x) if axis == 0 else run(x).T
    expected = rows[[*range(size)][begin:end:stride]]
    expected = expected if axis == 0 else expected.T
    np.testing.assert_array_equal(run(op), expected, strict=True)
    assert op.result.type == constant(expected, i32).result.type


def test_a_slice_is_a_view_of_the_first_axes():
    x = constant(np.arange(24).reshape(2, 3, 4), f32)
    view = run(StridedSliceOp(x, begin=[1, -1], end=[2, -(2**63)], strides=[1, -2]))
    np.testing.assert_array_equal(view, run(x)[1:2, ::-2])
    assert np.shares_memory(view, np.frombuffer(x.value.data.data, np.uint8))


# take


@pairs(indices=[1, [2, 0], [[0, 1, 1]], []], axis=[None, 0, 1, -1], element=INDICES)
def test_take(indices: object, axis: int | None, element: Element):
    x = constant(np.arange(12).reshape(3, 4), i32)
    op = TakeOp(x, constant(indices, element), axis=axis)
    expected = np.take(run(x), np.asarray(indices, np.int64), axis)
    np.testing.assert_array_equal(run(op), expected, strict=True)
    assert op.result.type == constant(expected, i32).result.type


def test_take_out_of_range():
    x = constant([10, 20, 30], i32)
    indices = constant([-4, -1, 3, 7], i64)
    assert run(TakeOp(x, indices)).tolist() == [10, 10, 30, 30]
    assert run(TakeOp(x, indices, mode="wrap")).tolist() == [30, 30, 10, 20]
    huge = constant(np.array([2**64 - 1, 3], np.uint64), UNSIGNED[3])
    assert run(TakeOp(x, huge)).tolist() == [30, 30]
    assert run(TakeOp(x, huge, mode="wrap")).tolist() == [(2**64 - 1) % 3 * 10 + 10, 10]
    wide = constant(np.arange(200), i32)
    assert run(TakeOp(wide, constant([-1], i8), mode="wrap")).tolist() == [199]
    assert run(TakeOp(constant([], f32), constant([], i64))).tolist() == []


# gather


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(axis: int):
    x = constant(np.arange(12).reshape(3, 4), i32)
    indices = np.array([[1, 0, -1, 2], [0, 0, 2, -3], [2, 1, 1, 1]])
    op = GatherOp(x, constant(indices, i64), axis=axis)
    np.testing.assert_array_equal(run(op), np.take_along_axis(run(x), indices, axis), strict=True)


def test_gather_of_a_smaller_shape():
    x = constant(np.arange(12).reshape(3, 4), i32)
    rows = GatherOp(x, constant([[2, 0], [1, 1], [0, -1], [2, 2]], i8), axis=0)
    assert run(rows).tolist() == [[8, 1], [4, 5], [0, 9], [8, 9]]
    assert run(GatherOp(x, constant([[3]], i64), axis=1)).tolist() == [[3]]
    with pytest.raises(InterpretationError, match="out of bounds"):
        run(GatherOp(x, constant([[4]], i64), axis=1))


@pytest.mark.parametrize("batch", [0, 1, 2])
@pytest.mark.parametrize("length", [1, 2])
def test_gather_nd(length: int, batch: int):
    array = np.arange(3**5).reshape(3, 3, 3, 3, 3)
    indices = np.random.default_rng(0).integers(-3, 3, (3, 3, 2, length))
    op = GatherNDOp(constant(array, i32), constant(indices, i64), batch_dims=batch)
    result = run(op)
    expected_shape = (3, 3, 2, *array.shape[batch + length :])
    assert op.result.type == constant(np.zeros(expected_shape), i32).result.type
    for place in np.ndindex(3, 3, 2):
        np.testing.assert_array_equal(result[place], array[(*place[:batch], *indices[place])])


@table_test("x", [[[1, 0], [0, 3]], [0, 0], 5, 0, [], [[1.0, -0.0]]])
def test_nonzero(x: ArrayLike):
    result = run(NonzeroOp(constant(x, f32)))
    places = [p for p in np.ndindex(np.shape(x)) if np.asarray(x)[p]]
    assert result.dtype == np.int64
    assert result.T.tolist() == [[*p] for p in places]
    assert result.shape == (np.ndim(x), len(places))


# scatter

REDUCTIONS: dict[str, Callable[[float, float], float]] = {
    "update": lambda _, new: new,
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
}


@pairs(reduction=REDUCTIONS, axis=[0, 1, -2], element=ALL_ELEMENTS)
def test_scatter_elements(reduction: str, axis: int, element: Element):
    data = constant([[1, 2, 3], [4, 5, 6], [0, 1, 2]], element)
    indices = [[0, 1, 0], [0, -1, 0]]
    updates = constant([[2, 3, 1], [3, 0, 2]], element)
    op = ScatterElementsOp(data, constant(indices, i64), updates, axis=axis, reduction=reduction)
    expected: list[list[float]] = run(data).tolist()
    for i, j in product(range(2), range(3)):
        row = indices[i][j] if axis in (0, -2) else i
        column = j if axis in (0, -2) else indices[i][j]
        old, new = expected[row][column], run(updates).tolist()[i][j]
        expected[row][column] = REDUCTIONS[reduction](old, new)
    np.testing.assert_array_equal(run(op), run(constant(expected, element)), strict=True)
    assert run(data).tolist() == run(constant([[1, 2, 3], [4, 5, 6], [0, 1, 2]], element)).tolist()


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("length", [1, 2])
def test_scatter_nd(length: int, reduction: str):
    rng = np.random.default_rng(0)
    data = rng.integers(0, 9, (3, 4, 2))
    indices = rng.integers(-3, 3, (2, 5, length))
    updates = rng.integers(0, 9, (2, 5, *data.shape[length:]))
    op = ScatterNDOp(
        constant(data, i32), constant(indices, i32), constant(updates, i32), reduction=reduction
    )
    expected = data.copy()
    for place in np.ndindex(2, 5):
        where = (*indices[place],)
        flat = zip(expected[where].ravel(), updates[place].ravel(), strict=True)
        new = [REDUCTIONS[reduction](int(a), int(b)) for a, b in flat]
        expected[where] = np.reshape(new, expected[where].shape)
    assert run(op).tolist() == expected.tolist()


def total(element: Element, updates: Sequence[float], reduction: str = "add") -> object:
    data, new = constant([0], element), constant(updates, element)
    indices = constant([0] * len(updates), i64)
    return run(ScatterElementsOp(data, indices, new, reduction=reduction)).tolist()[0]


def test_sums_of_updates():
    assert total(f16, [2048.0, *[1.0] * 8]) == 2056.0, "rounded once"
    assert total(bf16, [256.0, *[1.0] * 8]) == 264.0
    assert total(i4, [7, 7]) == -2
    assert total(i1, [True, True]) is False
    assert total(i1, [True, False], "max") is True


def test_an_update_out_of_range():
    data, updates = constant([1, 2], i32), constant([3], i32)
    with pytest.raises(InterpretationError, match="out of bounds"):
        run(ScatterElementsOp(data, constant([2], i64), updates))
    huge = constant(np.array([2**64 - 1], np.uint64), UNSIGNED[3])
    with pytest.raises(InterpretationError, match="out of bounds"):
        run(ScatterElementsOp(data, huge, updates))


def test_nothing_to_write():
    data = constant([[1, 2]], i32)
    empty = constant(np.zeros((0, 2)), i32)
    assert run(ScatterElementsOp(data, constant(np.zeros((0, 2)), i64), empty)).tolist() == [[1, 2]]
    assert run(ScatterNDOp(data, constant(np.zeros((0, 1)), i64), empty)).tolist() == [[1, 2]]
