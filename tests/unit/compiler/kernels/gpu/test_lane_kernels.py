"""Kernels whose loops become lanes of tiles: each lane computes an element of the result."""

from __future__ import annotations

import numpy as np
import pytest
from support.gpu.lane_runs import check_operation_in_lanes
from support.gpu.tile_runs import random_array
from support.tables import table_test

from passline.dialects.cuda_tile.memory_ops import AtomicRMWTkoOp
from passline.passmanager.errors import PasslineError

PADDED = "pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]"
NHWC = 'layout = "NHWC"'
OPERATIONS = [
    (f"nn.max_pool2d {{{PADDED}}}", "2x3x9x7", "2x3x5x4", "2x3x?x?"),
    (f"nn.max_pool2d {{{PADDED}, {NHWC}}}", "2x9x7x3", "2x5x4x3", "2x?x?x3"),
    (f"nn.avg_pool2d {{{PADDED}}}", "2x3x9x7", "2x3x5x4", "2x3x?x?"),
    ("nn.max_pool1d {pool_size = [3], padding = [0, 1]}", "2x3x9", "2x3x8", "2x3x?"),
    ("nn.adaptive_avg_pool2d {output_size = [2, 3]}", "2x3x9x7", "2x3x2x3", ""),
    ("nn.pad {pad_width = [0, 0, 1, 2]}", "3x5", "3x8", "?x?"),
    ("nn.lrn {size = 3 : i64}", "2x5x3x4", "2x5x3x4", ""),
    ("image.resize2d {size = [5, 9]}", "1x2x3x4", "1x2x5x9", ""),
    ('image.resize2d {size = [5, 9], method = "cubic"}', "1x2x3x4", "1x2x5x9", ""),
    ("nn.upsampling {scale_h = 2.0 : f64, scale_w = 2.0 : f64}", "1x2x3x4", "1x2x6x8", ""),
    ("transpose {axes = [2, 0, 1]}", "3x5x7", "7x3x5", "?x?x?"),
    ("tile {reps = [2, 3]}", "3x5", "6x15", ""),
    ("repeat {repeats = 2 : i64, axis = 1 : i64}", "3x5", "3x10", ""),
]


@table_test("operation, shape, result, unknown", OPERATIONS)
def test_one_operand(operation: str, shape: str, result: str, unknown: str):
    data = random_array([int(n) for n in shape.split("x")], "f32")
    check_operation_in_lanes(operation, f"{shape}xf32", f"{result}xf32", [data], tolerance=1e-5)
    if unknown:
        types = f"{unknown}xf32", f"{unknown}xf32"
        check_operation_in_lanes(operation, *types, [data], tolerance=1e-5)


def test_a_pool_is_one_entry():
    data = random_array((8, 64, 9, 9), "f16")
    operation = f"nn.max_pool2d {{{PADDED}}}"
    entries = check_operation_in_lanes(operation, "8x64x9x9xf16", "8x64x5x5xf16", [data])
    assert len(entries) == 1


CONVOLUTIONS = [
    ("nn.conv2d {groups = 4 : i64, padding = [1, 1, 1, 1]}", "2x4x9x7", "4x1x3x3", "2x4x9x7"),
    ("nn.conv2d {groups = 4 : i64, strides = [2, 2]}", "2x4x9x7", "8x1x3x3", "2x8x4x3"),
    (
        'nn.conv2d {groups = 4 : i64, padding = [1, 1, 1, 1], data_layout = "NHWC", '
        'kernel_layout = "HWIO"}',
        "2x9x7x4",
        "3x3x1x4",
        "2x9x7x4",
    ),
    ("nn.conv1d {groups = 4 : i64, dilation = [2]}", "2x4x9", "4x1x3", "2x4x5"),
]


@pytest.mark.parametrize("element", ["f32", "f16"])
@table_test("operation, data, weight, result", CONVOLUTIONS)
def test_depthwise_convolutions(operation: str, data: str, weight: str, result: str, element: str):
    shapes = [[int(n) for n in text.split("x")] for text in (data, weight)]
    arrays = [random_array(shape, element) for shape in shapes]
    types = f"{data}x{element} {weight}x{element}"
    tolerance = 1e-5 if element == "f32" else 4e-3
    check_operation_in_lanes(operation, types, f"{result}x{element}", arrays, tolerance)


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenation_is_one_entry(axis: int):
    arrays = [random_array((4, 4), "f32") for _ in range(3)]
    result = "12x4xf32" if axis == 0 else "4x12xf32"
    operation = f"concatenate {{axis = {axis} : i64}}"
    entries = check_operation_in_lanes(operation, "4x4xf32 4x4xf32 4x4xf32", result, arrays)
    assert len(entries) == 1
    check_operation_in_lanes(operation, "?x4xf32 4x4xf32", "?x?xf32", arrays[:2])


