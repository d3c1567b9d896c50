"""Kernels of operations that select, limit and convert elements compute what the operations do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.operations.evaluation import FLOATS, constant, i4, ui8
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64

from passline.dialects.relax.elementwise import elementwise as ops
from passline.dialects.relax.types import Element

FLOAT: list[Element] = [*FLOATS, bf16]
INTEGERS: list[Element] = [i1, i4, i8, i16, i32, i64]
LARGE = [2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 1e30, 127.9, 128.0, -128.9, -129.5]
VALUES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 7.9, 3e4, math.nan, math.inf, -math.inf, *LARGE]


@pytest.mark.parametrize("element", [*FLOAT, *INTEGERS], ids=str)
def test_where(element: Element):
    condition = constant([[True], [False]], i1)
    x, y = constant([[1, 0, 3], [0, 1, 2]], element), constant(1, element)
    check_kernel(ops.WhereOp(condition, x, y))
    check_kernel(ops.WhereOp(constant(True, i1), y, x))


@pytest.mark.parametrize("element", [*FLOAT, *INTEGERS], ids=str)
def test_clip(element: Element):
    for low, high in [
        (-1.0, 6.0),
        (0.1, 0.1),
        (2.0, -2.0),
        (-math.inf, 1.5),
        (-1e300, 1e300),
        (1e6, math.inf),
    ]:
        values = VALUES if element in FLOAT else [0, 1, 2, -1, -5, 7, -8]
        check_kernel(ops.ClipOp(constant(values, element), min=low, max=high))


@pytest.mark.parametrize("element", [*FLOAT, *INTEGERS], ids=str)
def test_astype(element: Element):
    for target in [*FLOAT, *INTEGERS]:
        integers = [0, 1, 5, -1, -8, 127, -128, 40000, 16777217, -(2**31), 2**62 + 3]
        integers += [2**25 + 2**17 + 1, -(2**60) - 2**52 - 1]  # nearly ties of bf16
        values = VALUES if element in FLOAT else integers
        check_kernel(ops.AstypeOp(constant(values, element), dtype=target))


@pytest.mark.parametrize(("element", "digits", "least"), [(f16, 11, 2**-24), (bf16, 8, 2.0**-133)])
def test_f64_is_rounded_once(element: Element, digits: int, least: float):
    unit = 2.0**-digits
    ties = np.array([1 + unit, 1 + 3 * unit, least / 2, 65536 - 32768 * unit, least * 1.5])
    near = [ties * (1 + sign * 2.0**-40) for sign in (-1, 0, 1)]
    check_kernel(ops.AstypeOp(constant([*near, -ties], f64), dtype=element))


@pytest.mark.parametrize(
    ("element", "target"),
    [
        (f16, i16),
        (i16, f16),
        (bf16, i16),
        (i16, bf16),
        (f16, bf16),
        (bf16, f16),
        (f32, i32),
        (i32, f32),
        (f64, i64),
        (i64, f64),
        (f32, f32),
        (i8, i8),
    ],
    ids=str,
)
def test_reinterpret(element: Element, target: Element):
    values = [1.5, -2.0, 0.0, 300.0] if element in FLOAT else [0, 1, 0x3C00, 17000, -17000]
    check_kernel(ops.ReinterpretOp(constant(values, element), dtype=target))


def test_integers_with_a_sign_of_their_own():
    for number in (-1.0, 1.7, 255.5, 256.0, float("nan"), float("inf"), float("-inf")):
        check_kernel(ops.AstypeOp(constant([number], f32), dtype=ui8))
    check_kernel(ops.AstypeOp(constant([0, 127, 128, 255], ui8), dtype=f32))
    check_kernel(ops.AstypeOp(constant([0, 127, 128, 255], ui8), dtype=i8))
    check_kernel(ops.AstypeOp(constant([-300, -1, 0, 200, 300], i64), dtype=ui8))
    check_kernel(ops.AstypeOp(constant([0, 255], ui8), dtype=i1))
    check_kernel(ops.ClipOp(constant([0, 1, 200], ui8), min=0.0, max=1.0))
