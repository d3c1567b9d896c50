"""Tile programs of convolutions compute what the semantics of the operations compute."""

from __future__ import annotations

import numpy as np
import pytest
from support.gpu.product_runs import check_product
from support.gpu.tile_runs import constant_of
from support.tables import table_test
from xdsl.dialects.func import FuncOp

import passline
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.target import Target

NHWC = 'data_layout = "NHWC", kernel_layout = "HWIO"'
MIXED = 'data_layout = "NHWC", kernel_layout = "OHWI", out_layout = "NCHW"'


def check(properties: str, data: str, weight: str, result: str, rank: int = 2) -> None:
    body = f"%r = relax.nn.conv{rank}d %a, %b {{{properties}}} : (<A>, <B>) -> <R>"
    check_product(body, data, weight, result=result)


ROWS = [
    ("", "2x6x9x7", "4x6x1x1", "2x4x9x7"),
    ("groups = 2", "2x6x9x7", "4x3x1x1", "2x4x9x7"),
    ("strides = [2, 2]", "2x6x9x7", "4x6x1x1", "2x4x5x4"),
    ("padding = [1, 1]", "2x3x9x7", "5x3x3x3", "2x5x9x7"),
    ("padding = [1, 2, 0, 1]", "2x3x9x7", "5x3x3x3", "2x5x8x8"),
    ("dilation = [2, 1]", "2x6x9x7", "4x6x3x3", "2x4x5x5"),
    ("padding = [1, 1], strides = [2, 1], groups = 2", "2x6x9x7", "4x3x3x3", "2x4x5x7"),
    (NHWC, "2x9x7x6", "1x1x6x4", "2x9x7x4"),
    (f"{NHWC}, groups = 2", "2x9x7x6", "1x1x3x4", "2x9x7x4"),
    (f"{NHWC}, padding = [1, 1]", "2x9x7x3", "3x3x3x5", "2x9x7x5"),
    (f"{NHWC}, padding = [1, 1], groups = 2, strides = [2, 1]", "2x9x7x6", "3x3x3x4", "2x5x7x4"),
    (f"{NHWC}, padding = [1, 1], groups = 2", "2x5x6x16", "3x3x8x4", "2x5x6x4"),
    (MIXED, "2x9x7x6", "4x3x3x6", "2x4x7x5"),
    ("", "1x512x7x7", "64x512x3x3", "1x64x5x5"),
]


@table_test("properties, data, weight, result", ROWS)
def test_images(properties: str, data: str, weight: str, result: str):
    check(properties, f"{data}xf32", f"{weight}xf32", f"{result}xf32")


@pytest.mark.parametrize("element", ["f16", "bf16", "f64", "i8", "ui8"])
def test_types(element: str):
    data, weight, result = (f"{n}x{element}" for n in ("1x3x9x7", "5x3x3x3", "1x5x9x7"))
    check("padding = [1, 1]", data, weight, result)


def test_lines_and_volumes():
    check("padding = [2], dilation = [2]", "2x3x65xf32", "5x3x5xf32", "2x5x61xf32", 1)
    check("padding = [1, 0, 1]", "2x3x5x6x7xf32", "5x3x3x3x3xf32", "2x5x5x4x7xf32", 3)


TRANSPOSED = [
    ("", "2x6x5x7", "6x4x3x3", "2x4x7x9"),
    ("strides = [2, 2], padding = [1, 1]", "1x3x5x7", "3x5x4x4", "1x5x10x14"),
    ("strides = [3, 1], dilation = [1, 2], groups = 2", "2x6x5x7", "6x2x2x3", "2x4x14x11"),
    ("strides = [2, 2], output_padding = [1, 0]", "2x3x5x7", "3x5x1x3", "2x5x10x15"),
    (f"{NHWC.replace('HWIO', 'HWOI')}, strides = [2, 2]", "2x5x7x6", "2x2x4x6", "2x10x14x4"),
]


@table_test("properties, data, weight, result", TRANSPOSED)
def test_transposed(properties: str, data: str, weight: str, result: str):
    body = f"%r = relax.nn.conv2d_transpose %a, %b {{{properties}}} : (<A>, <B>) -> <R>"
    for element in ("f32", "f16"):
        types = [f"{shape}x{element}" for shape in (data, weight, result)]
        check_product(body, *types[:2], result=types[2], constants=[1])
    rank = data.count("x") + 1
    types = [f"{shape}xf32" for shape in (data, weight, result)]
    sizes = "?x" * rank + "f32"
    check_product(body, *types[:2], result=types[2], shown=(sizes, types[1], sizes), constants=[1])


@pytest.mark.parametrize("number", [1, np.inf])
def test_zeros_times_infinity_are_no_terms_of_transposed_ones(number: float):
    text = """
        func.func @main(%x: tensor<1x3x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x2x11x11xf32> {
          %r = relax.nn.conv2d_transpose %x, %w {strides = [2, 2]}
              : (tensor<1x3x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x2x11x11xf32>
          func.return %r : tensor<1x2x11x11xf32>
        }"""
    func = next(iter(passline.load(text).ops))
    assert isinstance(func, FuncOp)
    weight = np.full((3, 2, 3, 3), number, np.float32)
    constant = constant_of(weight, func.args[1].type)
    kernel = tile_kernel_of(func, Target("sm_90"), constants={1: [constant]})
    assert (kernel is None) is (number != 1)
    assert tile_kernel_of(func, Target("sm_90")) is None


@pytest.mark.parametrize("layout", ["", NHWC])
def test_fused_behind(layout: str):
    body = f"""%0 = relax.nn.conv2d %a, %b {{{layout}}} : (<A>, <B>) -> <R>
               %1 = relax.add %0, %c : (<R>, <C>) -> <R>
               %2 = relax.add %1, %d : (<R>, <D>) -> <R>
               %r = relax.nn.relu %2 : (<R>) -> <R>"""
    types = ["2x3x5x6xf32", "5x3x3x3xf32", "1x5x1x1xf32", "2x5x3x4xf32"]
    if layout:
        types = ["2x5x6x3xf32", "3x3x3x5xf32", "5xf32", "2x3x4x5xf32"]
    check_product(body, *types, result=types[-1])


def test_unknown_sizes():
    body = "%r = relax.nn.conv2d %a, %b {padding = [1, 1]} : (<A>, <B>) -> <R>"
    shown = ("?x3x?x?xf32", "5x3x3x3xf32", "?x5x?x?xf32")
    check_product(body, "2x3x9x7xf32", "5x3x3x3xf32", result="2x5x9x7xf32", shown=shown)


OTHERS = [
    ("groups = 6", "2x6x9x7", "6x1x3x3", "2x6x7x5"),
    (
        'data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"',
        *("1x1x5x5x4", "1x1x3x3x4x4"),
        "1x1x3x3x4",
    ),
]


@pytest.mark.parametrize(("properties", "data", "weight", "result"), OTHERS)
def test_depthwise_and_blocked_ones_are_loops(properties: str, data: str, weight: str, result: str):
    data, weight, result = (f"tensor<{shape}xf32>" for shape in (data, weight, result))
    module = passline.load(f"""
        func.func @f(%a: {data}, %b: {weight}) -> {result} {{
          %r = relax.nn.conv2d %a, %b {{{properties}}} : ({data}, {weight}) -> {result}
          func.return %r : {result}
        }}""")
    (func,) = module.body.block.ops
    assert isinstance(func, FuncOp)
    assert tile_kernel_of(func, Target("sm_90")) is None
