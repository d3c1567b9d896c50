"""Kernels of scans compute what the operations do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import constant, i4
from support.operations.legalized import check_kernel
from support.pairs import pairs
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i64

from passline.compiler.kernels.reduction.scan import SCAN
from passline.dialects.relax.reduction import scan as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 1e-6, f64: 1e-14}
ELEMENTS: list[Element] = [*CLOSE, i1, i4, i8, i64]


@pairs(op=SCAN, axis=[None, 0, 1, -1], exclusive=[False, True], reverse=[False, True])
def test_axes(op: type[ops.CumulativeOp], axis: int | None, exclusive: bool, reverse: bool):
    x = constant(np.arange(12).reshape(2, 3, 2) % 5 - 2, f32)
    check_kernel(op(x, axis=axis, exclusive=exclusive, reverse=reverse), 1e-6)


@pairs(op=SCAN, element=ELEMENTS, exclusive=[False, True])
def test_elements(op: type[ops.CumulativeOp], element: Element, exclusive: bool):
    x = constant(np.arange(12).reshape(2, 6) % 5 - 2, element)
    check_kernel(op(x, axis=1, exclusive=exclusive), CLOSE.get(element, 0))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2), (1,), (3, 1)], ids=str)
def test_shapes(shape: tuple[int, ...]):
    for exclusive in (False, True):
        check_kernel(ops.CumsumOp(constant(np.ones(shape), f32), axis=0, exclusive=exclusive))


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v4"])
@pytest.mark.parametrize("shape", [(4, 70), (2, 3, 5, 7), (3, 17, 1)], ids=str)
def test_adjacent_columns(shape: tuple[int, ...], target: str):
    x = constant(np.random.default_rng(0).normal(0, 1, shape), f32)
    for axis in range(len(shape)):
        check_kernel(ops.CumsumOp(x, axis=axis, reverse=True), 1e-6, 1e-6, target)
        check_kernel(ops.CumsumOp(x, axis=axis, exclusive=True), 1e-6, 1e-6, target)


def test_sums_of_f16_are_f32():
    check_kernel(ops.CumsumOp(constant([2048.0, 1.0, 1.0, 1.0, 1.0], f16), axis=0))
