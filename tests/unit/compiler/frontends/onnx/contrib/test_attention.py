"""Attention and rotary embeddings of com.microsoft, beside onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, check, ours, single_node

from passline.compiler.frontends.onnx import UnsupportedModelError

RANDOM = np.random.default_rng(0)
BATCH, LENGTH, HEADS, SIZE, PAST, KEYS = 2, 4, 3, 5, 2, 6
WIDTH = HEADS * SIZE


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(*values: object) -> Array:
    return np.array(values, np.int32)


X, WEIGHTS, BIAS = floats(BATCH, LENGTH, 7), floats(7, 3 * WIDTH), floats(3 * WIDTH)

# Attention


@pytest.mark.parametrize("attributes", [{}, {"unidirectional": 1}, {"scale": 0.3}])
def test_attention(attributes: Attributes):
    for bias in (None, BIAS):
        check("Attention", X, WEIGHTS, bias, num_heads=HEADS, unknown={0: (0, 1)}, **attributes)


def test_sizes_of_query_key_and_value():
    sizes = [WIDTH, WIDTH, 6]
    weights, bias = floats(7, sum(sizes)), floats(sum(sizes))
    check("Attention", X, weights, bias, num_heads=HEADS, qkv_hidden_sizes=sizes)


MASKS = {
    "lengths": integers(3, 4),
    "ends and starts": integers(3, 4, 1, 0),
    "keys": integers([1, 1, 0, 0], [1, 1, 1, 1]),
    "no key": integers([0, 0, 0, 0], [1, 1, 1, 1]),
    "queries and keys": (RANDOM.random((BATCH, LENGTH, LENGTH)) > 0.4).astype(np.int32),
}


@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("mask", MASKS)
def test_masks_of_attention(mask: str, unidirectional: int):
    check(
        "Attention",
        X,
        WEIGHTS,
        BIAS,
        MASKS[mask],
        num_heads=HEADS,
        unidirectional=unidirectional,
        unknown={0: (1,)},
    )


def test_filter_value_of_the_mask():
    check("Attention", X, WEIGHTS, BIAS, MASKS["keys"], num_heads=HEADS, mask_filter_value=-5.0)


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_past_of_attention(unidirectional: int):
    past = floats(2, BATCH, HEADS, PAST, SIZE)
    mask = integers([1, 0, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1])
    for given in (None, mask):
        check(
            "Attention",
            X,
            WEIGHTS,
            BIAS,
            given,
            past,
            num_heads=HEADS,
            outputs=2,
            unidirectional=unidirectional,
            unknown={0: (0, 1), 4: (1, 3)},
        )
    check("Attention", X, WEIGHTS, BIAS, None, None, num_heads=HEADS, outputs=2)


@pytest.mark.parametrize("shape", [(BATCH, HEADS), (1, 1), (1, HEADS)])
def test_bias_of_attention(shape: tuple[int, int]):
    bias = floats(*shape, LENGTH, LENGTH)
    check("Attention", X, WEIGHTS, BIAS, MASKS["keys"], None, bias, num_heads=HEADS)


def test_shared_buffers_are_refused():
    inputs = [X, WEIGHTS, BIAS]
    model = single_node("Attention", inputs, num_heads=HEADS, past_present_share_buffer=1)
    with pytest.raises(UnsupportedModelError, match="a buffer that past and present share"):
        ours(model, inputs)


# MultiHeadAttention

QUERY, KEY, VALUE = (
    floats(BATCH, LENGTH, WIDTH),
    floats(BATCH, KEYS, WIDTH),
    floats(BATCH, KEYS, 12),
)
MHA = "MultiHeadAttention"


def test_multi_head_attention():
    unknown = dict.fromkeys(range(3), (0, 1))
    check(MHA, QUERY, KEY, VALUE, num_heads=HEADS, unknown=unknown)
    check(MHA, QUERY, KEY, VALUE, floats(2 * WIDTH + 12), num_heads=HEADS, scale=0.2)
    check(MHA, QUERY, QUERY, QUERY, BIAS, num_heads=HEADS, unidirectional=1)


def test_keys_that_are_heads():
    key, value = floats(BATCH, HEADS, KEYS, SIZE), floats(BATCH, HEADS, KEYS, SIZE)
    check(MHA, QUERY, key, value, num_heads=HEADS)
    check(MHA, QUERY, key, value, BIAS, num_heads=HEADS)


@pytest.mark.parametrize(
    "mask",
    [
        integers(3, 6),
        (RANDOM.random((BATCH, KEYS)) > 0.4).astype(np.int32),
        (RANDOM.random((BATCH, LENGTH, KEYS)) > 0.4).astype(np.int32),
    ],
    ids=["lengths", "keys", "queries and keys"],
)
def test_masks_of_multi_head_attention(mask: Array):
    check(MHA, QUERY, KEY, VALUE, None, mask, num_heads=HEADS)


def test_past_of_multi_head_attention():
    past = [floats(BATCH, HEADS, PAST, SIZE) for _ in range(2)]
    unknown = {0: (0, 1), 1: (0, 1), 2: (0, 1), 6: (0, 2), 7: (0, 2)}
    given: Attributes = {"num_heads": HEADS, "outputs": 3}
    check(MHA, QUERY, QUERY, QUERY, None, None, None, *past, unknown=unknown, **given)
    mask = (RANDOM.random((BATCH, LENGTH + PAST)) > 0.4).astype(np.int32)
    bias = floats(BATCH, HEADS, LENGTH, LENGTH + PAST)
    check(MHA, QUERY, QUERY, QUERY, BIAS, mask, bias, *past, unidirectional=1, **given)


def test_packed_inputs_are_those_of_several():
    parts = [floats(BATCH, LENGTH, HEADS, SIZE) for _ in range(3)]
    flat = [part.reshape(BATCH, LENGTH, WIDTH) for part in parts]
    expected = ours(single_node(MHA, [*flat, BIAS], num_heads=HEADS), [*flat, BIAS])
    forms: list[list[Array | None]] = [
        [np.stack(parts, axis=3), None, None, BIAS],
        [flat[0], np.stack(parts[1:], axis=3), None, BIAS],
    ]
    for inputs in forms:
        actual = ours(single_node(MHA, inputs, num_heads=HEADS), inputs)
        np.testing.assert_allclose(actual[0], expected[0], 1e-5, 1e-6)


# Rotary embeddings

PLACES = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved: int):
    cos, sin, flat = floats(10, 4), floats(10, 4), floats(BATCH, LENGTH, 8 * HEADS)
    unknown = {0: (0, 1), 1: (0, 1)}
    op = "RotaryEmbedding"
    check(op, flat, PLACES, cos, sin, interleaved=interleaved, unknown=unknown)
    check(op, flat, np.array([3]), cos, sin, interleaved=interleaved)
    heads = floats(BATCH, HEADS, LENGTH, 8)
    check(op, heads, PLACES, cos, sin, interleaved=interleaved)
    part: Attributes = {"rotary_embedding_dim": 4, "num_heads": HEADS, "interleaved": interleaved}
    check(op, flat, PLACES, cos[:, :2], sin[:, :2], **part)
    check(op, heads, PLACES, cos[:, :2], sin[:, :2], **part)
