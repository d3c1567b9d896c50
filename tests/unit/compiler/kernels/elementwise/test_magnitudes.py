"""Bounds of the numbers that a kernel computes."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i8, i32
from xdsl.ir import Block, SSAValue

from passline.compiler.kernels.elementwise.elementwise import DEPTH, magnitude

BYTE, WORD, REAL = Block(arg_types=[i8, i32, f32]).args


def wide(value: SSAValue = BYTE) -> SSAValue:
    return arith.ExtSIOp(value, i32).result


def real(value: SSAValue) -> SSAValue:
    return arith.SIToFPOp(value, f32).result


def number(value: float) -> SSAValue:
    return arith.ConstantOp(FloatAttr(value, f32)).result


def test_types():
    assert magnitude(BYTE) == 2**8
    assert magnitude(real(WORD)) == 2**32
    assert magnitude(REAL) == inf


def test_arithmetic():
    ten = arith.ConstantOp(IntegerAttr(-10, i32)).result
    assert magnitude(arith.AddiOp(wide(), ten).result) == 266
    assert magnitude(arith.MuliOp(wide(), ten).result) == 2560
    product = arith.MulfOp(real(wide()), number(-2.0)).result
    assert 512 <= magnitude(product) <= 513
    assert 513 <= magnitude(math.RoundEvenOp(product).result) <= 514
    assert 768 <= magnitude(arith.AddfOp(product, real(wide())).result) <= 770
    either = arith.SelectOp(Block(arg_types=[i8]).args[0], product, number(1000.0)).result
    assert magnitude(either) == 1000


@pytest.mark.parametrize("integer", [2**31 - 1, 2**24 + 3, -1, 0])
def test_integers_are_rounded_to_floats(integer: int):
    """A bound below what a float is lets a conversion back to an integer overflow."""
    constant = arith.ConstantOp(IntegerAttr(integer, i32)).result
    bound, exact = magnitude(real(constant)), abs(float(np.float32(integer)))
    assert exact <= bound <= 1.001 * exact


def test_integers_wrap_around():
    square = arith.MuliOp(WORD, WORD).result
    assert magnitude(square) == 2**32


@pytest.mark.parametrize("value", [inf, -inf, float("nan")])
def test_what_may_be_no_number_has_no_bound(value: float):
    for other in (number(0.0), real(BYTE), REAL):
        assert magnitude(arith.MulfOp(number(value), other).result) == inf


def test_long_expressions_are_not_followed_to_their_end():
    value = number(1.0)
    for _ in range(DEPTH + 1):
        value = arith.MulfOp(value, number(1.0)).result
    assert magnitude(value) == inf
