"""Kernels of softmax, of sums with a bias and of what does nothing compute what these do."""

from __future__ import annotations

import numpy as np
import pytest
from support.budget import some
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, i4, ui8
from support.operations.legalized import check_kernel
from support.pairs import pairs
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i64

from passline.dialects.relax.reduction import nn as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 2e-3, bf16: 2e-2, f32: 1e-6, f64: 1e-14}


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


@pairs(
    op=[ops.SoftmaxOp, ops.LogSoftmaxOp],
    axis=[
        ((3, 5), -1),
        ((3, 5), 0),
        ((2, 3, 4), 1),
        ((1, 1), 1),
        ((4,), 0),
        ((2, 37), 1),
        ((0, 2), 1),
        ((2, 0), 1),
    ],
    element=CLOSE,
)
def test_softmax(op: type[ops.SoftmaxBaseOp], axis: tuple[tuple[int, ...], int], element: Element):
    data = constant(numbers(*axis[0]), element)
    check_kernel(op(data, axis=axis[1]), CLOSE[element], CLOSE[element])


@pytest.mark.parametrize("op", [ops.SoftmaxOp, ops.LogSoftmaxOp])
def test_softmax_of_large_numbers(op: type[ops.SoftmaxBaseOp]):
    x = [[10000.0, 9992.0, -10000.0], [np.inf, 1, 2], [np.nan, 1, 2], [-np.inf, 1, 2]]
    check_kernel(op(constant(x, f32)), 1e-6)


@needs_native
@pytest.mark.parametrize(("element", "close"), [(f16, 2e-3), (f32, 1e-5), (f64, 1e-12)], ids=str)
def test_softmax_of_special_numbers_in_machine_code(element: Element, close: float):
    rows = numbers(6, 40)
    rows[0, 7], rows[1, 9], rows[2, 11], rows[3] = np.nan, np.inf, -np.inf, -np.inf
    rows[4] *= 1e3
    cases = {
        f"{op.name} {axis}": op(constant(rows if axis else rows.T.copy(), element), axis=axis)
        for op in (ops.SoftmaxOp, ops.LogSoftmaxOp)
        for axis in (0, 1)
    }
    check_machine_code(cases, close, 1e-6)


SHAPES = some([(3, 70), (70, 3), (2, 5, 7, 3), (1, 21, 4, 5), (1, 1, 40)], 2)


@pairs(
    op=[ops.SoftmaxOp, ops.LogSoftmaxOp], shape=SHAPES, target=["x86-64", "x86-64-v3", "x86-64-v4"]
)
def test_softmax_for_targets(op: type[ops.SoftmaxBaseOp], shape: tuple[int, ...], target: str):
    for axis in range(len(shape)):
        check_kernel(op(constant(numbers(*shape), f32), axis=axis), 1e-6, 1e-6, target)


@pytest.mark.parametrize("element", [*CLOSE, i1, i4, i8, i64], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_bias_add(axis: int, element: Element):
    x = np.arange(24).reshape(2, 3, 4) % 7 - 3
    bias = constant([1, -2, 3, 0][: (2, 3, 4)[axis]], element)
    check_kernel(ops.BiasAddOp(constant(x, element), bias, axis=axis))


def test_bias_add_of_one_channel():
    check_kernel(ops.BiasAddOp(constant([[1.0], [2.0]], f32), constant([0.5], f32)))


@pytest.mark.parametrize("element", [f16, f32, i1, i8, ui8], ids=str)
def test_dropout(element: Element):
    check_kernel(ops.DropoutOp(constant([[1, 0], [2, 3]], element)))
