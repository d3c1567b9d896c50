"""Kernels of depthwise convolutions whose channels are in blocks."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from support.budget import some
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant, ui8
from support.operations.evaluation import run_all as run_on_numpy
from support.operations.legalized import check_kernel, kernel_on_constant, legalized
from support.passes.results import run
from xdsl.dialects.builtin import f32, i8, i32
from xdsl.dialects.memref import AllocOp
from xdsl.utils.exceptions import VerifyException

from passline.compiler.kernels.windows.depthwise import TileWidths
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.types import Element
from passline.dialects.relax.windows import Window
from passline.dialects.target import DEFAULT
from passline.passmanager.ir.walk import walk

BLOCKS = {"x86-64-v2": 4, "x86-64-v3": 8, "x86-64-v4": 16, "aarch64": 4}
"""The channels of a block by target."""
ELEMENTS: tuple[tuple[Element, Element, Element | None], ...] = (
    (ui8, i8, i32),
    (i8, i8, i32),
    (f32, f32, None),
)
"""The element types of data, weight and result; None for that of the data."""
FLOATS = 2
"""The number of the floats among them."""


def numbers(random: Random, shape: tuple[int, ...], element: Element):
    generator = np.random.default_rng(random.randrange(1 << 30))
    if element == f32:
        return constant(generator.normal(0, 2, shape), element)
    return constant(
        generator.integers(*((0, 256) if element == ui8 else (-128, 128)), shape), element
    )


def depthwise(
    random: Random,
    elements: tuple[Element, Element, Element | None],
    shape: tuple[int, int, int, int, int],
    window: tuple[int, int],
    **properties: Any,
) -> Conv2dOp:
    """Return a convolution of data N, blocks, H, W, lanes."""
    data, weight, out = elements
    _, blocks, _, _, lanes = shape
    channels = blocks * lanes
    return Conv2dOp(
        numbers(random, shape, data),
        numbers(random, (channels, 1, *window), weight),
        groups=channels,
        data_layout=f"NCHW{lanes}c",
        kernel_layout="OIHW",
        **({} if out is None else {"out_dtype": out}),
        **properties,
    )


def random_depthwise(random: Random, index: int, lanes: int) -> Conv2dOp:
    """Return a convolution whose windows fit into its data."""
    while True:
        shape = (random.randint(1, 2), random.randint(1, 3), *image(random), lanes)
        try:
            return depthwise(
                random,
                ELEMENTS[index % len(ELEMENTS)],
                shape,
                (random.randint(1, 4), random.randint(1, 4)),
                strides=[random.choice([1, 1, 2, 3]) for _ in range(2)],
                dilation=[random.choice([1, 1, 2]) for _ in range(2)],
                padding=[random.choice([0, 1, 2]) for _ in range(4)],
            )
        except VerifyException:
            continue


def image(random: Random) -> tuple[int, int]:
    return random.randint(1, 7), random.choice([random.randint(1, 5), random.randint(6, 15)])


@pytest.mark.parametrize("target", BLOCKS)
def test_random_convolutions(target: str):
    random = Random(target)
    for index in some(range(12), 3):
        op = random_depthwise(random, index, BLOCKS[target])
        close = 1e-4 if index % len(ELEMENTS) == FLOATS else 0
        check_kernel(op, close, close, target)


@pytest.mark.parametrize("target", BLOCKS)
def test_constant_weights_are_passed_in_lanes(target: str):
    lanes = BLOCKS[target]
    op = depthwise(Random(1), ELEMENTS[0], (1, 2, 4, 5, lanes), (3, 3), padding=[1, 1])
    module, first = kernel_on_constant(op, target)
    assert f"tensor<2x9x{lanes}xf32>" in str(module)  # f32 has all sums of nine products
    np.testing.assert_array_equal(run(module, "f0", (first,))[0], run_on_numpy(op)[0])


@needs_native
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_machine_code(lanes: int):
    random = Random(lanes)
    for index in some(range(30), 6):
        close = 1e-4 if index % len(ELEMENTS) == FLOATS else 0
        check_machine_code({str(index): random_depthwise(random, index, lanes)}, close, close)


def test_sums_beyond_f32_are_integers():
    op = depthwise(Random(0), ELEMENTS[0], (1, 1, 1, 600, 4), (1, 600))
    module = legalized(op, "x86-64-v2")
    copies = [op for op in walk(module) if isinstance(op, AllocOp)]
    assert {str(copy.memref.type.element_type) for copy in copies} == {"i32"}  # pyright: ignore
    check_kernel(op, target="x86-64-v2")


def test_tall_images_are_computed_in_blocks_of_rows():
    op = depthwise(Random(0), ELEMENTS[0], (1, 1, 25, 3, 8), (3, 3), padding=[1, 1])
    target = "x86-64-v3{l1-cache=1024}"
    module, first = kernel_on_constant(op, target)
    assert "memref<5x5x8xf32>" in str(module)  # three rows of the result
    np.testing.assert_array_equal(run(module, "f0", (first,))[0], run_on_numpy(op)[0])


def test_tiles_divide_rows_evenly():
    def best(width: int) -> int:
        windows = [Window(axis, 3, 1, 1, 1, 1) for axis in "HW"]
        return TileWidths(64, (width, width), 8, windows, 32, DEFAULT).best()

    assert [best(width) for width in (4, 7, 14, 28)] == [4, 7, 7, 7]


def test_other_groups_are_computed_in_another_way():
    """Two inputs in each group, and two outputs for each channel."""
    for channels, weight in ((8, (8, 2, 3, 3)), (4, (8, 1, 3, 3))):
        random = Random(2)
        op = Conv2dOp(
            numbers(random, (1, channels // 4, 4, 5, 4), f32),
            numbers(random, weight, f32),
            groups=4,
            data_layout="NCHW4c",
            kernel_layout="OIHW",
        )
        check_kernel(op, 1e-4, 1e-4, "x86-64-v2")
