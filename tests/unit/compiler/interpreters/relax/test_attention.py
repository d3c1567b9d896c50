"""The semantics of attention, with its formula for each query as the oracle."""

from __future__ import annotations

from math import exp, inf, sqrt

import numpy as np
import pytest
from support.operations.evaluation import Array, constant, run
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1

from passline.dialects.relax.contraction.attention import AttentionOp
from passline.dialects.relax.types import Element

FLOATS = pytest.mark.parametrize(
    ("element", "tolerance"), [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-5), (f64, 1e-12)], ids=str
)


def numbers(*shape: int, seed: int = 0) -> Array:
    """Numbers that f16 and bf16 have."""
    return np.random.default_rng(seed).integers(-8, 9, shape) / 4.0


def expected(query: Array, key: Array, value: Array, scale: float, scores: Array) -> Array:
    """Return attention, with `scores` added to the scaled products."""
    batch, rows, heads, _ = query.shape
    group = heads // key.shape[2]
    result = np.zeros((batch, rows, heads, value.shape[3]))
    for n in range(batch):
        for row in range(rows):
            for head in range(heads):
                kv = head // group
                products = key[n, :, kv] @ query[n, row, head] * scale + scores[n, head, row]
                powers = [exp(product - max(products)) for product in products]
                weighted = sum(p * v for p, v in zip(powers, value[n, :, kv], strict=True))
                result[n, row, head] = weighted / sum(powers)
    return result


def operands(kv_heads: int = 4) -> tuple[Array, Array, Array]:
    return (
        numbers(2, 3, 4, 8),
        numbers(2, 5, kv_heads, 8, seed=1),
        numbers(2, 5, kv_heads, 6, seed=2),
    )


@FLOATS
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_heads(kv_heads: int, element: Element, tolerance: float):
    arrays = operands(kv_heads)
    result = run(AttentionOp(*(constant(array, element) for array in arrays)))
    wanted = expected(*arrays, 1 / sqrt(8), np.zeros((2, 4, 3, 5)))
    np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


@FLOATS
@pytest.mark.parametrize("shape", [(), (5,), (3, 1), (4, 3, 5), (2, 1, 1, 5)], ids=str)
def test_bias(shape: tuple[int, ...], element: Element, tolerance: float):
    arrays, bias = operands(), numbers(*shape, seed=3)
    parts = [constant(array, element) for array in (*arrays, bias)]
    result = run(AttentionOp(*parts, scale=0.25))
    wanted = expected(*arrays, 0.25, np.broadcast_to(bias, (2, 4, 3, 5)))
    np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def test_a_condition_replaces_scores():
    arrays = operands()
    seen = numbers(2, 1, 3, 5, seed=4) > -1
    parts = [constant(array, f64) for array in arrays]
    for value in (-inf, -1e9):
        result = run(AttentionOp(*parts, constant(seen, i1), masked_value=value))
        scores = np.broadcast_to(np.where(seen, 0, -inf), (2, 4, 3, 5))
        np.testing.assert_allclose(result, expected(*arrays, 1 / sqrt(8), scores), 1e-12)
    # Where all are replaced by one number, the values have the same weights.
    none = constant(np.zeros((1, 1), bool), i1)
    result = run(AttentionOp(*parts, none, masked_value=-1e9))
    mean = arrays[2].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(result, np.broadcast_to(mean, result.shape), 1e-12)
    assert np.isnan(run(AttentionOp(*parts, none))).all()


def test_weights_that_are_nan_give_zeros():
    arrays = operands()
    arrays[0][0, 1] = np.nan
    seen = np.ones((2, 1, 3, 5), bool)
    seen[1, :, 2] = False
    parts = [constant(array, f64) for array in arrays], constant(seen, i1)
    given, zeros = (run(AttentionOp(*parts[0], parts[1], nan_to_zero=n)) for n in (False, True))
    nan = np.zeros((2, 3, 4, 6), bool)
    nan[0, 1] = nan[1, 2] = True
    np.testing.assert_array_equal(np.isnan(given), nan)
    np.testing.assert_array_equal(zeros, np.where(nan, 0, given))


@pytest.mark.parametrize(("causal", "past"), [("TopLeft", 0), ("BottomRight", 2)])
def test_causal(causal: str, past: int):
    arrays = operands()
    result = run(AttentionOp(*(constant(array, f64) for array in arrays), causal_mask=causal))
    scores = np.where(np.tri(3, 5, past), 0, -inf)
    wanted = expected(*arrays, 1 / sqrt(8), np.broadcast_to(scores, (2, 4, 3, 5)))
    np.testing.assert_allclose(result, wanted, 1e-12)


def test_f16_scores_do_not_overflow():
    large = constant(np.full((1, 2, 1, 64), 100.0), f16)
    result = run(AttentionOp(large, large, large, scale=1.0))
    np.testing.assert_array_equal(result, np.full((1, 2, 1, 64), 100.0))


@pytest.mark.parametrize("shapes", [((0, 2, 1, 3), (0, 4, 1, 3)), ((1, 2, 0, 3), (1, 4, 0, 3))])
def test_without_elements(shapes: tuple[tuple[int, ...], tuple[int, ...]]):
    query, key = (constant(np.zeros(shape), f32) for shape in shapes)
    assert run(AttentionOp(query, key, key)).shape == shapes[0]


def test_without_keys_the_result_is_zero():
    query, key = constant(np.ones((1, 2, 1, 3)), f32), constant(np.ones((1, 0, 1, 3)), f32)
    np.testing.assert_array_equal(run(AttentionOp(query, key, key)), np.zeros((1, 2, 1, 3)))
