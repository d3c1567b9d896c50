"""Kernels of sorting compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import Array, constant, i4, ui8
from support.operations.legalized import check_kernel
from support.pairs import pairs
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, f64, i1, i8, i64

from passline.compiler.interpreters.arrays import dtype_of
from passline.dialects.relax.data import sorting as ops
from passline.dialects.relax.types import Element, bounds

ui64 = IntegerType(64, Signedness.UNSIGNED)
FLOATS: list[Element] = [f16, bf16, f32, f64]
ELEMENTS: list[Element] = [*FLOATS, i1, i4, i8, i64]


@pairs(op=[ops.SortOp, ops.ArgsortOp], element=ELEMENTS, axis=[0, 1, -1], descending=[False, True])
def test_sort(op: type[ops.SortingOp], element: Element, axis: int, descending: bool):
    x = constant(np.random.default_rng(0).integers(-3, 3, (2, 5, 3)), element)
    check_kernel(op(x, axis=axis, descending=descending))


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_special_numbers(element: Element):
    x = constant([1.0, math.nan, -math.inf, 2.0, math.nan, math.inf, 1.0, 0.0], element)
    for descending in (False, True):
        check_kernel(ops.SortOp(x, descending=descending))
        check_kernel(ops.ArgsortOp(x, descending=descending))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 17, 33, 100, 300])
def test_sizes(size: int):
    x = constant(np.random.default_rng(size).integers(-3, 3, (2, size)), i8)
    check_kernel(ops.ArgsortOp(x))
    check_kernel(ops.ArgsortOp(x, descending=True))


@pytest.mark.parametrize("element", [i8, i64, ui8, ui64], ids=str)
def test_the_least_and_the_greatest_integers(element: Element):
    low, high = bounds(element)
    numbers = [high, low, 1, high, 0, low, high - 1, low + 1]
    x = constant(np.array(numbers, dtype_of(element)), element)
    for descending in (False, True):
        check_kernel(ops.ArgsortOp(x, descending=descending))


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_zeros_are_equal(element: Element):
    check_kernel(ops.ArgsortOp(constant([0.0, -0.0, 0.0, -0.0, -1.0], element)))


@pairs(
    element=[f16, f32, i8],
    place=[(1, -1), (2, 1), (5, 1), (0, 0), (2, 0), (3, 2)],
    largest=[False, True],
)
def test_topk(element: Element, place: tuple[int, int], largest: bool):
    k, axis = place
    x = constant(np.random.default_rng(0).integers(-3, 3, (2, 5, 3)), element)
    check_kernel(ops.TopkOp(x, k=k, axis=axis, largest=largest))


@pairs(element=[f16, f32, i8, i64, ui64], k=[1, 20, 40], largest=[False, True])
def test_the_first_of_many(element: Element, k: int, largest: bool):
    random = np.random.default_rng(k)
    low, high = bounds(element) if isinstance(element, IntegerType) else (-60000, 60000)
    many: Array = random.uniform(low, high, (1, 80)).astype(dtype_of(element))
    for x in (many, np.floor_divide(many, many.max() // 9), np.full((1, 80), many[0, 0])):
        check_kernel(ops.TopkOp(constant(x, element), k=k, largest=largest))


@pytest.mark.parametrize("largest", [False, True])
def test_the_first_of_special_numbers(largest: bool):
    random = np.random.default_rng(0)
    x = random.choice([math.nan, -math.inf, math.inf, 0.0, -0.0, 1.0, -1.0, 1e-40], (2, 70))
    for k in (3, 10, 30):
        check_kernel(ops.TopkOp(constant(x, f32), k=k, largest=largest))
