"""Convolutions and matrix products of com.microsoft, beside onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, check, ours, single_node
from support.tables import table_test

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


ACTIVATIONS: list[tuple[str, list[float]]] = [
    ("Relu", []),
    ("Tanh", []),
    ("Sigmoid", []),
    ("LeakyRelu", [0.1]),
    ("Clip", [0.0, 0.5]),
    ("HardSigmoid", [0.3, 0.4]),
]


@table_test("activation, parameters", ACTIVATIONS)
def test_fused_conv(activation: str, parameters: list[float]):
    given: Attributes = {"activation_params": parameters} if parameters else {}
    check(
        "FusedConv",
        floats(1, 2, 6, 6),
        floats(3, 2, 3, 3),
        floats(3),
        activation=activation,
        pads=[1, 1, 1, 1],
        **given,
    )


@pytest.mark.parametrize("bias", [None, floats(3)])
def test_fused_conv_with_a_sum(bias: Array | None):
    x, weight, z = floats(1, 2, 6, 6), floats(3, 2, 3, 3), floats(1, 3, 4, 4)
    check("FusedConv", x, weight, bias, z, activation="Relu")


@pytest.mark.parametrize("op", ["NhwcConv", "NhwcFusedConv"])
def test_conv_of_channels_last(op: str):
    x, weight, bias = floats(1, 2, 6, 5), floats(4, 1, 3, 3), floats(4)
    plain = single_node("Conv", [x, weight, bias], domain="", group=2, strides=[2, 1])
    inputs = [x.transpose(0, 2, 3, 1), weight, bias]
    (expected,), (actual,) = (
        ours(plain, [x, weight, bias]),
        ours(single_node(op, inputs, group=2, strides=[2, 1]), inputs),
    )
    np.testing.assert_allclose(actual, expected.transpose(0, 2, 3, 1), 1e-5, 1e-6)


def test_conv_transpose_with_pads():
    x, weight, pads = floats(1, 2, 5, 5), floats(2, 3, 3, 3), np.array([1, 0, 1, 1])
    check("ConvTransposeWithDynamicPads", x, weight, pads, constants=[2], strides=[2, 2])
    check("ConvTransposeWithDynamicPads", x, weight, pads, floats(3), constants=[2])


@pytest.mark.parametrize(
    ("shapes", "attributes"),
    [
        (((3, 4), (4, 5)), {"alpha": 0.5}),
        (((2, 4, 3), (2, 5, 4)), {"transA": 1, "transB": 1}),
        (((3, 2, 4), (2, 4, 5)), {"transBatchA": 1}),
        (((3, 2, 6, 4), (5, 2, 6, 4)), {"transBatchA": 1, "transBatchB": 1, "transB": 1}),
        (((4, 2, 6, 3), (2, 6, 4, 5)), {"transBatchA": 1, "transA": 1}),
    ],
)
def test_fused_matmul(shapes: tuple[tuple[int, ...], ...], attributes: Attributes):
    check("FusedMatMul", *(floats(*shape) for shape in shapes), **attributes)


def test_transpose_matmul():
    check("TransposeMatMul", floats(4, 3), floats(4, 5), transA=1, alpha=2.0)


def test_fused_gemm():
    a, c = floats(4, 3), floats(5)
    check("FusedGemm", a, floats(3, 5), c, activation="Relu")
    check("FusedGemm", a, floats(3, 5), activation="Tanh")
    check(
        "FusedGemm",
        a,
        floats(5, 3),
        c,
        transB=1,
        alpha=0.5,
        beta=2.0,
        activation="LeakyRelu",
        activation_alpha=0.2,
    )
