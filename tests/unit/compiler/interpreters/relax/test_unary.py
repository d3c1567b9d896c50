"""The semantics of functions of one tensor, with numpy in f64 as the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from support.operations.evaluation import ALL_ELEMENTS, ELEMENTS, FLOATS, Array, constant, run, ui8
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32, i64

from passline.dialects.relax.elementwise import unary as ops
from passline.dialects.relax.types import Element

NUMBERS: dict[type[ops.UnaryOp], Callable[[Array], Array]] = {
    ops.AbsOp: np.abs,
    ops.NegativeOp: np.negative,
    ops.SignOp: lambda x: np.where(x > 0, 1, np.where(x < 0, -1, 0)),
    ops.SquareOp: lambda x: x * x,
    ops.CeilOp: lambda x: -(-x // 1),
    ops.FloorOp: lambda x: x // 1,
    ops.RoundOp: np.rint,
    ops.TruncOp: lambda x: np.sign(x) * (np.abs(x) // 1),
}
FLOAT: dict[type[ops.UnaryOp], Callable[[Array], Array]] = {
    ops.ExpOp: np.exp,
    ops.Expm1Op: np.expm1,
    ops.LogOp: np.log,
    ops.Log2Op: lambda x: np.log(x) / math.log(2),
    ops.Log1pOp: np.log1p,
    ops.SqrtOp: np.sqrt,
    ops.RsqrtOp: lambda x: x**-0.5,
    ops.SinOp: np.sin,
    ops.CosOp: np.cos,
    ops.TanOp: lambda x: np.sin(x) / np.cos(x),
    ops.AtanOp: np.arctan,
    ops.SinhOp: lambda x: (np.exp(x) - np.exp(-x)) / 2,
    ops.CoshOp: lambda x: (np.exp(x) + np.exp(-x)) / 2,
    ops.TanhOp: np.tanh,
    ops.AsinhOp: np.arcsinh,
    ops.ErfOp: np.vectorize(math.erf),
    ops.SigmoidOp: lambda x: 1 / (1 + np.exp(-x)),
}
UP_TO_1: dict[type[ops.UnaryOp], Callable[[Array], Array]] = {
    ops.AsinOp: np.arcsin,
    ops.AcosOp: np.arccos,
    ops.AtanhOp: np.arctanh,
}


@table_test("op", NUMBERS)
def test_numbers(op: type[ops.UnaryOp]):
    for element in ELEMENTS:
        x = constant([[0, 1, 2], [5, -3, 100]], element)
        value = run(x)
        expected = NUMBERS[op](value).astype(value.dtype)
        np.testing.assert_array_equal(run(op(x)), expected, strict=True)


@table_test("op", [ops.CeilOp, ops.FloorOp, ops.RoundOp, ops.TruncOp])
def test_rounding(op: type[ops.UnaryOp]):
    for element in [f16, bf16, f32, f64]:
        x = constant([-2.5, -1.75, -0.25, 0.5, 1.5, 2.5, 3.25], element)
        np.testing.assert_array_equal(run(op(x)), NUMBERS[op](run(x).astype(np.float64)))


@pytest.mark.parametrize("op", [ops.CeilOp, ops.FloorOp, ops.RoundOp, ops.TruncOp])
def test_rounding_changes_no_integer(op: type[ops.UnaryOp]):
    x = constant([2**62 + 1, -(2**63)], i64)
    np.testing.assert_array_equal(run(op(x)), run(x), strict=True)


@table_test("op", FLOAT)
def test_float(op: type[ops.UnaryOp]):
    for element in FLOATS:
        check(op, FLOAT[op], [0.25, 1, 2.5, 7], element)


@table_test("op", UP_TO_1)
def test_float_up_to_1(op: type[ops.UnaryOp]):
    for element in FLOATS:
        check(op, UP_TO_1[op], [-0.75, -0.25, 0.5], element)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_acosh(element: Element):
    check(ops.AcoshOp, np.arccosh, [1.5, 2, 100], element)


def check(
    op: type[ops.UnaryOp], oracle: Callable[[Array], Array], x: list[float], element: Element
):
    """Compare with the oracle in f64, within 4 units in the last place."""
    operand = constant(x, element)
    result = run(op(operand))
    assert result.dtype == run(operand).dtype
    exact = oracle(run(operand).astype(np.float64))
    np.testing.assert_allclose(result, exact, rtol=4 * float(np.finfo(result.dtype).eps))


def test_small_numbers_keep_their_digits():
    x = constant([1e-10, -1e-10], f64)
    for op in (ops.Expm1Op, ops.Log1pOp, ops.AsinhOp):
        np.testing.assert_allclose(run(op(x)), run(x), rtol=1e-9)


def test_sigmoid_and_rsqrt_of_f16_do_not_overflow_on_the_way():
    assert run(ops.SigmoidOp(constant([-12.0], f16)))[0] == np.float16(6.144e-06)
    assert run(ops.RsqrtOp(constant([2.0**-24], f16)))[0] == 4096


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_nothing_warns(element: Element):
    x = constant([-1, 0, 1, 1000], element)
    assert math.isnan(run(ops.LogOp(x))[0]) and math.isnan(run(ops.SqrtOp(x))[0])
    assert run(ops.LogOp(x))[1] == -math.inf and run(ops.RsqrtOp(x))[1] == math.inf
    assert run(ops.ExpOp(ops.ExpOp(x)))[3] == math.inf
    assert math.isnan(run(ops.AcosOp(x))[3]) and run(ops.AtanhOp(x))[2] == math.inf


# The error function


def test_erf_of_f64():
    x = np.concatenate([np.linspace(-7, 7, 5001), np.logspace(-300, 1, 1000), [5.95, 1e300]])
    exact = [math.erf(v) for v in x]
    np.testing.assert_allclose(run(ops.ErfOp(constant(x, f64))), exact, rtol=4 * 2.0**-52)


def test_erf_of_f32_is_correctly_rounded():
    x = np.linspace(-6, 6, 4001).astype(np.float32)
    exact = np.array([math.erf(v) for v in x.tolist()]).astype(np.float32)
    np.testing.assert_array_equal(run(ops.ErfOp(constant(x, f32))), exact, strict=True)


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
def test_erf_of_special_values(element: Element):
    x = constant([math.inf, -math.inf, math.nan, -0.0], element)
    assert [str(v) for v in run(ops.ErfOp(x))] == ["1.0", "-1.0", "nan", "-0.0"]


# Bits and truth


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
def test_predicates(element: Element):
    x = constant([0.0, math.nan, math.inf, -math.inf], element)
    assert run(ops.IsNanOp(x)).tolist() == [False, True, False, False]
    assert run(ops.IsInfOp(x)).tolist() == [False, False, True, True]
    assert run(ops.IsFiniteOp(x)).tolist() == [True, False, False, False]


def test_not():
    x = constant([True, False], i1)
    assert run(ops.LogicalNotOp(x)).tolist() == run(ops.BitwiseNotOp(x)).tolist() == [False, True]
    assert run(ops.BitwiseNotOp(constant([0, 5, -1], i8))).tolist() == [-1, -6, 0]
    assert run(ops.BitwiseNotOp(constant([0, 5, 255], ui8))).tolist() == [255, 250, 0]


def test_i1_is_0_and_1():
    x = constant([True, False], i1)
    for op in NUMBERS:
        assert run(op(x)).tolist() == [True, False]


@table_test("element", ALL_ELEMENTS)
def test_no_elements_and_rank_0(element: Element):
    for op in NUMBERS:
        assert run(op(constant(np.zeros((0, 3)), element))).shape == (0, 3)
        assert run(op(constant(1, element))).shape == ()


def test_the_least_integer_is_its_own_negative():
    x = constant([-(2**31)], i32)
    assert run(ops.AbsOp(x)).tolist() == run(ops.NegativeOp(x)).tolist() == [-(2**31)]
