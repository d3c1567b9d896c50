"""Kernels of softmax and its relatives compute what the operations do."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation import Array, constant
from legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64

from passline.dialects.relax import nn as ops
from passline.dialects.relax.types import Element

FLOATS = [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-6), (f64, 1e-14)]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


@pytest.mark.parametrize(("element", "close"), FLOATS, ids=str)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((3, 5), -1), ((3, 5), 0), ((2, 3, 4), 1), ((1, 1), 1), ((4,), 0), ((0, 2), 1), ((2, 0), 1)],
    ids=str,
)
@pytest.mark.parametrize("op", [ops.SoftmaxOp, ops.LogSoftmaxOp])
def test_softmax(
    op: type[ops.SoftmaxBaseOp], shape: tuple[int, ...], axis: int, element: Element, close: float
):
    check_kernel(op(constant(numbers(*shape), element), axis=axis), close, close)


@pytest.mark.parametrize("op", [ops.SoftmaxOp, ops.LogSoftmaxOp])
def test_softmax_of_large_numbers(op: type[ops.SoftmaxBaseOp]):
    x = [[10000.0, 9992.0, -10000.0], [np.inf, 1, 2], [np.nan, 1, 2], [-np.inf, 1, 2]]
    check_kernel(op(constant(x, f32)), 1e-6)
