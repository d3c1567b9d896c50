"""The other operators of com.microsoft, beside onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import check, ours, single_node

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def integers(*values: object) -> Array:
    return np.array(values, np.int32)


@pytest.mark.parametrize("shape", [(4, 4), (2, 4, 4), (1, 1), (2, 3, 5, 5)])
def test_inverse(shape: tuple[int, ...]):
    check("Inverse", floats(*shape), tolerance=2e-4)


def test_inverse_of_a_matrix_with_a_zero_pivot():
    check("Inverse", np.array([[0, 2], [1, 0]], np.float32))


@pytest.mark.parametrize("axis", [1, -1])
def test_expand_dims(axis: int):
    check("ExpandDims", floats(2, 3), np.array(axis, np.int32), constants=[1])


def test_range():
    check("Range", np.array(1.0, np.float32), np.array(5.0, np.float32))
    check("Range", np.array(1), np.array(9), np.array(3), constants=[0, 1, 2])


def test_trilu():
    check("Trilu", floats(2, 4, 4))
    check("Trilu", floats(2, 4, 4), np.array(1), upper=0)


def test_pad():
    pads = np.array([0, 1, 1, 0])
    check("Pad", floats(2, 3), pads)
    check("Pad", floats(2, 3), pads, np.array([2], np.float32), constants=[1, 2])
    check("Pad", floats(4, 3), pads, mode="reflect", constants=[1])


def test_grid_sample():
    x, grid = floats(1, 2, 4, 4), floats(1, 3, 3, 2)
    check("GridSample", x, grid)
    check("GridSample", x, grid, mode="bicubic", padding_mode="border", align_corners=1)


def test_gather_nd():
    check("GatherND", floats(2, 3, 4), np.array([[0, 1], [1, 2]]))


def test_unique():
    check("Unique", np.array([3, 1, 1, 2, 3, 5], np.float32), outputs=3)


def test_unfold_tensor():
    check("UnfoldTensor", floats(2, 7, 3), dim=1, size=3, step=2)
    check("UnfoldTensor", floats(2, 7), size=2)


def test_is_all_finite():
    for x, expected in (([1, 2], True), ([1, np.inf], False), ([np.nan, 1], False)):
        inputs = [floats(3), np.array(x, np.float32)]
        (result,) = ours(single_node("IsAllFinite", inputs), inputs)
        assert result == expected


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_c_dist(metric: str):
    check("CDist", floats(3, 4), floats(5, 4), metric=metric)


def test_sample_op():
    check("SampleOp", floats(3))


@pytest.mark.parametrize("size", [1, 3, 6])
def test_n_gram_repeat_block(size: int):
    words = np.array([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]])
    check("NGramRepeatBlock", words, floats(2, 6), ngram_size=size)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(4, 3), (1, 3)])
def test_crop_and_resize(mode: str, size: tuple[int, int]):
    rois = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [-0.2, 0, 0.5, 1.5]], np.float32)
    inputs = floats(2, 3, 6, 5), rois, integers(0, 1, 1), integers(*size)
    check("CropAndResize", *inputs, constants=[3], mode=mode, extrapolation_value=0.5)
