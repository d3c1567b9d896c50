"""Kernels of quantization, and sums of products of narrow integers."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant, ui8
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import IntegerType, Signedness, f16, f32, i8, i16, i32
from xdsl.ir import Operation

from passline.compiler.kernels.contraction.contraction import EXACT, greatest_sum
from passline.compiler.kernels.elementwise.quantization import QUANTIZATION
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from passline.dialects.relax.elementwise import quantization as ops
from passline.dialects.relax.elementwise.binary import MaximumOp, MinimumOp
from passline.dialects.relax.types import Element

FLOATS = [0.0, 0.5, 1.5, -2.5, 1e9, -1e9, np.inf, -np.inf, np.nan, 127.4, -128.6]


def quantize(zero: int, element: Element, kind: Element = f32) -> Operation:
    data = constant(FLOATS, kind)
    return ops.QuantizeOp(data, constant(0.5, kind), constant(zero, element))


@pytest.mark.parametrize("element", [i8, ui8, i16])
def test_quantize(element: Element):
    check_kernel(quantize(3, element))
    check_kernel(quantize(3, element, f16))
    data = constant([[-7, 5], [2**30, -(2**30)]], i32)
    scale = constant([[0.3], [0.7]], f32)
    check_kernel(ops.RequantizeOp(data, scale, constant(3, element)))
    data = constant([[0, 1], [100, 127]], element)
    check_kernel(ops.DequantizeOp(data, scale, constant(3, element)))


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_requantize_unsigned(bits: int):
    """The greatest number is not -1."""
    element = IntegerType(bits, Signedness.UNSIGNED)
    data, scale = constant([0, 1, 100, 2**bits - 1], element), constant(100 / 2**bits, f32)
    check_kernel(ops.RequantizeOp(data, scale, constant(3, i8)))


def integers(low: int, high: int, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.random.default_rng(0).integers(low, high + 1, shape)


def products() -> dict[str, Operation]:
    """Products of narrow integers: of few terms, which f32 sums up exactly, and of so many that it
    cannot."""
    image, kernel = integers(0, 255, 1, 2, 5, 5), integers(-128, 127, 2, 2, 3, 3)
    depthwise = integers(-128, 127, 2, 1, 3, 3)
    long = np.full((1, 520), 255), np.full((1, 520), 127)
    return {
        "conv": Conv2dOp(constant(image, ui8), constant(kernel, i8), padding=(1, 1), out_dtype=i32),
        "depthwise": Conv2dOp(
            constant(image, ui8), constant(depthwise, i8), groups=2, strides=(2, 2), out_dtype=i32
        ),
        "dense": DenseOp(
            constant(image[0, 0], ui8), constant(integers(-255, 255, 3, 5), i16), out_dtype=i32
        ),
        "matmul": MatmulOp(constant(image[0], ui8), constant(image[0, 0], ui8), out_dtype=i32),
        "long": DenseOp(constant(long[0], ui8), constant(long[1], i8), out_dtype=i32),
    }


def test_products():
    for op in products().values():
        check_kernel(op)


def test_unsigned_extremes():
    data, other = constant([0, 127, 128, 255], ui8), constant([130], ui8)
    check_kernel(MaximumOp(data, other))
    check_kernel(MinimumOp(data, other))


def test_bounds_of_sums():
    rows = np.array([[127, -128], [1, 1]], np.int8)
    assert greatest_sum(ui8, i8, 2, [rows]) == 255 * 128
    assert greatest_sum(i8, i8, 2, [rows]) == 127 * 127 + 128 * 128
    assert greatest_sum(ui8, i8, 2, []) == 2 * 255 * 128
    assert greatest_sum(ui8, i8, 700, [np.full((1, 700), 127)]) > EXACT


@needs_native
def test_machine_code():
    cases = {**products(), **{f"{e}": quantize(3, e) for e in (i8, ui8, i16)}}
    check_machine_code(cases, rtol=0, atol=0)


def test_each_has_a_kernel():
    names = {*ops.__all__} - {"QuantizationOp"}
    assert {getattr(ops, name) for name in names} == set(QUANTIZATION)
