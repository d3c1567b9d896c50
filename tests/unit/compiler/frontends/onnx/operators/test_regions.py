"""Regions of interest, places of maxima and unique elements, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.models.from_text import Array
from support.models.single_node import Attributes, check
from support.pairs import pairs

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compare(op: str, *inputs: Array, **named: Any):
    check(op, *inputs, domain="", **named)


ROIS = np.array([[0, 0, 9, 9], [2, 1, 5.5, 8], [-3, -2, 4, 20], [3, 3, 3, 3]], np.float32)


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("mode", ["half_pixel", "output_half_pixel"])
def test_roi_align(mode: str, ratio: int):
    inputs = floats(2, 3, 10, 12), ROIS, np.array([0, 1, 1, 0])
    given: Attributes = {"output_height": 3, "output_width": 2, "sampling_ratio": ratio}
    given["coordinate_transformation_mode"] = mode
    unknown = {0: (1, 2, 3), 1: (0,), 2: (0,)}
    compare("RoiAlign", *inputs, opset=16, unknown=unknown, spatial_scale=0.7, **given)


@pairs(
    mode=["linear", "nearest", "cubic"], padding=["zeros", "border", "reflection"], corners=[0, 1]
)
def test_grid_sample(mode: str, padding: str, corners: int):
    given: Attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
    for size in (4, 5), (1, 3):
        inputs = floats(2, 3, *size), 3 * floats(2, 4, 6, 2)
        unknown = {0: (0, 1, 2, 3), 1: (0, 1, 2)}
        compare("GridSample", *inputs, opset=20, unknown=unknown, **given)


def test_max_roi_pool():
    rois = np.concatenate([np.array([[0], [1], [1], [0]], np.float32), ROIS], axis=1)
    inputs, unknown = (floats(2, 3, 10, 12), rois), {0: (1, 2, 3), 1: (0,)}
    compare("MaxRoiPool", *inputs, unknown=unknown, pooled_shape=[3, 2], spatial_scale=0.7)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((2, 2, 9), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
        ((1, 2, 7, 8), {"kernel_shape": [2, 3], "dilations": [2, 1], "pads": [1, 0, 0, 1]}),
        ((1, 2, 7, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        ((1, 1, 5, 4, 6), {"kernel_shape": [2, 2, 2], "strides": [2, 1, 2]}),
    ],
)
def test_places_of_maxima(shape: tuple[int, ...], attributes: Attributes, order: int):
    compare("MaxPool", floats(*shape), outputs=2, storage_order=order, **attributes)
    if not order and "auto_pad" not in attributes:
        compare("MaxPool", floats(*shape), outputs=2, unknown={0: range(len(shape))}, **attributes)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("axis", [{}, {"axis": 0}, {"axis": 1}])
def test_unique(axis: Attributes, order: int):
    x = RANDOM.integers(0, 2, (6, 3)).astype(np.float32)
    compare("Unique", x, outputs=4, sorted=order, unknown={0: (axis.get("axis", 0),)}, **axis)


def test_unique_long_slices():
    x = RANDOM.integers(0, 2, (9, 1)) + np.zeros((1, 20))
    x[3, 17:] += 1
    compare("Unique", x.astype(np.float32), outputs=4, axis=0)


def test_identity_of_unknown_size():
    for k in -1, 0, 2:
        compare("EyeLike", floats(3, 5), unknown={0: (0, 1)}, k=k)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_determinant(size: int):
    x = floats(3, size, size)
    x[0] = 0
    compare("Det", x, tolerance=1e-4)
    compare("Det", np.eye(4, dtype=np.float32)[[2, 0, 3, 1]])


def test_sums_of_overlapping_blocks():
    sizes = np.array([6, 7]), np.array([2, 3])
    given: Attributes = {"strides": [2, 1], "pads": [0, 1, 0, 1], "dilations": [1, 2]}
    for unknown in {0: (0,)}, {0: (0, 1, 2)}:
        compare(
            "Col2Im",
            floats(2, 12, 15),
            *sizes,
            opset=18,
            constants=(1, 2),
            unknown=unknown,
            **given,
        )
