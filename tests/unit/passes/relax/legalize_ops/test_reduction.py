"""Kernels of reductions compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.evaluation import constant, i4, ui8
from support.legalized import check_kernel, legalized
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32, i64

from passline.dialects.relax import reduction as ops
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.types import Element
from passline.passes.relax.legalize_ops.arg_reduction import ARG_REDUCTION
from passline.passes.relax.legalize_ops.reduction import REDUCTION

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 1e-6, f64: 1e-14}
ELEMENTS: list[Element] = [*CLOSE, i1, i4, i8, i32, i64]
NUMBERS = (ops.SumOp, ops.MeanOp, ops.MaxOp, ops.MinOp, ops.ProdOp)
BOOLS = (ops.AnyOp, ops.AllOp)
INDICES = (ops.ArgmaxOp, ops.ArgminOp)
AXES = [None, [], [0], [-1], [0, 2], [2, -2, 0]]


def numbers(element: Element) -> ConstantOp:
    return constant(np.arange(-4, 8).reshape(2, 3, 2) % 7 - 2, element)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("op", NUMBERS)
def test_numbers(op: type[ops.ReductionOp], element: Element):
    check_kernel(op(numbers(element), axis=[-1]), CLOSE.get(element, 0))
    check_kernel(op(numbers(element)), CLOSE.get(element, 0))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("op", NUMBERS)
def test_axes(op: type[ops.ReductionOp], axes: list[int] | None, keepdims: bool):
    check_kernel(op(numbers(f32), axis=axes, keepdims=keepdims), CLOSE[f32])


@pytest.mark.parametrize("op", BOOLS)
@pytest.mark.parametrize("axes", AXES[:4], ids=str)
def test_bools(op: type[ops.ReductionOp], axes: list[int] | None):
    for values in ([[True, False], [True, True], [False, False]], np.zeros((2, 0), np.bool_)):
        check_kernel(op(constant(values, i1), axis=axes))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("op", INDICES)
def test_indices(op: type[ops.ArgReductionOp], element: Element, last: bool):
    check_kernel(op(numbers(element), axis=1, select_last_index=last))
    check_kernel(op(numbers(element), select_last_index=last))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("op", INDICES)
def test_axis_of_indices(op: type[ops.ArgReductionOp], axis: int | None, keepdims: bool):
    check_kernel(op(numbers(i8), axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("element", list(CLOSE), ids=str)
def test_special_numbers(element: Element):
    x = constant(
        [
            [math.nan, 1.0, 2.0, math.nan],
            [2.0, math.nan, -math.inf, 2.0],
            [-math.inf] * 4,
            [math.inf] * 4,
            [0.0, -3.0, math.inf, math.inf],
        ],
        element,
    )
    for op in NUMBERS:
        check_kernel(op(x, axis=[1]))
    for op in INDICES:
        for last in (False, True):
            check_kernel(op(x, axis=1, select_last_index=last))


@pytest.mark.parametrize("element", [f32, i1, i8, i64], ids=str)
@pytest.mark.parametrize("op", NUMBERS)
def test_of_no_elements(op: type[ops.ReductionOp], element: Element):
    none = constant(np.zeros((2, 0)).astype(int), element)
    for axes in ([0], [1], None):
        check_kernel(op(none, axis=axes))


@pytest.mark.parametrize("size", [31, 32, 35, 64])
def test_long_rows(size: int):
    """Lanes have sums of their own."""
    x = np.random.default_rng(0).permutation(2 * size).reshape(2, size) - size
    for op in (ops.SumOp, ops.MaxOp, ops.MinOp, ops.MeanOp):
        check_kernel(op(constant(x, i32), axis=[1]))
        check_kernel(op(constant(x, f32)), 1e-6)
    check_kernel(ops.ProdOp(constant(1 + x / 1000, f32), axis=[1]), 1e-5)


def test_integers_wrap_around():
    x = constant([100, 100, -128, 3], i8)
    for op in NUMBERS:
        check_kernel(op(x))


def test_sums_of_f16_are_f32():
    x = constant(np.full(3000, 1.0), f16)
    check_kernel(ops.SumOp(x))


@pytest.mark.parametrize("shape", [(), (1,), (1, 4), (4, 1)], ids=str)
def test_shapes(shape: tuple[int, ...]):
    x = constant(np.arange(4)[: math.prod(shape)].reshape(shape), f32)
    check_kernel(ops.SumOp(x))
    check_kernel(ops.ArgmaxOp(x))


def test_integers_with_a_sign_of_their_own_have_no_kernel():
    for op in (ops.SumOp, ops.MeanOp, ops.MaxOp, ops.ArgmaxOp):
        with pytest.raises(AssertionError, match="no kernel"):
            legalized(op(constant([1], ui8)))


def test_each_has_a_definition():
    assert set(REDUCTION) == {*NUMBERS, *BOOLS}
    assert set(ARG_REDUCTION) == {*INDICES}
    assert {cls.name for cls in (*REDUCTION, *ARG_REDUCTION)} == {
        getattr(ops, name).name for name in ops.__all__ if hasattr(getattr(ops, name), "name")
    }
