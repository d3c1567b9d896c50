"""GroupQueryAttention, beside onnxruntime: prompts, and further tokens with a cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, by_onnxruntime, check, ours, single_node
from support.pairs import pairs

RANDOM = np.random.default_rng(0)
BATCH, LENGTH, HEADS, GROUPS, SIZE = 2, 4, 4, 2, 16
OP = "GroupQueryAttention"
UNKNOWN: dict[int, Sequence[int]] = {0: (0, 1), 1: (0, 1), 2: (0, 1), 5: (0,)}
WITH_CACHE: dict[int, Sequence[int]] = {**UNKNOWN, 3: (0, 2), 4: (0, 2)}


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def parts(batch: int, length: int) -> list[Array]:
    return [floats(batch, length, heads * SIZE) for heads in (HEADS, GROUPS, GROUPS)]


def total(length: int) -> Array:
    return np.array(length, np.int32)


PROMPT, LENGTHS = parts(BATCH, LENGTH), np.array([3, 3], np.int32)
COS, SIN = floats(16, SIZE // 2), floats(16, SIZE // 2)


def compare(*inputs: Array | None, unknown: dict[int, Sequence[int]] = UNKNOWN, **named: int):
    attributes: Attributes = {**named}
    for constants, axes in (((), unknown), ((6,), None)):
        check(
            OP,
            *inputs,
            outputs=3,
            unknown=axes,
            constants=constants,
            num_heads=HEADS,
            kv_num_heads=GROUPS,
            **attributes,
        )


def test_a_prompt():
    compare(*PROMPT, None, None, LENGTHS, total(LENGTH))
    empty = floats(BATCH, GROUPS, 0, SIZE)
    compare(*PROMPT, empty, empty, LENGTHS, total(LENGTH), unknown=WITH_CACHE)


def test_query_key_and_value_in_one():
    packed = np.concatenate(PROMPT, axis=2)
    compare(packed, None, None, None, None, LENGTHS, total(LENGTH), unknown={0: (0, 1)})


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding_of_a_prompt(interleaved: int):
    inputs = [*PROMPT, None, None, LENGTHS, total(LENGTH), COS, SIN]
    compare(*inputs, do_rotary=1, rotary_interleaved=interleaved)


@pytest.mark.parametrize("attribute", ["local_window_size", "smooth_softmax", "causal"])
def test_attributes(attribute: str):
    given: Attributes = {attribute: {"local_window_size": 2, "smooth_softmax": 1}.get(attribute, 0)}
    compare(*PROMPT, None, None, LENGTHS, total(LENGTH), **given)


def test_scale_and_cap():
    inputs = [*PROMPT, None, None, LENGTHS, total(LENGTH)]
    given: Attributes = {"num_heads": HEADS, "kv_num_heads": GROUPS, "scale": 0.3, "softcap": 2.0}
    check(OP, *inputs, outputs=3, **given)


def test_bias_and_sink():
    inputs = [*PROMPT, None, None, LENGTHS, total(LENGTH), None, None, None]
    compare(*inputs, floats(BATCH, HEADS, LENGTH, LENGTH))
    compare(*inputs, None, floats(HEADS))


@pairs(capacity=[5, 12], lengths=[(5, 5), (5, 3)], rotary=[0, 1])
def test_one_more_token(capacity: int, lengths: tuple[int, int], rotary: int):
    cache = [floats(BATCH, GROUPS, capacity, SIZE) for _ in range(2)]
    inputs = [*parts(BATCH, 1), *cache, np.array(lengths, np.int32), total(6), COS, SIN]
    compare(*inputs, do_rotary=rotary, unknown=WITH_CACHE)
    compare(*inputs, None, floats(BATCH, 1, 1, 6), do_rotary=rotary, unknown=WITH_CACHE)


def test_several_more_tokens():
    cache = [floats(1, GROUPS, 3, SIZE) for _ in range(2)]
    inputs = [*parts(1, LENGTH), *cache, np.array([6], np.int32), total(7), COS, SIN]
    compare(*inputs, do_rotary=1, unknown=WITH_CACHE)
    places = np.array([[3, 4, 5, 6]])
    compare(*inputs, places, do_rotary=1, local_window_size=3, unknown=WITH_CACHE)


def test_a_prompt_that_is_padded():
    inputs = [*PROMPT, None, None, np.array([3, 1], np.int32), total(LENGTH)]
    model = single_node(OP, inputs, 3, num_heads=HEADS, kv_num_heads=GROUPS)
    for actual, expected in zip(ours(model, inputs), by_onnxruntime(model, inputs), strict=True):
        # What is computed for the padding of the second prompt is not defined.
        rows = [(0, slice(None)), (1, slice(2))]
        for batch, length in rows:
            index = (batch, length) if actual.ndim == 3 else (batch, slice(None), length)
            np.testing.assert_allclose(actual[index], expected[index], 2e-5, 2e-5)
