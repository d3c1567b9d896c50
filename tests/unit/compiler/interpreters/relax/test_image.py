"""The semantics of operations on images, with ONNX's formulas as the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import Array, constant, run, ui8
from support.tables import table_test
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, f64, i8, i32

from passline.dialects.relax.data.manipulation import LayoutTransformOp
from passline.dialects.relax.images import (
    COORDINATES,
    DepthToSpaceOp,
    Resize1dOp,
    Resize2dOp,
    Resize3dOp,
    ResizeOp,
    SpaceToDepthOp,
    UpsamplingOp,
)
from passline.dialects.relax.types import Element


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).integers(0, 50, shape)


# One element of one dimension, as ONNX says


def place(mode: str, x: int, n: int, size: int, scale: float, roi: tuple[float, float]) -> float:
    """The coordinate in a dimension of `n` elements of element `x` of one of `size`."""
    start, end = roi
    match mode:
        case "half_pixel":
            return (x + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return n / 2 * (1 - size / (n * scale)) + (x + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (x + 0.5) / scale - 0.5 if size > 1 else 0
        case "tf_half_pixel_for_nn":
            return (x + 0.5) / scale
        case "align_corners":
            return x * (n - 1) / (n * scale - 1) if size > 1 else 0
        case "asymmetric":
            return x / scale
        case _ if size > 1:
            return start * (n - 1) + x * (end - start) * (n - 1) / (n * scale - 1)
        case _:
            return 0.5 * (start + end) * (n - 1)


def linear(values: list[float], x: float) -> float:
    """The value at a place, on the line between the elements beside it."""
    last = len(values) - 1
    x = min(max(x, 0), last)
    low = math.floor(x)
    return values[low] + (x - low) * (values[min(low + 1, last)] - values[low])


def keys(x: float, a: float) -> float:
    """Keys' kernel of cubic convolution."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def cubic(values: list[float], x: float, a: float = -0.75, exclude: bool = False) -> float:
    """The value at a place, by the four elements around it."""
    total = weight = 0.0
    for i in range(math.floor(x) - 1, math.floor(x) + 3):
        if 0 <= i < len(values) or not exclude:
            total += keys(x - i, a) * values[min(max(i, 0), len(values) - 1)]
            weight += keys(x - i, a)
    return total / weight


def filtered(kernel: Callable[[float], float], radius: int) -> Callable[..., float]:
    """A function that weighs all elements by a kernel that is stretched over them (antialias)."""

    def at(values: list[float], x: float, scale: float) -> float:
        shrink = min(scale, 1)
        reach = math.ceil(radius / shrink) + 1
        near = range(math.floor(x) - reach, math.floor(x) + reach + 1)
        weights = [kernel((i - x) * shrink) for i in near]
        inside = [values[min(max(i, 0), len(values) - 1)] for i in near]
        terms = zip(weights, inside, strict=True)
        return sum(w * v for w, v in terms) / sum(weights)

    return at


def resized(x: Array, axis: int, at: Callable[[list[float], int], float], size: int) -> Array:
    """An array resized along one axis; `at` is an element of the result from a line of `x`."""
    return np.apply_along_axis(
        lambda line: np.array([at([*line], i) for i in range(size)]), axis, x.astype(np.float64)
    )


# Resizing


@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize("method", ["linear", "cubic"])
@given(st.integers(1, 6), st.integers(1, 9), st.floats(-0.3, 0.6), st.floats(0.7, 1.3))
def test_interpolation(method: str, mode: str, n: int, size: int, start: float, end: float):
    x = numbers(2, 1, n)
    crop = mode == "tf_crop_and_resize"
    roi = (start, end) if crop else None

    def at(values: list[float], i: int) -> float:
        p = place(mode, i, n, size, size / n, roi or (0, 1))
        if crop and not 0 <= p <= n - 1:
            return 7.0
        return linear(values, p) if method == "linear" else cubic(values, p)

    edges = [place(mode, i, n, size, size / n, roi or (0, 1)) for i in range(size)]
    if crop and any(min(abs(p), abs(p - n + 1)) < 1e-9 for p in edges):
        return
    properties: dict[str, Any] = {"coordinate_transformation_mode": mode, "method": method}
    op = Resize1dOp(constant(x, f64), size=(size,), roi=roi, extrapolation_value=7.0, **properties)
    assert op.result.type == TensorType(f64, (2, 1, size))
    np.testing.assert_allclose(run(op), resized(x, 2, at, size), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("round", [0, 2, 2]),
        ("floor", [0, 1, 2]),
        ("ceil", [1, 2, 3]),
        ("round_prefer_floor", [0, 1, 2]),
        ("round_prefer_ceil", [1, 2, 3]),
    ],
)
def test_nearest_of_ties(rounding: str, expected: list[int]):
    """Coordinates are 0.5, 1.5 and 2.5."""
    x = constant(np.arange(4).reshape(1, 1, 4), i32)
    op = Resize1dOp(
        x,
        size=(3,),
        method="nearest_neighbor",
        coordinate_transformation_mode="tf_crop_and_resize",
        roi=(0.5 / 3, 2.5 / 3),
        rounding_method=rounding,
    )
    assert run(op)[0, 0].tolist() == expected


