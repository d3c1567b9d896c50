"""Kernels of functions of two tensors compute what the operations do."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, constant, i4
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64

from passline.compiler.kernels.elementwise.binary import BINARY
from passline.dialects.relax.elementwise import binary as ops
from passline.dialects.relax.types import Element

BITS, LOGIC, ONLY_FLOAT = (
    [op for op in BINARY if issubclass(op, family)]
    for family in (ops.BitwiseOp, ops.LogicalOp, ops.FloatBinaryOp)
)
NUMBERS = [op for op in BINARY if op not in (*BITS, *LOGIC, *ONLY_FLOAT)]
REMAINDERS = (ops.ModOp, ops.FloorModOp, ops.FloorDivideOp)

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 2e-6, f64: 1e-12}
VALUES = [0.0, -0.0, 0.75, -1.0, 2.0, 3.25, -7.5, 100.0, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("op", [*NUMBERS, *ONLY_FLOAT])
def test_floats(op: type[ops.BinaryOp]):
    for element in [*FLOATS, bf16]:
        # Of 0 and -0, either may be the maximum.
        values = VALUES[1:] if op in (ops.MaximumOp, ops.MinimumOp) else VALUES
        lhs, rhs = zip(*product(values, repeat=2), strict=True)
        check_kernel(op(constant(lhs, element), constant(rhs, element)), CLOSE[element])


@pytest.mark.parametrize("op", REMAINDERS)
def test_remainders_are_exact(op: type[ops.BinaryOp]):
    rng = np.random.default_rng(0)
    lhs, rhs = (rng.normal(size=60) * 2.0 ** rng.integers(-149, 127, 60) for _ in range(2))
    check_kernel(op(constant(lhs, f32), constant(rhs, f32)))
    lhs, rhs = rng.integers(-50, 50, 60) / 10, rng.integers(1, 20, 60) / 10
    check_kernel(op(constant(lhs, f32), constant(rhs, f32)))


@pytest.mark.parametrize("op", [ops.ModOp, ops.FloorModOp])
def test_remainders_of_f64_are_exact(op: type[ops.BinaryOp]):
    rng = np.random.default_rng(0)
    lhs, rhs = (rng.normal(size=60) * 2.0 ** rng.integers(-1074, 1022, 60) for _ in range(2))
    check_kernel(op(constant(lhs, f64), constant(rhs, f64)))


@pytest.mark.parametrize("op", [*NUMBERS, *BITS])
def test_integers(op: type[ops.BinaryOp]):
    for element in [i1, i4, i8, i16, i32, i64]:
        low = -1 << element.bitwidth - 1
        values = [0, 1, 2, 3, 7, -1, -2, -5, low, low + 1, low // 2]
        lhs, rhs = zip(*product(values, repeat=2), strict=True)
        check_kernel(op(constant(lhs, element), constant(rhs, element)))


@pytest.mark.parametrize("op", LOGIC)
def test_logic(op: type[ops.BinaryOp]):
    check_kernel(op(constant([[True], [False]], i1), constant([True, False], i1)))


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 6])
def test_known_power(exponent: int):
    for element in (f16, f32, i8):
        x = constant([[-2, -1, 1, 3]], element)
        check_kernel(ops.PowerOp(x, constant(exponent, element)), 1e-3 if element == f16 else 1e-6)


@pytest.mark.parametrize(
    "exponent", [-1, 0, 0.5, 1, 2, 3, [0.5], [0.5] * 8, -math.inf, math.nan], ids=str
)
def test_powers_of_special_numbers(exponent: object):
    for element in [f16, bf16, f32, f64]:
        x = [-math.inf, -0.0, 0.0, math.inf, -4, 4, 1, math.nan]
        check_kernel(ops.PowerOp(constant(x, element), constant(exponent, element)))


@pytest.mark.parametrize("op", [ops.DivideOp, ops.FloorDivideOp, ops.ModOp, ops.FloorModOp])
def test_known_divisor(op: type[ops.BinaryOp]):
    for divisor in [-7, -1, 0, 1, 3]:
        check_kernel(op(constant([-128, -7, -1, 0, 5, 127], i8), constant(divisor, i8)))


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [((), ()), ((2, 3), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)), ((0, 2), (2,))],
    ids=str,
)
def test_broadcasts(lhs: tuple[int, ...], rhs: tuple[int, ...]):
    rng = np.random.default_rng(0)
    check_kernel(
        ops.SubtractOp(constant(rng.normal(size=lhs), f32), constant(rng.normal(size=rhs), f32))
    )