def test_indices_are_checked_in_lanes():
    data, places = random_array((70, 3), "f32"), np.arange(140, dtype=np.int64).reshape(70, 2) % 70
    types = "70x3xf32 70x2xi64", "70x2x3xf32"
    check_operation_in_lanes('take {axis = 0 : i64, mode = "raise"}', *types, [data, places])
    places[69, 1] = 70
    with pytest.raises(PasslineError, match="out of bounds"):
        check_operation_in_lanes('take {axis = 0 : i64, mode = "raise"}', *types, [data, places])


# Scattering: indices may be equal.

SCATTERS = [
    ("f32", "update", 200, True),
    ("f32", "update", 3, False),
    ("f16", "add", 200, False),
    ("f32", "mul", 20, False),
    ("i32", "add", 200, True),
    ("i64", "max", 200, True),
    ("i64", "min", 200, True),
    ("i8", "add", 200, False),
    ("i1", "update", 200, True),
]


@table_test("element, reduction, count, is_atomic", SCATTERS)
def test_scattered_elements(element: str, reduction: str, count: int, is_atomic: bool):
    data, updates = random_array((13, 4), element), random_array((count, 4), element)
    places = np.random.default_rng(1).integers(-13, 13, (count, 4))
    types = f"13x4x{element} {count}x4xi64 {count}x4x{element}"
    operation = f'scatter_elements {{axis = 0 : i64, reduction = "{reduction}"}}'
    arrays = [data, places, updates]
    entries = check_operation_in_lanes(operation, types, f"13x4x{element}", arrays, 2e-2)
    found = any(isinstance(op, AtomicRMWTkoOp) for entry in entries for op in entry.walk())
    assert found is is_atomic


@pytest.mark.parametrize("reduction", ["update", "add"])
@pytest.mark.parametrize("sizes", ["7x5xf32 40x1xi64 40x5xf32", "7x5xf32 40x2xi64 40xf32"])
def test_scattered_slices(sizes: str, reduction: str):
    shapes = [[int(n) for n in text.split("x")[:-1]] for text in sizes.split()]
    data, updates = random_array(shapes[0], "f32"), random_array(shapes[2], "f32")
    places = np.random.default_rng(1).integers(-5, 5, shapes[1])
    operation = f'scatter_nd {{reduction = "{reduction}"}}'
    check_operation_in_lanes(operation, sizes, "7x5xf32", [data, places, updates], 1e-5)
    unknown = (
        "?x5xf32 ?x" + sizes.split()[1].split("x")[1] + "xi64 " + "?x" * len(shapes[2]) + "f32"
    )
    check_operation_in_lanes(operation, unknown, "?x5xf32", [data, places, updates], 1e-5)


# Sorting: it is stable, and NaN comes last.


@pytest.mark.parametrize(("size", "descending"), [(1, "false"), (129, "true"), (300, "false")])
def test_sorting(size: int, descending: str):
    data = np.round(random_array((2, size, 3), "f32"), 1)
    data[0, size // 2 :: 5] = np.nan
    data[1, ::3] = -0.0
    properties = f"{{axis = 1 : i64, descending = {descending}}}"
    shape = f"2x{size}x3"
    check_operation_in_lanes(f"sort {properties}", f"{shape}xf32", f"{shape}xf32", [data])
    check_operation_in_lanes(f"argsort {properties}", f"{shape}xf32", f"{shape}xi64", [data])
    if size == 129:  # rows of unknown size are sorted by rank
        check_operation_in_lanes(f"argsort {properties}", "?x?x?xf32", "?x?x?xi64", [data])


TOP = [("f16", 1, "true"), ("i8", 40, "false"), ("ui8", 40, "true"), ("f64", 200, "true")]


@table_test("element, k, largest", TOP)
def test_topk(element: str, k: int, largest: str):
    data = random_array((3, 400), element)
    entries = check_operation_in_lanes(
        f"topk {{k = {k} : i64, axis = 1 : i64, largest = {largest}}}",
        f"3x400x{element}",
        f"3x{k}x{element} 3x{k}xi64",
        [data],
    )
    assert len(entries) == 6  # the keys, runs of 128 keys, merged in two steps, two results
