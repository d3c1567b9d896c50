"""The semantics of activation functions, with Python's math as the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, constant, run
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, f32, f64, i8

from passline.dialects.relax.elementwise import activation as ops
from passline.dialects.relax.elementwise.unary import UnaryOp

X = [-30.0, -6.5, -1.0, -0.1, 0.0, 0.1, 1.0, 6.5, 30.0]

ORACLE: dict[type[UnaryOp], Callable[[float], float]] = {
    ops.ReluOp: lambda x: max(x, 0.0),
    ops.LeakyReluOp: lambda x: x if x > 0 else 0.01 * x,
    ops.GeluOp: lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    ops.GeluTanhOp: lambda x: (
        x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) if x > -7 else 0
    ),
    ops.SiluOp: lambda x: x / (1 + math.exp(-x)),
    ops.SoftplusOp: lambda x: math.log1p(math.exp(x)) if x < 20 else x,
}


@table_test("op", ORACLE)
def test_floats(op: type[UnaryOp]):
    for element in [*FLOATS, bf16]:
        x = constant(X, element)
        result = run(op(x))
        assert result.dtype == run(x).dtype
        eps = 2.0**-7 if element == bf16 else float(np.finfo(result.dtype).eps)
        exact = [ORACLE[op](v) for v in run(x).tolist()]
        np.testing.assert_allclose(result, exact, rtol=8 * eps, atol=8 * eps)


@table_test("op", ORACLE)
def test_nan_and_inf(op: type[UnaryOp]):
    for element in FLOATS:
        result = run(op(constant([math.nan, math.inf], element)))
        assert math.isnan(result[0]) and result[1] == math.inf


def test_relu_of_integers():
    assert run(ops.ReluOp(constant([-3, 0, 5], i8))).tolist() == [0, 0, 5]


def test_leaky_relu_alpha():
    x = constant([-2.0, 2.0], f32)
    assert run(ops.LeakyReluOp(x, alpha=0.25)).tolist() == [-0.5, 2.0]


def test_softplus_beta_and_threshold():
    x = constant([-1.0, 1.0, 3.0], f64)
    result = run(ops.SoftplusOp(x, beta=2.0, threshold=5.0))
    expected = [math.log1p(math.exp(-2)) / 2, math.log1p(math.exp(2)) / 2, 3.0]
    np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_activations_of_f16_do_not_overflow_on_the_way():
    x = constant([60.0, -60.0], f16)
    assert run(ops.GeluTanhOp(x)).tolist() == [60, 0]
    assert run(ops.SoftplusOp(x, threshold=100.0)).tolist() == [60, 0]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_prelu(axis: int):
    x = np.arange(-12.0, 12.0).reshape(2, 3, 4)
    alpha = np.arange(1.0, 1 + x.shape[axis])
    expected = x.copy()
    for place in np.ndindex(x.shape):
        if x[place] <= 0:
            expected[place] *= alpha[place[axis]]
    result = run(ops.PReluOp(constant(x, f32), constant(alpha, f32), axis=axis))
    np.testing.assert_array_equal(result, expected.astype(np.float32), strict=True)
