"""Kernels of functions of one tensor compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, constant, i4
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64

from passline.compiler.kernels.elementwise.unary import UNARY
from passline.dialects.relax.elementwise import unary as ops
from passline.dialects.relax.types import Element

BITS = (ops.BitwiseNotOp, ops.LogicalNotOp)
FLOAT = [op for op in UNARY if issubclass(op, ops.FloatUnaryOp | ops.FloatPredicateOp)]
NUMBERS = [op for op in UNARY if op not in (*FLOAT, *BITS)]

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 2e-6, f64: 1e-12}
VALUES = [0.0, -0.0, 0.25, -0.5, 0.5, 1.5, 2.5, -2.5, 3.75, -1e-3, 1.0, -1.0, 11.0, -60.0]
SPECIAL = [math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("op", [*NUMBERS, *FLOAT])
def test_floats(op: type[ops.UnaryOp]):
    for element in [*FLOATS, bf16]:
        x = constant([VALUES + SPECIAL], element)
        check_kernel(op(x), CLOSE[element])


@pytest.mark.parametrize("op", [*NUMBERS, ops.BitwiseNotOp])
def test_integers(op: type[ops.UnaryOp]):
    for element in [i1, i4, i8, i16, i32, i64]:
        width = element.bitwidth
        check_kernel(op(constant([[0, 1, 2, 7, -1, -3, -5, -1 << width - 1]], element)))


def test_logical_not():
    check_kernel(ops.LogicalNotOp(constant([True, False], i1)))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (17,), (3, 1, 2)], ids=str)
def test_shapes(shape: tuple[int, ...]):
    check_kernel(ops.ExpOp(constant(np.ones(shape), f32)), 1e-6)