@table_test(
    "mode, rounding, n, expected",
    [
        ("asymmetric", "floor", 3, [0, 0, 1, 1, 2, 2]),
        ("half_pixel", "round_prefer_floor", 3, [0, 0, 1, 1, 2, 2]),
        ("half_pixel", "ceil", 3, [0, 1, 1, 2, 2, 2]),
        ("align_corners", "round", 3, [0, 0, 1, 1, 2, 2]),
        ("tf_half_pixel_for_nn", "floor", 4, [0, 1, 1, 2, 3, 3]),
        ("asymmetric", "floor", 12, [0, 2, 4, 6, 8, 10]),
    ],
)
def test_nearest(mode: str, rounding: str, n: int, expected: list[int]):
    op = Resize1dOp(
        constant(np.arange(n).reshape(1, 1, n), i8),
        size=(6,),
        method="nearest_neighbor",
        coordinate_transformation_mode=mode,
        rounding_method=rounding,
    )
    assert run(op)[0, 0].tolist() == expected and run(op).dtype == np.int8


@pytest.mark.parametrize("mode", COORDINATES[:-1])
@pytest.mark.parametrize(("n", "scale"), [(4, 0.6), (3, 2.5), (5, 0.75), (3, 1.1)])
def test_scales_that_are_no_quotient_of_sizes(n: int, scale: float, mode: str):
    """ONNX computes coordinates with the scale that it is given."""
    x, size = numbers(1, 1, n), math.floor(n * scale)

    def at(values: list[float], i: int) -> float:
        return linear(values, place(mode, i, n, size, scale, (0, 1)))

    op = Resize1dOp(
        constant(x, f64), size=(size,), scales=(scale,), coordinate_transformation_mode=mode
    )
    np.testing.assert_allclose(run(op), resized(x, 2, at, size), rtol=1e-9)


@pytest.mark.parametrize(("n", "size"), [(8, 3), (7, 2), (4, 6), (5, 1)])
def test_antialias(n: int, size: int):
    x = numbers(1, 1, n)
    kernels: dict[str, tuple[Callable[[float], float], int]] = {
        "linear": (lambda d: max(0, 1 - abs(d)), 1),
        "cubic": (lambda d: keys(d, -0.75), 2),
    }
    for method, (kernel, radius) in kernels.items():
        function = filtered(kernel, radius)

        def at(values: list[float], i: int, function: Callable[..., float] = function) -> float:
            return function(values, (i + 0.5) * n / size - 0.5, size / n)

        op = Resize1dOp(constant(x, f64), size=(size,), method=method, antialias=True)
        np.testing.assert_allclose(run(op), resized(x, 2, at, size), rtol=1e-9, err_msg=method)


@pytest.mark.parametrize("alpha", [-0.5, -0.75])
@pytest.mark.parametrize("exclude", [False, True])
def test_cubic(alpha: float, exclude: bool):
    x = numbers(1, 1, 5)

    def at(values: list[float], i: int) -> float:
        return cubic(values, (i + 0.5) * 5 / 8 - 0.5, alpha, exclude)

    op = Resize1dOp(
        constant(x, f64),
        size=(8,),
        method="cubic",
        cubic_alpha=alpha,
        cubic_exclude=int(exclude),
    )
    np.testing.assert_allclose(run(op), resized(x, 2, at, 8), rtol=1e-9)


@pytest.mark.parametrize(
    ("cls", "extents", "sizes"),
    [(Resize2dOp, (3, 4), (5, 2)), (Resize3dOp, (2, 3, 4), (3, 3, 7))],
)
@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_dimensions_are_resized_one_after_the_other(
    cls: type[ResizeOp], extents: tuple[int, ...], sizes: tuple[int, ...], method: str
):
    x = numbers(2, 2, *extents)
    expected = x
    for axis, (n, size) in enumerate(zip(extents, sizes, strict=True), 2):

        def at(values: list[float], i: int, n: int = n, size: int = size) -> float:
            p = (i + 0.5) * n / size - 0.5
            return linear(values, p) if method == "linear" else cubic(values, p)

        expected = resized(expected, axis, at, size)
    result = run(cls(constant(x, f64), size=sizes, method=method))
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_what_is_outside_in_one_dimension_is_extrapolated():
    x = constant(np.ones((1, 1, 2, 2)), f32)
    op = Resize2dOp(
        x,
        size=(2, 3),
        roi=(0.0, 0.5, 1.0, 1.5),
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=-1.0,
    )
    assert run(op)[0, 0].tolist() == [[1, 1, -1], [1, 1, -1]]


