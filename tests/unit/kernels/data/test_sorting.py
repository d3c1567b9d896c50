"""Kernels of sorting compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import constant, i4, ui8
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i64

from passline.dialects.relax.data import sorting as ops
from passline.dialects.relax.types import Element
from passline.kernels.data.sorting import SORTING

FLOATS: list[Element] = [f16, bf16, f32, f64]
ELEMENTS: list[Element] = [*FLOATS, i1, i4, i8, i64]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("op", [ops.SortOp, ops.ArgsortOp])
def test_sort(op: type[ops.SortingOp], element: Element, axis: int, descending: bool):
    x = constant(np.random.default_rng(0).integers(-3, 3, (2, 5, 3)), element)
    check_kernel(op(x, axis=axis, descending=descending))


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_special_numbers(element: Element):
    x = constant([1.0, math.nan, -math.inf, 2.0, math.nan, math.inf, 1.0, 0.0], element)
    for descending in (False, True):
        check_kernel(ops.SortOp(x, descending=descending))
        check_kernel(ops.ArgsortOp(x, descending=descending))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 17])
def test_sizes(size: int):
    x = constant(np.random.default_rng(size).integers(-3, 3, (2, size)), i8)
    check_kernel(ops.ArgsortOp(x))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize(("k", "axis"), [(1, -1), (2, 1), (5, 1), (0, 0), (2, 0), (3, 2)])
@pytest.mark.parametrize("element", [f16, f32, i8], ids=str)
def test_topk(element: Element, k: int, axis: int, largest: bool):
    x = constant(np.random.default_rng(0).integers(-3, 3, (2, 5, 3)), element)
    check_kernel(ops.TopkOp(x, k=k, axis=axis, largest=largest))


def test_integers_with_a_sign_of_their_own():
    check_kernel(ops.SortOp(constant([200, 100], ui8)))


def test_each_has_a_definition():
    assert set(SORTING) == {ops.SortOp, ops.ArgsortOp, ops.TopkOp}
