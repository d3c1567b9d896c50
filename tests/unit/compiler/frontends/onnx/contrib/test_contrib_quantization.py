"""Operators of com.microsoft on quantized tensors, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from support.models.from_text import Array, imported
from support.models.single_node import by_onnxruntime, check, ours, single_node
from support.tables import table_test

from passline.compiler.frontends.onnx import UnsupportedModelError

generator = np.random.default_rng(0)


def f(value: float) -> Array:
    return np.array(value, np.float32)


def u(value: int) -> Array:
    return np.array(value, np.uint8)


def integers(*shape: int) -> Array:
    return generator.integers(0, 256, shape, dtype=np.uint8)


def floats(*shape: int) -> Array:
    return generator.standard_normal(shape).astype(np.float32)


X, Y = integers(2, 3, 4, 4), integers(2, 3, 4, 4)
UNARY = (X, f(0.05), u(120), f(0.03), u(7))
BINARY = (X, f(0.05), u(120), Y, f(0.04), u(99), f(0.07), u(128))
# Of 7 bits: without VNNI, onnxruntime's sums of two products saturate in 16 bits.
W = generator.integers(-64, 64, (4, 6), dtype=np.int8)


@table_test(
    "op, inputs, attributes",
    [
        ("QLinearAdd", BINARY, {}),
        ("QLinearMul", BINARY, {}),
        ("QLinearSigmoid", UNARY, {}),
        ("QLinearLeakyRelu", UNARY, {"alpha": 0.2}),
        ("QLinearSoftmax", UNARY, {"axis": 1, "opset": 13}),
        ("QLinearSoftmax", UNARY, {"axis": 1, "opset": 12}),
        ("QLinearAveragePool", UNARY, {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}),
        ("QLinearGlobalAveragePool", UNARY, {}),
        ("QLinearConcat", (f(0.07), u(128), *BINARY[:6]), {"axis": 1}),
        ("QLinearWhere", (np.array([True, False, True, True]), *BINARY), {}),
        ("QGemm", (X[0, 0], f(0.05), u(120), W, f(0.01), np.int8(0)), {}),
        ("MatMulIntegerToFloat", (X[0, 0], W, f(0.05), f(0.01), u(120), np.int8(0), floats(6)), {}),
        ("DynamicQuantizeMatMul", (floats(3, 4), W, f(0.01), np.int8(0), floats(6)), {}),
        ("DequantizeLinear", UNARY[:3], {}),
        ("QuantizeLinear", (floats(2, 5), f(0.03), u(7)), {}),
    ],
)
def test_operator(op: str, inputs: tuple[Array, ...], attributes: dict[str, object]):
    arrays = [np.asarray(array) for array in inputs]
    named = {key: value for key, value in attributes.items() if key != "opset"}
    constants = [i for i, array in enumerate(arrays) if not array.ndim]
    model = single_node(op, arrays, constants=constants, **named)  # pyright: ignore[reportArgumentType]
    if "opset" in attributes:  # a parameter of `single_node`, too
        model.graph.node[0].attribute.append(helper.make_attribute("opset", attributes["opset"]))
    (expected,) = by_onnxruntime(model, arrays)
    (actual,) = ours(model, arrays)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
        return
    steps = np.abs(actual.astype(int) - expected.astype(int))  # onnxruntime's tables round too
    assert steps.max() <= 1 and np.count_nonzero(steps) <= 0.1 * steps.size


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_weights_of_few_bits(bits: int, zeros: bool):
    rows, terms, block = 5, 40, 16
    blocks = -(-terms // block)
    weight = integers(rows, blocks, block * bits // 8)
    points = integers(rows, -(-blocks * bits // 8)) if zeros else None
    inputs = [floats(3, terms), weight, np.abs(floats(rows, blocks)), points]
    inputs = inputs if zeros else inputs[:3]
    constants = (1, 2, 3) if zeros else (1, 2)
    check(
        "MatMulNBits",
        *inputs,
        constants=constants,
        tolerance=1e-3,
        bits=bits,
        block_size=block,
        N=rows,
        K=terms,
    )


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_slices_of_blocks(bits: int, zeros: bool):
    rows, columns, block = 6, 72, 16
    blocks = -(-columns // block)
    data = integers(rows, columns * bits // 8)
    points = integers(rows, -(-blocks * bits // 8)) if zeros else None
    places = np.array([[0, 5, -1], [3, -6, 3], [6, -7, 1 << 40]])  # the last row: two are outside
    check(
        "GatherBlockQuantized",
        *(data, places, np.abs(floats(rows, blocks)), points)[: 3 + zeros],
        constants=(0, 2, 3)[: 2 + zeros],
        unknown={1: (0, 1)},
        bits=bits,
        block_size=block,
    )


@pytest.mark.parametrize("element", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize(("gathered", "blocked"), [(0, 2), (2, 1), (-1, 0), (1, 2)])
def test_slices_of_blocks_along_any_axis(element: type[Any], gathered: int, blocked: int):
    shape = (40, 24, 20)
    scales = [-(-n // 16) if axis == blocked else n for axis, n in enumerate(shape)]
    data, points = (generator.integers(0, 8, s).astype(element) for s in (shape, scales))
    check(
        "GatherBlockQuantized",
        *(data, np.array([3, 0, -2], np.int32), np.abs(floats(*scales)), points),
        constants=(0, 2, 3),
        block_size=16,
        gather_axis=gathered,
        quantize_axis=blocked,
    )


def test_slices_of_blocks_that_are_refused():
    arrays = [integers(4, 16), np.array([0]), floats(4, 1), integers(4, 1)]
    for reason, constants, attributes in (
        ("bits = 3", (0, 2, 3), {"bits": 3}),
        ("gather_axis is quantize_axis", (0, 2, 3), {"gather_axis": 1, "bits": 8}),
        ("the data is not constant", (2, 3), {}),
        ("the zero points are not constant", (0, 2), {}),
    ):
        model = single_node("GatherBlockQuantized", arrays, constants=constants, **attributes)  # pyright: ignore[reportArgumentType]
        with pytest.raises(UnsupportedModelError, match=reason):
            imported(model)


def test_attention():
    weight = generator.integers(-64, 64, (8, 24), dtype=np.int8)
    mask = np.array([[1, 1, 1], [1, 1, 0]], np.int32)
    inputs = [integers(2, 3, 8), weight, floats(24), f(0.02), f(0.01), mask, u(120), np.int8(0)]
    check(
        "QAttention",
        *map(np.asarray, inputs),
        constants=(1, 2, 3, 4, 6, 7),
        tolerance=1e-4,
        num_heads=2,
    )


def test_mean():
    """onnxruntime has the schema of QLinearReduceMean, and no kernel."""
    model = single_node("QLinearReduceMean", UNARY, axes=[1], keepdims=0)
    (actual,) = ours(model, UNARY)
    mean = ((X.astype(np.float32) - 120) * np.float32(0.05)).mean(axis=1)
    np.testing.assert_array_equal(actual, np.clip(np.rint(mean / np.float32(0.03)) + 7, 0, 255))