@pytest.mark.parametrize("element", [f16, bf16, f32, i8, ui8], ids=str)
def test_element_types(element: Element):
    """Integers are truncated; what is beyond their range is its end."""
    x = constant([[[0, 100, 100, 3]]], element)
    result = run(Resize1dOp(x, size=(8,)))
    exact = [0, 25, 75, 100, 100, 75.75, 27.25, 3]
    assert result.dtype == run(x).dtype
    if result.dtype.kind in "iu":
        assert result[0, 0].tolist() == [math.trunc(value) for value in exact]
    else:
        np.testing.assert_allclose(result[0, 0], exact, rtol=4e-3)


def test_integers_saturate():
    x = constant([[[0, 255, 255, 0]]], ui8)
    assert run(Resize1dOp(x, size=(16,), method="cubic")).max() == 255
    assert run(Resize1dOp(x, size=(16,), method="cubic")).min() == 0


@pytest.mark.parametrize("layout", ["NHWC", "NCHW2c"])
@pytest.mark.parametrize("method", ["linear", "nearest_neighbor"])
def test_layouts(method: str, layout: str):
    x = constant(numbers(2, 4, 3, 5), f32)
    moved = LayoutTransformOp(x, src_layout="NCHW", dst_layout=layout)
    pairs = [
        (
            Resize2dOp(x, size=(5, 4), method=method),
            Resize2dOp(moved, size=(5, 4), method=method, layout=layout),
        ),
        (UpsamplingOp(x, scale_h=2.0), UpsamplingOp(moved, scale_h=2.0, layout=layout)),
    ]
    for plain, other in pairs:
        expected = run(LayoutTransformOp(plain, src_layout="NCHW", dst_layout=layout))
        np.testing.assert_array_equal(run(other), expected, strict=True)


# Upsampling


def test_upsampling_repeats_pixels():
    x = numbers(1, 2, 3, 4)
    result = run(UpsamplingOp(constant(x, i32), scale_h=2.0, scale_w=3.0))
    np.testing.assert_array_equal(result, x.repeat(2, axis=2).repeat(3, axis=3))


def test_upsampling_interpolates():
    x = constant([[[[0.0, 3.0, 6.0]]]], f32)
    plain = UpsamplingOp(x, scale_w=5 / 3, method="bilinear")
    np.testing.assert_allclose(run(plain)[0, 0, 0], [0, 1.8, 3.6, 5.4, 6], rtol=1e-6)
    corners = UpsamplingOp(x, scale_w=5 / 3, method="bilinear", align_corners=True)
    np.testing.assert_allclose(run(corners)[0, 0, 0], [0, 1.5, 3, 4.5, 6], rtol=1e-6)
    nearest = UpsamplingOp(x, scale_w=5 / 3, align_corners=True)
    assert run(nearest)[0, 0, 0].tolist() == [0, 0, 3, 6, 6]
    expected = [cubic([0, 3, 6], i * 3 / 5, a=-0.5) for i in range(5)]
    result = run(UpsamplingOp(x, scale_w=5 / 3, method="bicubic"))[0, 0, 0]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


# Blocks


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NCHW4c"])
@pytest.mark.parametrize("block", [1, 2])
def test_blocks(block: int, layout: str):
    n, c, h, w = 2, 4 * block * block, 3, 5
    x = numbers(n, c, h, w)
    inner = c // (block * block)
    for mode in ("DCR", "CRD"):
        expected = np.empty((n, inner, h * block, w * block), np.int32)
        for i, j, k in product(range(block), range(block), range(inner)):
            at = i * block + j
            channel = at * inner + k if mode == "DCR" else k * block * block + at
            expected[:, k, i::block, j::block] = x[:, channel]
        data = LayoutTransformOp(constant(x, i32), src_layout="NCHW", dst_layout=layout)
        op = DepthToSpaceOp(data, block_size=block, mode=mode, layout=layout)
        plain = LayoutTransformOp(op, src_layout=layout, dst_layout="NCHW")
        np.testing.assert_array_equal(run(plain), expected, strict=True)
        if mode == "DCR":
            back = SpaceToDepthOp(op, block_size=block, layout=layout)
            np.testing.assert_array_equal(run(back), run(data), strict=True)
