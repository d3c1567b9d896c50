"""Activation functions of com.microsoft, beside onnxruntime; where it has no CPU kernel, beside
their definition."""

from __future__ import annotations

from math import erf
from typing import Any

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, check, ours, single_node

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_gelu():
    check("Gelu", floats(3, 4))
    check("BiasGelu", floats(3, 4), floats(4), unknown={0: (0, 1)})
    check("FastGelu", floats(3, 4))
    check("FastGelu", floats(3, 4), floats(4), unknown={0: (0,)})


@pytest.mark.parametrize("attributes", [{}, {"alpha": 1.5}])
def test_quick_gelu(attributes: Attributes):
    check("QuickGelu", floats(3, 4), **attributes)


def compute(op: str, *inputs: Array, **attributes: Any) -> Array:
    (result,) = ours(single_node(op, inputs, **attributes), inputs)
    return result


def gelu(x: Array) -> Array:
    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def test_operators_without_cpu_kernels():
    x, skip, bias = floats(2, 3, 4), floats(2, 3, 4), floats(4)
    np.testing.assert_allclose(compute("BiasAdd", x, bias, skip), x + bias + skip, 1e-6)
    halves = x + bias
    np.testing.assert_allclose(
        compute("BiasSplitGelu", x, bias), halves[..., :2] * gelu(halves[..., 2:]), 1e-4, 1e-5
    )
    np.testing.assert_allclose(compute("BiasDropout", x, bias, skip), x + bias + skip, 1e-6)
    powers = np.exp(x + bias)
    for axis, axes in ((2, 2), (1, (1, 2))):
        np.testing.assert_allclose(
            compute("BiasSoftmax", x, bias, axis=axis, is_inner_broadcast=1),
            powers / powers.sum(axes, keepdims=True),
            1e-5,
        )
    weight = floats(4, 5)
    product = x @ weight
    expected = product * 0.5 * (1 + np.tanh(0.7978845608 * (product + 0.044715 * product**3)))
    np.testing.assert_allclose(compute("GemmFastGelu", x, weight), expected, 1e-4, 1e-5)
