"""The semantics of pooling, with loops over all windows as the oracle."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import Array, constant, i4, run
from support.operations.geometry import Geometry, geometries
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, i1, i8, i32

from passline.dialects.relax.data.manipulation import LayoutTransformOp
from passline.dialects.relax.types import Element
from passline.dialects.relax.windows import (
    AdaptiveAvgPool1dOp,
    AdaptiveAvgPool2dOp,
    AdaptiveAvgPool3dOp,
    AdaptiveMaxPool1dOp,
    AdaptiveMaxPool2dOp,
    AdaptiveMaxPool3dOp,
    AvgPool1dOp,
    AvgPool2dOp,
    AvgPool3dOp,
    AvgPoolOp,
    GlobalAvgPool2dOp,
    GlobalMaxPool2dOp,
    MaxPool1dOp,
    MaxPool2dOp,
    MaxPool3dOp,
    MaxPoolOp,
    SizedPoolOp,
)

MAX: list[type[MaxPoolOp]] = [MaxPool1dOp, MaxPool2dOp, MaxPool3dOp]
AVG: list[type[AvgPoolOp]] = [AvgPool1dOp, AvgPool2dOp, AvgPool3dOp]
ADAPTIVE_MAX: list[type[SizedPoolOp]] = [
    AdaptiveMaxPool1dOp,
    AdaptiveMaxPool2dOp,
    AdaptiveMaxPool3dOp,
]
ADAPTIVE_AVG: list[type[SizedPoolOp]] = [
    AdaptiveAvgPool1dOp,
    AdaptiveAvgPool2dOp,
    AdaptiveAvgPool3dOp,
]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def window_counts(g: Geometry, ceil: bool) -> list[int]:
    """Return the number of windows: those that end within the padding.

    With `ceil` also the next one, unless it begins in the padding after the data.
    """
    counts: list[int] = []
    columns = zip(g.extents, g.before, g.after, g.spans, g.strides, strict=True)
    for extent, before, after, span, stride in columns:
        end = before + extent + after
        if ceil:
            starts = range(0, before + extent, stride)
            counts.append(sum(i == 0 or i - stride + span < end for i in starts))
        else:
            counts.append(sum(i + span <= end for i in range(0, end, stride)))
    return counts


def pool_max(x: Array, g: Geometry, ceil: bool) -> Array:
    result = np.full((*x.shape[:2], *window_counts(g, ceil)), -np.inf, x.dtype)
    for window in product(*map(range, result.shape[2:])):
        values = [x[:, :, *place] for _, place in g.places(window) if g.inside(place)]
        if values:
            result[:, :, *window] = np.max(values, axis=0)
    return result


def pool_mean(x: Array, g: Geometry, ceil: bool, count_include_pad: bool) -> Array:
    result = np.zeros((*x.shape[:2], *window_counts(g, ceil)))
    for window in product(*map(range, result.shape[2:])):
        count = 0
        for _, place in g.places(window):
            if g.inside(place):
                result[:, :, *window] += x[:, :, *place]
            bounds = zip(place, g.extents, g.before, g.after, strict=True)
            padding = count_include_pad and all(-b <= i < n + a for i, n, b, a in bounds)
            count += g.inside(place) or padding
        result[:, :, *window] /= max(count, 1)
    return result


@given(geometries(), st.booleans())
def test_max_pool(g: Geometry, ceil: bool):
    x = numbers(2, 3, *g.extents)
    op = MAX[g.rank - 1](
        constant(x, f32),
        pool_size=g.sizes,
        strides=g.strides,
        padding=g.padding,
        dilation=g.dilation,
        ceil_mode=ceil,
    )
    result = run(op)
    assert op.result.type == TensorType(f32, result.shape)
    np.testing.assert_array_equal(result, pool_max(x, g, ceil), strict=True)


@given(geometries(), st.booleans(), st.booleans())
def test_avg_pool(g: Geometry, ceil: bool, count_include_pad: bool):
    x = numbers(2, 3, *g.extents)
    op = AVG[g.rank - 1](
        constant(x, f32),
        pool_size=g.sizes,
        strides=g.strides,
        padding=g.padding,
        dilation=g.dilation,
        ceil_mode=ceil,
        count_include_pad=count_include_pad,
    )
    result = run(op)
    assert op.result.type == TensorType(f32, result.shape)
    expected = pool_mean(x, g, ceil, count_include_pad)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)


def test_no_window_begins_in_the_padding_after():
    """PyTorch's rule and ONNX's since 19; windows would begin at 0, 2 and 4."""
    x = constant(np.arange(4.0).reshape(1, 1, 4), f32)
    properties: dict[str, Any] = {
        "pool_size": (2,),
        "strides": (2,),
        "padding": (0, 1),
        "ceil_mode": True,
    }
    assert run(MaxPool1dOp(x, **properties)).tolist() == [[[1.0, 3.0]]]


def test_what_is_beyond_the_padding_never_counts():
    x = constant(np.full((1, 1, 4), 6.0), f32)
    properties: dict[str, Any] = {
        "pool_size": (3,),
        "strides": (3,),
        "padding": (1, 0),
        "ceil_mode": True,
    }
    assert run(AvgPool1dOp(x, **properties)).tolist() == [[[6.0, 6.0]]]
    included = AvgPool1dOp(x, **properties, count_include_pad=True)
    assert run(included).tolist() == [[[4.0, 6.0]]]


# Element types


@pytest.mark.parametrize(
    ("element", "least"), [(f16, -math.inf), (bf16, -math.inf), (i8, -128), (i4, -8), (i1, 0)]
)
def test_a_window_of_padding_alone_has_the_least_maximum(element: Element, least: float):
    x = constant(np.zeros((1, 1, 1), np.int64), element)
    assert run(MaxPool1dOp(x, padding=(1, 0)))[0, 0].tolist() == [least, 0]


def test_maxima_of_nan_are_nan():
    x = constant([[[1.0, math.nan, 2.0, 3.0]]], f32)
    result = run(MaxPool1dOp(x, pool_size=(2,)))
    assert np.isnan(result[0, 0]).tolist() == [True, True, False]


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_sums_of_narrow_floats_are_f32(element: Element):
    x = constant(np.full((1, 1, 40, 100), 100.0), element)
    assert run(AvgPool2dOp(x, pool_size=(40, 100)))[0, 0, 0, 0] == 100
    assert run(GlobalAvgPool2dOp(x))[0, 0, 0, 0] == 100


def test_means_of_integers_are_truncated():
    x = constant([[[-100, -105, 100, 105]]], i8)
    assert run(AvgPool1dOp(x, pool_size=(2,), strides=(2,))).tolist() == [[[-102, 102]]]
    assert run(AdaptiveAvgPool1dOp(x, output_size=(2,))).tolist() == [[[-102, 102]]]


# Adaptive and global pooling


@pytest.mark.parametrize(
    ("extents", "sizes"),
    [((7,), (3,)), ((2,), (5,)), ((6, 5), (3, 1)), ((5, 4), (7, 3)), ((3, 4, 5), (2, 4, 3))],
)
def test_adaptive_pooling(extents: tuple[int, ...], sizes: tuple[int, ...]):
    x = numbers(2, 3, *extents)
    maxima = np.empty((2, 3, *sizes), np.float32)
    means = np.empty((2, 3, *sizes), np.float32)
    axes = tuple(range(2, 2 + len(sizes)))
    for index in product(*map(range, sizes)):
        columns = zip(index, extents, sizes, strict=True)
        part: Array = x[
            :, :, *(slice(i * n // k, math.ceil((i + 1) * n / k)) for i, n, k in columns)
        ]
        maxima[:, :, *index] = part.max(axis=axes)
        means[:, :, *index] = part.mean(axis=axes)
    data, rank = constant(x, f32), len(extents)
    result = run(ADAPTIVE_MAX[rank - 1](data, output_size=sizes))
    np.testing.assert_array_equal(result, maxima, strict=True)
    result = run(ADAPTIVE_AVG[rank - 1](data, output_size=sizes))
    np.testing.assert_allclose(result, means, rtol=1e-4, atol=1e-6, strict=True)


def test_global_pooling():
    x = numbers(2, 3, 4, 5)
    maxima, means = x.max(axis=(2, 3), keepdims=True), x.mean(axis=(2, 3), keepdims=True)
    np.testing.assert_array_equal(run(GlobalMaxPool2dOp(constant(x, f32))), maxima, strict=True)
    np.testing.assert_allclose(run(GlobalAvgPool2dOp(constant(x, f32))), means, rtol=1e-5)


# Layouts


@pytest.mark.parametrize("layout", ["NHWC", "NCHW2c", "NHWC4c"])
def test_layouts(layout: str):
    x = constant(np.arange(2 * 4 * 5 * 6).reshape(2, 4, 5, 6), i32)
    moved = LayoutTransformOp(x, src_layout="NCHW", dst_layout=layout)
    properties: dict[str, Any] = {"pool_size": (2, 3), "strides": (1, 2), "padding": (1, 0, 0, 1)}
    for cls in (MaxPool2dOp, AvgPool2dOp):
        plain = cls(x, **properties)
        op = cls(moved, **properties, layout=layout)
        expected = run(LayoutTransformOp(plain, src_layout="NCHW", dst_layout=layout))
        np.testing.assert_array_equal(run(op), expected, strict=True)
        back = cls(moved, **properties, layout=layout, out_layout="NCHW")
        np.testing.assert_array_equal(run(back), run(plain), strict=True)
    expected = run(LayoutTransformOp(GlobalMaxPool2dOp(x), src_layout="NCHW", dst_layout=layout))
    np.testing.assert_array_equal(run(GlobalMaxPool2dOp(moved, layout=layout)), expected)


@pytest.mark.filterwarnings("error")
def test_adaptive_average_of_no_elements_is_nan_without_a_warning():
    data = constant(np.ones((1, 1, 0)), f32)
    with np.errstate(all="ignore"):
        for size in (1, 2):
            result = run(AdaptiveAvgPool1dOp(data, output_size=(size,), layout="NCW"))
            assert result.shape == (1, 1, size) and np.isnan(result).all()


def test_adaptive_maximum_of_no_elements_is_the_least_value():
    data = constant(np.ones((1, 1, 0)), f32)
    for size in (1, 2):
        result = run(AdaptiveMaxPool1dOp(data, output_size=(size,), layout="NCW"))
        np.testing.assert_array_equal(result, np.full((1, 1, size), -np.inf, np.float32))


def test_adaptive_maximum_of_no_batches_is_empty():
    data = constant(np.ones((0, 1, 0)), f32)
    result = run(AdaptiveMaxPool1dOp(data, output_size=(2,), layout="NCW"))
    assert result.shape == (0, 1, 2)
