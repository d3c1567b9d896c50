"""Tile programs along rows compute what the semantics of their operations compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.gpu.tile_runs import Array, check_operation, check_tiles, random_array
from support.tables import table_test

ELEMENTS = ("f32", "f16", "bf16", "f64", "i8", "ui8", "i32", "i64")
REDUCTIONS = ("sum", "mean", "max", "min", "prod")


def reduced(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    return [n for axis, n in enumerate(shape) if axis not in axes]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, element: str):
    data = random_array((7, 63), element)
    check_operation(name, "axis = [1]", [data], [element], (7,))


@pytest.mark.parametrize("name", ["any", "all"])
def test_reductions_of_booleans(name: str):
    check_operation(name, "axis = [1]", [random_array((65, 3), "i1")], ["i1"], (65,))


SHAPES: list[tuple[tuple[int, ...], list[int]]] = [
    ((1,), [0]),
    ((1, 1), [1]),
    ((63, 65), [0]),
    ((63, 65, 7), [0, 2]),
    ((3, 4097), [1]),
    ((4097, 5), [0]),
    ((1000, 1000), [0, 1]),
    ((5, 7), []),
]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_axes(shape: tuple[int, ...], axes: list[int]):
    data = random_array(shape, "f64")
    check_operation("sum", f"axis = {axes}", [data], ["f64"], reduced(shape, axes))
    kept = [1 if axis in axes else n for axis, n in enumerate(shape)]
    check_operation("max", f"axis = {axes}, keepdims = true", [data], ["f64"], kept)


def test_rows_of_unknown_size():
    data = random_array((7, 63), "f32")
    check_operation("mean", "axis = [1], keepdims = true", [data], ["f32"], (7, 1), unknown=(0,))
    check_operation("nn.softmax", "", [data], ["f32"], (7, 63), unknown=(0, 1))


def test_unknown_columns_are_reduced():
    text = """
        func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
          %r = relax.mean %x {axis = [0]} : (tensor<?x?xf32>) -> tensor<?xf32>
          return %r : tensor<?xf32>
        }"""
    for shape in ((65, 3), (1, 1), (3000, 70)):
        check_tiles(text, [random_array(shape, "f32")], 2e-5, 2e-5)


def test_long_rows_are_shared_by_blocks():
    kernel = check_operation("sum", "", [random_array((70001,), "f64")], ["f64"], ())
    parts, whole = kernel.entries
    assert parts.sym_name.data == "main_parts" and whole.sym_name.data == "main"
    kernel = check_operation("mean", "axis = [1]", [random_array((2, 9000), "i8")], ["i8"], (2,))
    assert len(kernel.entries) == 2


@pytest.mark.parametrize("last", ["true", "false"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arg_reductions(name: str, last: str):
    properties = f"axis = 1 : i64, select_last_index = {last}"
    for shape, element in (((7, 63), "i8"), ((7, 63), "ui8"), ((2, 9000), "f16")):
        data = random_array(shape, element)
        check_operation(name, properties, [data], [element], shape[:1], element="i64")
    data = random_array((3, 9), "f32")
    data[0, 4] = data[0, 6] = np.nan
    data[1] = np.inf if name == "argmin" else -np.inf
    check_operation(name, properties, [data], ["f32"], (3,), element="i64")
    flat = f"select_last_index = {last}"
    check_operation(name, flat, [data[1:]], ["f32"], (), element="i64")


@pytest.mark.parametrize("element", ["f32", "f16", "f64"])
@pytest.mark.parametrize("name", ["nn.softmax", "nn.log_softmax"])
def test_softmax(name: str, element: str):
    for shape, axis in (((7, 65), 1), ((5, 33, 9), 1), ((2, 9001), 1), ((3, 1), 1), ((4, 5), 0)):
        data = random_array(shape, element)
        check_operation(name, f"axis = {axis} : i64", [data], [element], shape)


@pytest.mark.parametrize("width", [5, 9000])
@pytest.mark.parametrize("name", ["nn.softmax", "nn.log_softmax"])
def test_softmax_of_special_values(name: str, width: int):
    data = random_array((4, width), "f32")
    data[0] = -np.inf
    data[1, 2] = np.nan
    data[2, 0] = np.inf
    data[3, 1:] = -np.inf
    check_operation(name, "", [data], ["f32"], (4, width))


NORMALIZATIONS: list[tuple[str, str, tuple[int, ...], tuple[int, ...]]] = [
    ("layer_norm", "", (7, 63), (63,)),
    ("layer_norm", "axes = [1, 2], scale = false", (2, 7, 9), (7, 9)),
    ("layer_norm", "center = false", (2, 9000), (9000,)),
    ("instance_norm", "", (2, 3, 7, 9), (3,)),
    ("instance_norm", "", (2, 3, 100, 101), (3,)),
    ("instance_norm", "axis = 3 : i64", (2, 7, 9, 65), (65,)),
    ("group_norm", "num_groups = 2 : i64", (2, 6, 7, 9), (6,)),
    (
        "group_norm",
        "num_groups = 3 : i64, channel_axis = 3 : i64, axes = [1, 2]",
        (2, 7, 9, 6),
        (6,),
    ),
    ("group_norm", "num_groups = 4 : i64", (1, 64, 33, 33), (64,)),
]


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize(("name", "properties", "shape", "parameter"), NORMALIZATIONS)
def test_normalizations(
    name: str, properties: str, shape: tuple[int, ...], parameter: tuple[int, ...], element: str
):
    arrays = [random_array(s, element) for s in (shape, parameter, parameter)]
    check_operation(f"nn.{name}", properties, arrays, [element] * 3, shape)


def test_group_norm_of_unknown_sizes():
    arrays: list[Array] = [random_array(s, "f32") for s in ((2, 6, 7, 9), (6,), (6,))]
    properties, elements = "num_groups = 2 : i64", ["f32"] * 3
    check_operation("nn.group_norm", properties, arrays, elements, (2, 6, 7, 9), unknown=(0, 2, 3))


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_other_normalizations(element: str):
    data, channel = random_array((2, 6, 7, 9), element), random_array((6,), element)
    parameters = [data, channel, channel, channel, abs(channel)]
    check_operation("nn.batch_norm", "", parameters, [element] * 5, data.shape)
    check_operation("nn.rms_norm", "", [data, data[0, 0, 0]], [element] * 2, data.shape)
    eps = "eps = 1.0e-10 : f64, axis = [1]"
    check_operation("nn.l2_normalize", eps, [data], [element], data.shape)


def test_element_wise_operations_are_fused():
    text = """
        func.func @main(%x: tensor<7x65xf32>, %b: tensor<65xf32>) -> tensor<7xf32> {
          %0 = relax.add %x, %b : (tensor<7x65xf32>, tensor<65xf32>) -> tensor<7x65xf32>
          %1 = relax.exp %0 : (tensor<7x65xf32>) -> tensor<7x65xf32>
          %2 = relax.sum %1 {axis = [1]} : (tensor<7x65xf32>) -> tensor<7xf32>
          %3 = relax.multiply %2, %2 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
          return %3 : tensor<7xf32>
        }"""
    arrays = [random_array((7, 65), "f32"), random_array((65,), "f32")]
    check_tiles(text, arrays, 2e-5, 2e-5)


def test_element_wise_operations_behind_a_softmax_are_fused():
    text = """
        func.func @main(%x: tensor<7x9001xf32>, %b: tensor<7x1xf32>) -> tensor<7x9001xf32> {
          %0 = relax.nn.softmax %x : (tensor<7x9001xf32>) -> tensor<7x9001xf32>
          %1 = relax.multiply %0, %b
              : (tensor<7x9001xf32>, tensor<7x1xf32>) -> tensor<7x9001xf32>
          %2 = relax.add %1, %x : (tensor<7x9001xf32>, tensor<7x9001xf32>) -> tensor<7x9001xf32>
          return %2 : tensor<7x9001xf32>
        }"""
    arrays = [random_array((7, 9001), "f32"), random_array((7, 1), "f32")]
    check_tiles(text, arrays, 2e-5, 2e-5)


@pytest.mark.parametrize(("width", "entries"), [(65, 1), (40001, 3)])
def test_a_reduction_and_its_operand_make_two_results(width: int, entries: int):
    whole, row = f"tensor<7x{width}xf32>", "tensor<7x1xf32>"
    text = f"""
        func.func @main(%x: {whole}) -> ({whole}, {row}) {{
          %0 = relax.max %x {{axis = [1], keepdims = true}} : ({whole}) -> {row}
          %1 = relax.subtract %x, %0 : ({whole}, {row}) -> {whole}
          return %1, %0 : {whole}, {row}
        }}"""
    kernel = check_tiles(text, [random_array((7, width), "f32")])
    assert len(kernel.entries) == entries


SHARED = [
    ("argmax", "axis = 1 : i64", (2, 70001), (2,), 3),
    ("nn.softmax", "", (2, 70001), (2, 70001), 3),
    ("nn.log_softmax", "axis = 0 : i64", (9001, 3), (9001, 3), 3),
    ("nn.l2_normalize", "eps = 1.0e-10 : f64, axis = [0, 1]", (300, 401), (300, 401), 2),
]


@table_test("name, properties, shape, result, entries", SHARED)
def test_folds_of_long_rows_are_entries(
    name: str, properties: str, shape: tuple[int, ...], result: tuple[int, ...], entries: int
):
    element = "i64" if name == "argmax" else "f32"
    data = [random_array(shape, "f32")]
    kernel = check_operation(name, properties, data, ["f32"], result, element=element)
    assert len(kernel.entries) == entries


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("name", ["avg", "max"])
def test_global_pooling(name: str, element: str):
    operation = f"nn.adaptive_{name}_pool2d"
    for shape, layout in (((2, 65, 7, 9), "NCHW"), ((1, 7, 9, 100), "NHWC")):
        result = [n if layout[axis] in "NC" else 1 for axis, n in enumerate(shape)]
        properties = f'output_size = [1, 1], layout = "{layout}"'
        check_operation(operation, properties, [random_array(shape, element)], [element], result)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_rows_without_elements(name: str):
    text = f"""
        func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {{
          %r = relax.{name} %x {{axis = [1]}} : (tensor<?x?xf32>) -> tensor<?xf32>
          return %r : tensor<?xf32>
        }}"""
    for shape in ((5, 0), (0, 5)):
        check_tiles(text, [np.zeros(shape, np.float32)])
