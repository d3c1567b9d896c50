"""Kernels of activation functions compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, constant, i4
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i64

from passline.dialects.relax.elementwise import activation as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 1e-5, f64: 1e-10}
VALUES = [0.0, 0.25, -0.5, 1.5, -2.5, 3.75, -1e-3, 11.0, -3.0, 30.0, math.nan, math.inf]
PLAIN = (ops.ReluOp, ops.GeluOp, ops.GeluTanhOp, ops.SiluOp, ops.LeakyReluOp, ops.SoftplusOp)


@pytest.mark.parametrize("op", PLAIN)
def test_floats(op: type[ops.ReluOp]):
    for element in [*FLOATS, bf16]:
        check_kernel(op(constant([VALUES], element)), CLOSE[element], 1e-7)


@pytest.mark.parametrize("element", [i1, i4, i8, i64], ids=str)
def test_relu_of_integers(element: Element):
    check_kernel(ops.ReluOp(constant([0, 1, 5, -1, -8], element)))


@pytest.mark.parametrize("element", [*FLOATS, bf16], ids=str)
def test_properties(element: Element):
    x = constant([VALUES], element)
    check_kernel(ops.LeakyReluOp(x, alpha=0.3), CLOSE[element])
    check_kernel(ops.LeakyReluOp(x, alpha=1e300), CLOSE[element])
    check_kernel(ops.SoftplusOp(x, beta=2.5, threshold=5.0), CLOSE[element])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_prelu(axis: int):
    for element in [*FLOATS, bf16]:
        x = constant(np.random.default_rng(0).normal(size=(2, 3, 4)), element)
        alpha = constant([0.5, -2.0, 0.25, 3.0][: (2, 3, 4)[axis]], element)
        check_kernel(ops.PReluOp(x, alpha, axis=axis))
