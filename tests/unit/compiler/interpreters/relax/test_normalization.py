"""The semantics of normalizations, with their formulas in f64 as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import Array, constant, run
from xdsl.dialects.builtin import bf16, f16, f32, f64

from passline.dialects.relax.reduction.normalization import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    LRNOp,
    RMSNormOp,
)
from passline.dialects.relax.types import Element

FLOATS = pytest.mark.parametrize(
    ("element", "tolerance"), [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-5), (f64, 1e-12)], ids=str
)


def numbers(*shape: int, seed: int = 0) -> Array:
    """Numbers that f16 and bf16 have."""
    return np.random.default_rng(seed).integers(1, 9, shape) / 4.0


def normal(x: Array, axes: tuple[int, ...], epsilon: float = 1e-5) -> Array:
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def check(result: Array, expected: Array, tolerance: float):
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@FLOATS
@pytest.mark.parametrize("axis", [1, -1, 0])
def test_batch_norm(axis: int, element: Element, tolerance: float):
    x = numbers(2, 3, 4)
    size, to = x.shape[axis], [-1 if i == axis % 3 else 1 for i in range(3)]
    gamma, beta, mean, var = (numbers(size, seed=seed) for seed in range(1, 5))
    parameters = [constant(p, element) for p in (gamma, beta, mean, var)]
    result = run(BatchNormOp(constant(x, element), *parameters, axis=axis, epsilon=0.125))
    scaled = (x - mean.reshape(to)) / np.sqrt(var.reshape(to) + 0.125)
    assert result.dtype == run(parameters[0]).dtype
    check(result, scaled * gamma.reshape(to) + beta.reshape(to), tolerance)
    plain = BatchNormOp(
        constant(x, element), *parameters, axis=axis, epsilon=0.125, center=False, scale=False
    )
    check(run(plain), scaled, tolerance)


@FLOATS
@pytest.mark.parametrize("axes", [(-1,), (1, 2), (2, 1), (0, -1)])
def test_layer_norm(axes: tuple[int, ...], element: Element, tolerance: float):
    x = numbers(2, 3, 4)
    shape = [x.shape[axis] for axis in axes]
    gamma, beta = numbers(*shape, seed=1), numbers(*shape, seed=2)
    op = LayerNormOp(
        constant(x, element), constant(gamma, element), constant(beta, element), axes=axes
    )
    names = "".join("nxy"[axis] for axis in axes)
    scaled = np.einsum(f"nxy,{names}->nxy", normal(x, axes), gamma)
    shift = np.einsum(f"nxy,{names}->nxy", np.ones_like(x), beta)
    check(run(op), scaled + shift, tolerance)


@FLOATS
@pytest.mark.parametrize("axis", [1, -1])
def test_instance_norm(axis: int, element: Element, tolerance: float):
    x = numbers(2, 3, 4, 5)
    size = x.shape[axis]
    gamma, beta = numbers(size, seed=1), numbers(size, seed=2)
    op = InstanceNormOp(
        constant(x, element), constant(gamma, element), constant(beta, element), axis=axis
    )
    moved = np.moveaxis(x, axis, -1)
    expected = normal(moved, (1, 2)) * gamma + beta
    check(run(op), np.moveaxis(expected, -1, axis), tolerance)


@FLOATS
@pytest.mark.parametrize(("channels", "axes"), [(1, (2, 3)), (-1, (1, 2)), (1, (3,))])
def test_group_norm(channels: int, axes: tuple[int, ...], element: Element, tolerance: float):
    x = numbers(2, 4, 3, 4)
    gamma, beta = numbers(4, seed=1), numbers(4, seed=2)
    op = GroupNormOp(
        constant(x, element),
        constant(gamma, element),
        constant(beta, element),
        num_groups=2,
        channel_axis=channels,
        axes=axes,
    )
    groups = np.split(x, 2, axis=channels)
    parts = [normal(group, (channels, *axes)) for group in groups]
    to = [-1 if i == channels % 4 else 1 for i in range(4)]
    expected = np.concatenate(parts, channels) * gamma.reshape(to) + beta.reshape(to)
    check(run(op), expected, tolerance)


@FLOATS
def test_rms_norm(element: Element, tolerance: float):
    x, weight = numbers(2, 3, 4), numbers(3, 4, seed=1)
    op = RMSNormOp(constant(x, element), constant(weight, element), axes=(1, 2), epsilon=0.125)
    root = np.sqrt((x**2).mean(axis=(1, 2), keepdims=True) + 0.125)
    check(run(op), x / root * weight, tolerance)


@FLOATS
def test_l2_normalize(element: Element, tolerance: float):
    x = numbers(2, 3, 4)
    result = run(L2NormalizeOp(constant(x, element), axis=(1, 2), eps=1e-4))
    check(result, x / np.sqrt((x**2).sum(axis=(1, 2), keepdims=True)), tolerance)
    tiny = run(L2NormalizeOp(constant(np.full(4, 0.125), element), axis=(0,), eps=0.25))
    check(tiny, np.full(4, 0.25), tolerance)


@FLOATS
@pytest.mark.parametrize("size", [1, 2, 3, 6, 20])
@pytest.mark.parametrize("axis", [1, -2])
def test_lrn(size: int, axis: int, element: Element, tolerance: float):
    """The window of an even size has one more element after than before (ONNX)."""
    x = numbers(2, 5, 3, 2)
    op = LRNOp(constant(x, element), size=size, axis=axis, alpha=0.5, beta=0.75, bias=2.0)
    moved = np.moveaxis(x, axis, 0)
    sums = np.empty_like(moved)
    for i in range(len(moved)):
        least, greatest = i - (size - 1) // 2, i + size // 2
        sums[i] = sum(moved[j] ** 2 for j in range(len(moved)) if least <= j <= greatest)
    expected = moved / (2 + 0.5 / size * sums) ** 0.75
    check(run(op), np.moveaxis(expected, 0, axis), tolerance)


def test_sums_of_f16_are_f32():
    """300 squared overflows f16, and so does a sum of 300."""
    x = constant(np.array([[300.0, -300.0] * 400]), f16)
    one, zero = constant(np.ones(800), f16), constant(np.zeros(800), f16)
    expected = np.array([[1.0, -1.0] * 400])
    np.testing.assert_array_equal(run(LayerNormOp(x, one, zero)), expected)
    np.testing.assert_array_equal(run(RMSNormOp(x, one)), expected)


@pytest.mark.filterwarnings("error")
def test_the_mean_of_no_elements_is_nan_without_a_warning() -> None:
    """numpy warns of it, whatever `errstate` says."""
    none, one = constant(np.ones(0), f32), constant(np.ones(1), f32)
    data = constant(np.ones((2, 0)), f32)
    with np.errstate(all="ignore"):
        assert run(LayerNormOp(data, none, none, axes=(1,))).shape == (2, 0)
        assert run(RMSNormOp(data, none, axes=(1,))).shape == (2, 0)
        data = constant(np.ones((2, 1, 0)), f32)
        assert run(InstanceNormOp(data, one, one, axis=1)).shape == (2, 1, 0)
