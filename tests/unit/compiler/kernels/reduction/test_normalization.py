"""Kernels of normalizations compute what the operations do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.operations.evaluation import Array, constant
from support.operations.legalized import check_kernel
from support.pairs import pairs
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Operation

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.reduction import normalization as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 2e-3, bf16: 2e-2, f32: 1e-6, f64: 1e-14}
BOTH = [True, False]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


def operands(shape: tuple[int, ...], axes: Sequence[int], element: Element) -> list[ConstantOp]:
    """Return data, and for its axes a factor and an addend."""
    sizes = [shape[axis] for axis in axes]
    arrays = numbers(*shape), numbers(*sizes), numbers(*sizes) + 1
    return [constant(array, element) for array in arrays]


def check(op: Operation, element: Element) -> None:
    check_kernel(op, CLOSE[element], 8 * CLOSE[element])


@pairs(axis=[0, -1], element=CLOSE, center=BOTH, scale=BOTH)
def test_batch_norm(axis: int, element: Element, center: bool, scale: bool):
    x, gamma, beta = operands(shape := (2, 4, 3), [axis], element)
    mean = constant(numbers(shape[axis]) + 2, element)
    variance = constant(np.arange(shape[axis]) + 0.5, element)
    op = ops.BatchNormOp(x, gamma, beta, mean, variance, axis=axis, center=center, scale=scale)
    check(op, element)


@pairs(axes=[[-1], [2, 0], []], element=CLOSE, center=BOTH, scale=BOTH)
def test_layer_norm(axes: list[int], element: Element, center: bool, scale: bool):
    values = operands((2, 4, 3), axes, element)
    check(ops.LayerNormOp(*values, axes=axes, center=center, scale=scale, epsilon=0.01), element)


@pairs(axis=[1, -1], element=CLOSE, center=BOTH, scale=BOTH)
def test_instance_norm(axis: int, element: Element, center: bool, scale: bool):
    values = operands((2, 3, 2, 4), [axis], element)
    check(ops.InstanceNormOp(*values, axis=axis, center=center, scale=scale, epsilon=0.01), element)


GROUPS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 4, 3), {"num_groups": 2, "channel_axis": 1, "axes": [2]}),
    ((2, 4, 3), {"num_groups": 1, "channel_axis": 1, "axes": [2]}),
    ((2, 4, 3), {"num_groups": 4, "channel_axis": 1, "axes": [2]}),
    ((2, 3, 4), {"num_groups": 2, "channel_axis": -1, "axes": [1]}),
    ((2, 2, 4, 2), {"num_groups": 2, "channel_axis": 2, "axes": [3, 1]}),
]


@pairs(groups=GROUPS, element=CLOSE, center=BOTH, scale=BOTH)
def test_group_norm(
    groups: tuple[tuple[int, ...], dict[str, Any]], element: Element, center: bool, scale: bool
):
    shape, properties = groups
    values = operands(shape, [properties["channel_axis"]], element)
    op = ops.GroupNormOp(*values, **properties, center=center, scale=scale, epsilon=0.01)
    check(op, element)


@pytest.mark.parametrize("axes", [[-1], [1, 2], [2, 0]], ids=str)
def test_rms_norm(axes: list[int]):
    for element, close in CLOSE.items():
        x, weight, _ = operands((2, 4, 3), axes, element)
        check_kernel(ops.RMSNormOp(x, weight, axes=axes, epsilon=0.01), close)


@pytest.mark.parametrize("axes", [[-1], [1, 2], [0], []], ids=str)
def test_l2_normalize(axes: list[int]):
    for element, close in CLOSE.items():
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


@pytest.mark.parametrize(
    ("axis", "size", "beta"),
    [(0, 1, 0.5), (1, 2, 0.75), (-1, 5, 1.0), (1, 9, 2.5), (0, 3, 0.75), (-2, 3, 0.6)],
)
def test_lrn(axis: int, size: int, beta: float):
    for element, close in CLOSE.items():
        x = constant(numbers(2, 4, 3), element)
        check_kernel(ops.LRNOp(x, size=size, axis=axis, alpha=0.3, beta=beta, bias=1.5), close)
