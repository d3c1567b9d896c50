"""The semantics of functions of two tensors, with numpy and Python integers as oracles."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import ELEMENTS, FLOATS, Array, constant, run, ui8
from support.tables import table_test
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, f64, i1, i8

from passline.dialects.relax.elementwise import binary as ops
from passline.dialects.relax.types import Element

NUMPY: dict[type[ops.BinaryOp], Callable[[Array, Array], Array]] = {
    ops.AddOp: np.add,
    ops.SubtractOp: np.subtract,
    ops.MultiplyOp: np.multiply,
    ops.MaximumOp: np.maximum,
    ops.MinimumOp: np.minimum,
    ops.FloorDivideOp: np.floor_divide,
    ops.ModOp: np.fmod,
    ops.FloorModOp: np.mod,
    ops.EqualOp: np.equal,
    ops.NotEqualOp: np.not_equal,
    ops.LessOp: np.less,
    ops.LessEqualOp: np.less_equal,
    ops.GreaterOp: np.greater,
    ops.GreaterEqualOp: np.greater_equal,
}


@table_test("op", NUMPY)
def test_broadcasts(op: type[ops.BinaryOp]):
    for element in ELEMENTS:
        x, y = constant([[0, 1, 2], [5, -3, 100]], element), constant([7, 1, 90], element)
        result = run(op(x, y))
        np.testing.assert_array_equal(result, NUMPY[op](run(x), run(y)), strict=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_division_by_zero_does_not_warn(element: Element):
    x, zero = constant([-1, 0, 1, 1000], element), constant(0, element)
    assert [str(v) for v in run(ops.DivideOp(x, zero))] == ["-inf", "nan", "inf", "inf"]
    assert [str(v) for v in run(ops.FloorDivideOp(x, zero))] == ["-inf", "nan", "inf", "inf"]
    assert np.isnan(run(ops.ModOp(x, zero))).all() and np.isnan(run(ops.FloorModOp(x, zero))).all()
    assert run(ops.PowerOp(zero, x))[0] == math.inf


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
def test_nan(element: Element):
    x, y = (
        constant([math.nan, 1.0, math.nan], element),
        constant([1.0, math.nan, math.nan], element),
    )
    for op in (ops.MaximumOp, ops.MinimumOp):
        assert np.isnan(run(op(x, y))).all()
    for op in (ops.EqualOp, ops.LessOp, ops.LessEqualOp, ops.GreaterOp, ops.GreaterEqualOp):
        assert not run(op(x, y)).any()
    assert run(ops.NotEqualOp(x, y)).all()


def test_remainders_of_floats():
    x, y = constant([5.5, -5.5, 5.5, -5.5, 1.0], f64), constant([2.0, 2.0, -2.0, -2.0, 0.1], f64)
    assert run(ops.ModOp(x, y)).tolist() == [1.5, -1.5, 1.5, -1.5, math.fmod(1.0, 0.1)]
    assert run(ops.FloorModOp(x, y)).tolist() == [1.5, 0.5, -0.5, -1.5, 1.0 % 0.1]
    assert run(ops.FloorDivideOp(x, y)).tolist() == [2, -3, -3, 2, 9]


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_atan2_and_log_add_exp(element: Element):
    x, y = constant([1.0, -1.0, 0.0, 20.0], element), constant([1.0, -2.0, -1.0, 19.0], element)
    pairs = list(zip(run(x).tolist(), run(y).tolist(), strict=True))
    close = 4 * float(np.finfo(run(x).dtype).eps)
    angles = [math.atan2(a, b) for a, b in pairs]
    np.testing.assert_allclose(run(ops.Atan2Op(x, y)), angles, rtol=close)
    sums = [math.log(math.exp(a) + math.exp(b)) for a, b in pairs]
    np.testing.assert_allclose(run(ops.LogAddExpOp(x, y)), sums, rtol=close)


def test_log_add_exp_does_not_overflow():
    x = constant([1000.0, -math.inf], f32)
    expected = np.array([1000 + math.log(2), -math.inf], np.float32)
    np.testing.assert_array_equal(run(ops.LogAddExpOp(x, x)), expected)


@table_test("element", FLOATS)
def test_powers_of_one_half(element: Element):
    """They are those of IEEE 754 `pow`, of which a square root differs for -inf and -0."""
    for exponent in [0.5, [0.5], [0.5] * 6, [[0.5], [0.5]]]:
        x = constant([-math.inf, -0.0, 0.0, math.inf, -4, 4], element)
        powers = run(ops.PowerOp(x, constant(exponent, element)))
        expected = np.broadcast_to([math.inf, 0, 0, math.inf, math.nan, 2], powers.shape)
        np.testing.assert_array_equal(powers, expected)
        assert not np.signbit(powers[powers == 0]).any()


# Integers


WIDTHS = [IntegerType(w, s) for w in (1, 3, 4, 8, 13, 32, 64) for s in Signedness]


def wrap(value: int, type: IntegerType) -> int:
    """Return the value wrapped to the width of the type; i1 has no sign bit."""
    width = type.bitwidth
    value %= 1 << width
    signed = type.signedness.data is not Signedness.UNSIGNED and type != i1
    return value - (1 << width) if signed and value >= 1 << width - 1 else value


def c_divide(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def c_mod(a: int, b: int) -> int:
    return a - c_divide(a, b) * b if b else 0


def c_power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


INTEGER: dict[type[ops.BinaryOp], Callable[[int, int], int]] = {
    ops.AddOp: operator.add,
    ops.SubtractOp: operator.sub,
    ops.MultiplyOp: operator.mul,
    ops.DivideOp: c_divide,
    ops.FloorDivideOp: lambda a, b: a // b if b else 0,
    ops.ModOp: c_mod,
    ops.FloorModOp: lambda a, b: a % b if b else 0,
    ops.MaximumOp: max,
    ops.MinimumOp: min,
    ops.PowerOp: c_power,
    ops.BitwiseAndOp: lambda a, b: a & b,
    ops.BitwiseOrOp: lambda a, b: a | b,
    ops.BitwiseXorOp: lambda a, b: a ^ b,
    # By a number below 0 all bits are moved out, as by a great one.
    ops.LeftShiftOp: lambda a, b: a << min(b, 64) if b >= 0 else 0,
    ops.RightShiftOp: lambda a, b: a >> (b if b >= 0 else 64),
}
COMPARISON: dict[type[ops.BinaryOp], Callable[[int, int], bool]] = {
    ops.EqualOp: operator.eq,
    ops.NotEqualOp: operator.ne,
    ops.LessOp: operator.lt,
    ops.LessEqualOp: operator.le,
    ops.GreaterOp: operator.gt,
    ops.GreaterEqualOp: operator.ge,
}


@pytest.mark.parametrize("op", INTEGER)
@given(st.sampled_from(WIDTHS), st.integers(), st.integers(-(2**6), 2**6))
def test_integers_wrap_around(op: type[ops.BinaryOp], type: IntegerType, a: int, b: int):
    a, b = wrap(a, type), wrap(b, type)
    result = run(op(integers([a], type), integers([b], type)))
    assert int(result[0]) == wrap(INTEGER[op](a, b), type)


@pytest.mark.parametrize("op", COMPARISON)
@given(st.sampled_from(WIDTHS), st.integers(), st.integers())
def test_comparison_of_integers(op: type[ops.BinaryOp], type: IntegerType, a: int, b: int):
    a, b = wrap(a, type), wrap(b, type)
    result = run(op(integers([a], type), integers([b], type)))
    assert result.dtype == np.bool_
    assert bool(result[0]) == COMPARISON[op](a, b)


def integers(values: list[int], type: IntegerType):
    dtype = np.uint64 if type.signedness.data is Signedness.UNSIGNED or type == i1 else np.int64
    return constant(np.array(values, dtype), type)


def test_integer_division_truncates():
    x, y = constant([7, -7, 7, -7, 5, -128], i8), constant([2, 2, -2, -2, 0, -1], i8)
    assert run(ops.DivideOp(x, y)).tolist() == [3, -3, -3, 3, 0, -128]
    assert run(ops.FloorDivideOp(x, y)).tolist() == [3, -4, -4, 3, 0, -128]
    assert run(ops.ModOp(x, y)).tolist() == [1, -1, 1, -1, 0, 0]
    assert run(ops.FloorModOp(x, y)).tolist() == [1, 1, -1, -1, 0, 0]


def test_shifts_by_the_width_and_more():
    x, y = constant([-5, 5, -5, 5], i8), constant([8, 100, -1, -128], i8)
    assert run(ops.LeftShiftOp(x, y)).tolist() == [0, 0, 0, 0]
    assert run(ops.RightShiftOp(x, y)).tolist() == [-1, 0, -1, 0]
    assert run(ops.RightShiftOp(constant([255], ui8), constant([8], ui8))).tolist() == [0]


def test_logic():
    x, y = constant([[False], [True]], i1), constant([False, True], i1)
    assert run(ops.LogicalAndOp(x, y)).tolist() == [[False, False], [False, True]]
    assert run(ops.LogicalOrOp(x, y)).tolist() == [[False, True], [True, True]]
    assert run(ops.LogicalXorOp(x, y)).tolist() == [[False, True], [True, False]]
    assert run(ops.LessOp(x, y)).tolist() == [[False, True], [False, False]]
