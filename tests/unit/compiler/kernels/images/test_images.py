"""Kernels of operations on images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.images import IMAGE
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax import images as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 1e-2, f32: 1e-5, f64: 1e-12}


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 40, shape)


def tensor(*shape: int):
    return constant(numbers(*shape), f32)


@pytest.mark.parametrize("mode", [m for m in ops.COORDINATES if m != "tf_crop_and_resize"])
@pytest.mark.parametrize("size", [(3,), (8,), (7,), (1,)], ids=str)
def test_coordinates(mode: str, size: tuple[int]):
    properties: dict[str, Any] = {"size": size, "coordinate_transformation_mode": mode}
    data = tensor(1, 2, 4)
    check_kernel(ops.Resize1dOp(data, **properties), 1e-5, 1e-4)
    properties["method"] = "nearest_neighbor"
    for rounding in ops.ROUNDINGS:
        check_kernel(ops.Resize1dOp(data, **properties, rounding_method=rounding))


@pytest.mark.parametrize("method", ops.METHODS)
def test_crop(method: str):
    for size in ((5, 6), (1, 3)):
        properties: dict[str, Any] = {"size": size, "roi": (-0.2, 0.3, 0.8, 1.3)}
        properties["coordinate_transformation_mode"] = "tf_crop_and_resize"
        resize = ops.Resize2dOp(
            tensor(1, 1, 4, 5), **properties, extrapolation_value=3.0, method=method
        )
        check_kernel(resize, 1e-5, 1e-4)


@pytest.mark.parametrize("method", ops.METHODS)
@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"antialias": True},
        {"cubic_exclude": 1, "cubic_alpha": -0.5},
        {"scales": (0.7, 1.4)},
        {"scales": (0.7, 1.4), "coordinate_transformation_mode": "half_pixel_symmetric"},
    ],
    ids=str,
)
def test_methods(method: str, properties: dict[str, Any]):
    resize = ops.Resize2dOp(tensor(1, 2, 5, 4), size=(3, 5), method=method, **properties)
    check_kernel(resize, 1e-5, 1e-4)


def test_ranks_and_layouts():
    check_kernel(ops.Resize3dOp(tensor(1, 1, 2, 2, 3), size=(3, 2, 4)), 1e-5, 1e-4)
    check_kernel(ops.Resize2dOp(tensor(1, 3, 2, 2), size=(4, 4), layout="NHWC"), 1e-5, 1e-4)
    check_kernel(ops.Resize2dOp(tensor(1, 1, 3, 2, 2), size=(4, 4), layout="NCHW2c"), 1e-5, 1e-4)


@pytest.mark.parametrize("element", [f16, bf16, f32, f64, i1, i8, i32], ids=str)
@pytest.mark.parametrize("method", ops.METHODS)
def test_elements(element: Element, method: str):
    array = numbers(1, 1, 3, 4)
    data = constant(array if element in CLOSE else np.rint(array * 3).astype(int), element)
    close = CLOSE.get(element, 0)
    check_kernel(ops.Resize2dOp(data, size=(4, 7), method=method), close, 40 * close)


@pytest.mark.parametrize("method", ops.UpsamplingOp.METHODS)
@pytest.mark.parametrize("corners", [False, True])
def test_upsampling(method: str, corners: bool):
    properties: dict[str, Any] = {"method": method, "align_corners": corners}
    data = tensor(1, 2, 3, 4)
    check_kernel(ops.UpsamplingOp(data, scale_h=2.0, scale_w=3.0, **properties), 1e-5, 1e-4)
    check_kernel(ops.UpsamplingOp(data, scale_h=1.5, scale_w=0.5, **properties), 1e-5, 1e-4)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NCHW2c"])
def test_blocks(layout: str):
    pixels = {"NCHW": (2, 2, 4, 6), "NHWC": (2, 4, 6, 2), "NCHW2c": (2, 1, 4, 6, 2)}[layout]
    check_kernel(ops.SpaceToDepthOp(tensor(*pixels), block_size=2, layout=layout))
    depth = {"NCHW": (2, 8, 2, 3), "NHWC": (2, 2, 3, 8), "NCHW2c": (2, 4, 2, 3, 2)}[layout]
    for mode in ops.DepthToSpaceOp.MODES:
        check_kernel(ops.DepthToSpaceOp(tensor(*depth), block_size=2, layout=layout, mode=mode))


@needs_native
def test_machine_code():
    cases: dict[str, Operation] = {}
    for method in ops.METHODS:
        for element in (f16, f32, f64, i1, i8, i32):
            array = numbers(1, 1, 3, 4)
            data = constant(array if element in CLOSE else np.rint(array * 3).astype(int), element)
            cases[f"{method} of {element}"] = ops.Resize2dOp(data, size=(4, 7), method=method)
        for mode in ops.COORDINATES[:-1]:
            cases[f"{method} {mode}"] = ops.Resize1dOp(
                tensor(1, 2, 4), size=(7,), method=method, coordinate_transformation_mode=mode
            )
    cases["antialias"] = ops.Resize2dOp(tensor(1, 2, 5, 4), size=(3, 5), antialias=True)
    cases["upsampling"] = ops.UpsamplingOp(tensor(1, 2, 3, 4), scale_h=2.0, method="bilinear")
    cases["space_to_depth"] = ops.SpaceToDepthOp(tensor(2, 2, 4, 6), block_size=2)
    cases["depth_to_space"] = ops.DepthToSpaceOp(tensor(2, 8, 2, 3), block_size=2)
    check_machine_code(cases, 1e-3, 4e-2)


def test_all_are_defined():
    assert {*IMAGE} <= {*RELAX}
