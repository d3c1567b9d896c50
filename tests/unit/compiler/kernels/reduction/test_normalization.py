"""Kernels of normalizations compute what the operations do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operations.evaluation import Array, constant
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64

from passline.compiler.kernels.reduction.normalization import NORMALIZATION
from passline.dialects.relax.reduction import normalization as ops
from passline.dialects.relax.types import Element

FLOATS = [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-6), (f64, 1e-14)]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


every_float = pytest.mark.parametrize(("element", "close"), FLOATS, ids=str)
affine = pytest.mark.parametrize(
    ("center", "scale"), [(True, True), (True, False), (False, True), (False, False)]
)


@every_float
@affine
@pytest.mark.parametrize("axis", [0, -1])
def test_batch_norm(axis: int, center: bool, scale: bool, element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    size = (2, 4, 3)[axis]
    gamma, beta, mean = (constant(numbers(size) + i, element) for i in range(3))
    variance = constant(np.arange(size) + 0.5, element)
    op = ops.BatchNormOp(x, gamma, beta, mean, variance, axis=axis, center=center, scale=scale)
    check_kernel(op, close, 8 * close)


@every_float
@affine
@pytest.mark.parametrize("axes", [[-1], [2, 0], []], ids=str)
def test_layer_norm(axes: list[int], center: bool, scale: bool, element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    sizes = [(2, 4, 3)[axis] for axis in axes]
    gamma, beta = constant(numbers(*sizes), element), constant(numbers(*sizes) + 1, element)
    op = ops.LayerNormOp(x, gamma, beta, axes=axes, center=center, scale=scale, epsilon=0.01)
    check_kernel(op, close, 8 * close)


@every_float
@affine
@pytest.mark.parametrize("axis", [1, -1])
def test_instance_norm(axis: int, center: bool, scale: bool, element: Element, close: float):
    x = constant(numbers(2, 3, 2, 4), element)
    size = (2, 3, 2, 4)[axis]
    gamma, beta = constant(numbers(size), element), constant(numbers(size) + 1, element)
    op = ops.InstanceNormOp(x, gamma, beta, axis=axis, center=center, scale=scale, epsilon=0.01)
    check_kernel(op, close, 8 * close)


@every_float
@affine
@pytest.mark.parametrize(
    ("shape", "groups", "axis", "axes"),
    [
        ((2, 4, 3), 2, 1, [2]),
        ((2, 4, 3), 1, 1, [2]),
        ((2, 4, 3), 4, 1, [2]),
        ((2, 3, 4), 2, -1, [1]),
        ((2, 2, 4, 2), 2, 2, [3, 1]),
    ],
)
def test_group_norm(
    shape: tuple[int, ...],
    groups: int,
    axis: int,
    axes: list[int],
    center: bool,
    scale: bool,
    element: Element,
    close: float,
):
    x, size = constant(numbers(*shape), element), shape[axis]
    gamma, beta = constant(numbers(size), element), constant(numbers(size) + 1, element)
    op = ops.GroupNormOp(
        x,
        gamma,
        beta,
        num_groups=groups,
        channel_axis=axis,
        axes=axes,
        center=center,
        scale=scale,
        epsilon=0.01,
    )
    check_kernel(op, close, 8 * close)


@every_float
@pytest.mark.parametrize("axes", [[-1], [1, 2], [2, 0]], ids=str)
def test_rms_norm(axes: list[int], element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    weight = constant(numbers(*((2, 4, 3)[axis] for axis in axes)), element)
    check_kernel(ops.RMSNormOp(x, weight, axes=axes, epsilon=0.01), close)


@every_float
@pytest.mark.parametrize("axes", [[-1], [1, 2], [0], []], ids=str)
def test_l2_normalize(axes: list[int], element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    check_kernel(ops.L2NormalizeOp(x, eps=0.5, axis=axes), close)
    check_kernel(ops.L2NormalizeOp(x, eps=100.0, axis=axes), close)


def test_long_rows():
    """Lanes have sums of their own."""
    x = constant(numbers(2, 3, 37), f32)
    gamma, beta = constant(numbers(37), f32), constant(numbers(37) + 1, f32)
    check_kernel(ops.LayerNormOp(x, gamma, beta, axes=[-1]), 1e-5, 1e-6)
    check_kernel(ops.RMSNormOp(x, gamma, axes=[-1]), 1e-5)
    check_kernel(ops.L2NormalizeOp(x, eps=0.1, axis=[2, 1]), 1e-5)


def test_of_no_elements():
    none = constant(np.zeros((2, 0)), f32)
    check_kernel(ops.L2NormalizeOp(none, eps=0.5, axis=[1]))
    check_kernel(ops.LRNOp(none, axis=1))


@every_float
@pytest.mark.parametrize(
    ("axis", "size", "beta"),
    [(0, 1, 0.5), (1, 2, 0.75), (-1, 5, 1.0), (1, 9, 2.5), (0, 3, 0.75), (-2, 3, 0.6)],
)
def test_lrn(axis: int, size: int, beta: float, element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    check_kernel(ops.LRNOp(x, size=size, axis=axis, alpha=0.3, beta=beta, bias=1.5), close)


def test_each_has_a_definition():
    assert {getattr(ops, name) for name in ops.__all__} == set(NORMALIZATION)
