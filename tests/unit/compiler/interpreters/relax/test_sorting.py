"""The semantics of sorting, with Python's stable sort as the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import ELEMENTS, constant, i4, run, run_all
from support.pairs import pairs
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i64

from passline.dialects.relax.data.sorting import ArgsortOp, SortOp, TopkOp
from passline.dialects.relax.types import Element

X = [[3, 1, 3, -2, 1], [0, 0, 0, 0, 0], [5, 4, 5, 4, 7]]


def order(line: list[float], descending: bool) -> list[int]:
    return sorted(range(len(line)), key=lambda i: -line[i] if descending else line[i])


@pairs(element=[*ELEMENTS, bf16, i4], descending=[False, True], axis=[0, -1])
def test_sort(element: Element, descending: bool, axis: int):
    x = constant(np.transpose(X) if axis == 0 else X, element)
    rows = (run(x).T if axis == 0 else run(x)).tolist()
    indices = [order(row, descending) for row in rows]
    values = [[row[i] for i in own] for row, own in zip(rows, indices, strict=True)]
    result = run(ArgsortOp(x, axis=axis, descending=descending))
    assert result.dtype == np.int64
    assert (result.T if axis == 0 else result).tolist() == indices
    result = run(SortOp(x, axis=axis, descending=descending))
    assert result.dtype == run(x).dtype
    assert (result.T if axis == 0 else result).tolist() == values


@pairs(largest=[False, True], axis=[0, -1], k=[-1, 0, 1, 3, 5])
def test_topk(largest: bool, axis: int, k: int):
    x = constant(np.transpose(X) if axis == 0 else X, f32)
    values, indices = run_all(TopkOp(x, k=k, axis=axis, largest=largest))
    assert values.dtype == np.float32 and indices.dtype == np.int64
    for line, own, places in zip(X, *(a.T if axis == 0 else a for a in (values, indices))):
        expected = order([*line], largest)[: k if k > 0 else 5]
        assert places.tolist() == expected
        assert own.tolist() == [line[i] for i in expected]


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
def test_nan_is_greatest(element: Element):
    nan = math.nan
    x = constant([nan, 1.0, nan, math.inf, 1.0], element)
    assert run(ArgsortOp(x)).tolist() == [1, 4, 3, 0, 2]
    assert run(ArgsortOp(x, descending=True)).tolist() == [0, 2, 3, 1, 4]
    values, indices = run_all(TopkOp(x, k=3))
    np.testing.assert_array_equal(values, [nan, nan, math.inf])
    assert indices.tolist() == [0, 2, 3]
    assert run_all(TopkOp(x, k=2, largest=False))[0].tolist() == [1, 1]


def test_integers_are_compared_exactly():
    x = constant([2**63 - 1, 2**63 - 2, -(2**63)], i64)
    assert run(ArgsortOp(x)).tolist() == [2, 1, 0]
    assert run(SortOp(constant([True, False, True], i1), descending=True)).tolist() == [1, 1, 0]


def test_no_elements():
    assert run(SortOp(constant(np.zeros((2, 0)), f32))).shape == (2, 0)
    assert run_all(TopkOp(constant(np.zeros((0, 3)), f32), k=2))[0].shape == (0, 2)
