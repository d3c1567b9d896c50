"""Normalizations of com.microsoft, beside onnxruntime; where it has no CPU kernel, beside their
definition."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, check, ours, single_node

RANDOM = np.random.default_rng(0)
UNKNOWN = {0: (0, 1), 1: (0, 1)}


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_skip_layer_normalization():
    x, gamma = floats(2, 3, 4), floats(4)
    check("SkipLayerNormalization", x, floats(2, 3, 4), gamma, unknown=UNKNOWN)
    check("SkipLayerNormalization", x, floats(1, 3, 4), gamma, floats(4))
    check("SkipLayerNormalization", x, floats(3, 4), gamma, None, floats(4))
    check(
        "SkipLayerNormalization",
        x,
        floats(2, 3, 4),
        gamma,
        floats(4),
        floats(4),
        outputs=[True, False, False, True],
        epsilon=0.1,
        unknown=UNKNOWN,
    )


def test_skip_simplified_layer_normalization():
    x, skip, gamma = floats(2, 3, 4), floats(2, 3, 4), floats(4)
    check("SkipSimplifiedLayerNormalization", x, skip, gamma, unknown=UNKNOWN)
    outputs = [True, False, False, True]
    check("SkipSimplifiedLayerNormalization", x, skip, gamma, floats(4), outputs=outputs)


def test_layer_normalization_before_opset_17():
    x = floats(2, 3, 4)
    check("LayerNormalization", x, floats(4), floats(4), domain="", opset=11, unknown={0: (0, 1)})
    check("LayerNormalization", x, floats(4), domain="", opset=11, outputs=3)
    check("SimplifiedLayerNormalization", x, floats(4), domain="", unknown={0: (0, 1)})
    check("SimplifiedLayerNormalization", x, floats(3, 4), domain="", axis=1, outputs=2)


def test_embed_layer_normalization():
    words = np.array([[1, 0, 2], [3, 1, 1]], np.int32)
    segments = np.array([[0, 1, 1], [0, 0, 1]], np.int32)
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    table, places, types, gamma, beta = (floats(n, 4) for n in (5, 6, 2, 1, 1))
    tables = table, places, types, gamma[0], beta[0]
    unknown = {0: (0, 1), 1: (0, 1), 7: (0, 1)}
    op = "EmbedLayerNormalization"
    check(op, words, segments, *tables, mask, outputs=3, unknown=unknown)
    check(op, words, None, table, places, None, gamma[0], beta[0], outputs=2)
    positions = np.array([[2, 1, 0]], np.int32)
    check(op, words, segments, *tables, None, positions, outputs=2, epsilon=0.1)


@pytest.mark.parametrize("activation", [0, 1])
def test_group_norm(activation: int):
    x, skip, gamma, beta = floats(2, 3, 5, 4), floats(2, 4), floats(4), floats(4)

    def expected(x: Array) -> Array:
        groups = x.reshape(2, 15, 2, 2)
        mean, variance = (f(groups, axis=(1, 3), keepdims=True) for f in (np.mean, np.var))
        y = ((groups - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape) * gamma + beta
        return y / (1 + np.exp(-y)) if activation else y

    attributes: Attributes = {"groups": 2, "activation": activation}
    inputs = [x, gamma, beta]
    (actual,) = ours(single_node("GroupNorm", inputs, **attributes), inputs)
    np.testing.assert_allclose(actual, expected(x), 1e-4, 1e-5)
    first = [x.transpose(0, 3, 1, 2), gamma, beta]
    (actual,) = ours(single_node("GroupNorm", first, channels_last=0, **attributes), first)
    np.testing.assert_allclose(actual, expected(x).transpose(0, 3, 1, 2), 1e-4, 1e-5)
    inputs = [x, gamma, beta, skip, floats(4)]
    y, total = ours(single_node("SkipGroupNorm", inputs, 2, **attributes), inputs)
    np.testing.assert_allclose(total, x + skip[:, None, None] + inputs[4], 1e-6)
    np.testing.assert_allclose(y, expected(total), 1e-4, 1e-5)
