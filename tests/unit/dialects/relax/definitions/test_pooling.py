"""Kernels of pooling."""

from __future__ import annotations

from typing import Any

import pytest
from evaluation import i4
from legalizing import assert_same, random
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32

from passline.dialects.relax import pooling as ops
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.definitions import DEFINITIONS
from passline.dialects.relax.semantics.pooling import POOLING
from passline.dialects.relax.types import Element

ELEMENTS: list[Element] = [f16, bf16, f32, f64, i1, i4, i8, i32]
TOLERANCE = {f16: 1e-3, bf16: 1e-2, f32: 1e-5, f64: 1e-12}

WINDOWS: dict[str, dict[str, Any]] = {
    "plain": {"pool_size": (2, 2), "strides": (2, 2)},
    "overlapping": {"pool_size": (3, 3)},
    "padded": {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)},
    "before": {"pool_size": (2, 3), "padding": (1, 2, 0, 0)},
    "after": {"pool_size": (2, 3), "padding": (0, 0, 1, 2), "strides": (1, 3)},
    "ceil": {"pool_size": (3, 3), "strides": (2, 2), "ceil_mode": True},
    "ceil, padded": {"pool_size": (2, 2), "strides": (3, 2), "padding": (1, 1), "ceil_mode": True},
    "dilated": {"pool_size": (2, 3), "dilation": (3, 2), "padding": (1, 2)},
    "padding alone": {"pool_size": (1, 2), "padding": (2, 3)},
    "large": {"pool_size": (5, 7), "padding": (2, 3), "strides": (2, 1)},
    "one element": {"pool_size": (1, 1), "strides": (2, 3)},
    "all": {"pool_size": (6, 7)},
}


@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_windows(windows: dict[str, Any]) -> None:
    data = (random(f32, 1, 2, 6, 7), f32)
    assert_same(ops.MaxPool2dOp, data, **windows)
    for include in (False, True):
        assert_same(ops.AvgPool2dOp, data, **windows, count_include_pad=include, rtol=1e-5)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements(element: Element) -> None:
    data = (random(element, 2, 1, 5, 4), element)
    rtol = TOLERANCE.get(element, 0)
    windows = WINDOWS["padded"]
    assert_same(ops.MaxPool2dOp, data, **windows)
    assert_same(ops.AvgPool2dOp, data, **windows, rtol=rtol)
    assert_same(ops.AvgPool2dOp, data, **windows, count_include_pad=True, rtol=rtol)
    for size in ((1, 1), (2, 3), (5, 4)):
        assert_same(ops.AdaptiveMaxPool2dOp, data, output_size=size)
        assert_same(ops.AdaptiveAvgPool2dOp, data, output_size=size, rtol=rtol)


@pytest.mark.parametrize("shape, suffix", [((2, 3, 8), "1d"), ((1, 2, 4, 3, 5), "3d")])
def test_ranks(shape: tuple[int, ...], suffix: str) -> None:
    data = (random(f32, *shape), f32)
    rank = len(shape) - 2
    windows: dict[str, Any] = {
        "pool_size": (3,) * rank,
        "padding": (1,) * rank,
        "strides": (2,) * rank,
    }
    max_pool: type[TensorOp] = getattr(ops, f"MaxPool{suffix}Op")
    avg_pool: type[TensorOp] = getattr(ops, f"AvgPool{suffix}Op")
    adaptive_max: type[TensorOp] = getattr(ops, f"AdaptiveMaxPool{suffix}Op")
    adaptive_avg: type[TensorOp] = getattr(ops, f"AdaptiveAvgPool{suffix}Op")
    assert_same(max_pool, data, **windows)
    assert_same(avg_pool, data, **windows, rtol=1e-5)
    assert_same(adaptive_max, data, output_size=(2,) * rank)
    assert_same(adaptive_avg, data, output_size=(2,) * rank, rtol=1e-5)


@pytest.mark.parametrize(
    "layout, shape",
    [
        ("NHWC", (2, 5, 6, 3)),
        ("NCHW2c", (1, 2, 5, 6, 2)),
        ("HWNC", (5, 6, 1, 2)),
        ("NCHW2w", (1, 2, 5, 3, 2)),
    ],
)
def test_layouts(layout: str, shape: tuple[int, ...]) -> None:
    data = (random(f32, *shape), f32)
    windows = {"pool_size": (3, 3), "padding": (1, 1), "layout": layout}
    assert_same(ops.MaxPool2dOp, data, **windows)
    assert_same(ops.MaxPool2dOp, data, **windows, out_layout="NHWC")
    assert_same(ops.AvgPool2dOp, data, **windows, rtol=1e-5)
    if layout != "NCHW2w":
        assert_same(ops.GlobalMaxPool2dOp, data, layout=layout)
        assert_same(ops.GlobalAvgPool2dOp, data, layout=layout, rtol=1e-5)
    assert_same(ops.AdaptiveAvgPool2dOp, data, output_size=(3, 4), layout=layout, rtol=1e-5)


def test_lanes() -> None:
    """Windows next to each other, in vectors."""
    data = (random(f32, 1, 2, 5, 11), f32)
    for lanes in (4, 8):
        options = f"{{lanes={lanes}}}"
        assert_same(
            ops.MaxPool2dOp, data, pool_size=(3, 3), strides=(2, 1), padding=(1, 1), options=options
        )


def test_all_are_defined() -> None:
    assert {*POOLING} <= {*DEFINITIONS}
