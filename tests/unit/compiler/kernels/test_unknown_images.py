"""Kernels on images of unknown height and width: blocks of rows, tiles and vectors of which the
last ones exceed the image, and images that are smaller than any of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array
from support.operations.legalized import legalize
from support.pairs import pairs
from support.parsing import parsed
from support.passes.results import run

import passline
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.kernels import CallTIROp
from passline.dialects.tir.ops import PrefetchOp
from passline.passmanager.ir.walk import walk

SMALL = "x86-64-v2{l1-cache=1024}"
"""A target with vectors of 4 lanes, whose first cache holds some rows only."""
WIDE = "x86-64-v4"
"""A target with vectors of 16 lanes, and enough registers to read columns one by one."""

Size = Sequence[int]


def text_of(op: str, given: str, data: str, weight: str = "", *, relu: bool = True) -> str:
    """Return a module whose `@main` applies an operation to data and weight, and `relu`."""
    _, outputs, *rest = data.split("x")
    if weight:
        outputs = weight.split("x")[0]
    result = "tensor<" + "x".join(["?", outputs, *rest]) + ">"
    parameters, operands, types = f"%x: tensor<{data}>", "%x", f"tensor<{data}>"
    if weight:
        parameters += f", %w: tensor<{weight}>"
        operands, types = "%x, %w", f"{types}, tensor<{weight}>"
    last = f"%r = relax.nn.relu %y : ({result}) -> {result}" if relu else ""
    return f"""func.func @main({parameters}) -> {result} {{
  %{"y" if relu else "r"} = relax.{op} {operands} {{{given}}} : ({types}) -> {result}
  {last}
  func.return %r : {result}
}}"""


def arrays(text: str, batch: int, size: Size) -> list[Array]:
    """Return random arguments of `@main` for images of a size."""
    data, *weights = re.findall(r"%[xw]: tensor<([^>]*)xf32>", text)
    channels = int(data.split("x")[1])
    shapes = [(batch, channels, *size), *(tuple(map(int, w.split("x"))) for w in weights)]
    rng = np.random.default_rng(batch)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def check(text: str, target: str, *sizes: Size) -> None:
    """Check that the kernel computes the same as the operations, for images of some sizes."""
    before = parsed(text)
    after = parsed(text)
    legalize(after, target)
    assert {op.name for op in walk(after) if isinstance(op, TensorOp)} <= {CallTIROp.name}
    for size in sizes:
        given = tuple(arrays(text, 1, size))
        (expected,), (actual,) = (run(m, "main", given) for m in (before, after))
        mine, other = np.asarray(actual), np.asarray(expected)
        np.testing.assert_allclose(mine, other, 1e-4, 1e-5, err_msg=str(size), strict=True)


@pytest.mark.parametrize("target", [SMALL, WIDE])
@pytest.mark.parametrize(
    ("given", "weight"),
    some(
        [
            ("padding = [2, 2], strides = [1, 3], dilation = [2, 1]", "2x1x2x3xf32"),
            ("padding = [1, 1]", "2x1x3x3xf32"),
            ("padding = [0, 1, 2, 0], strides = [2, 2]", "4x1x3x2xf32"),
        ],
        2,
    ),
)
def test_depthwise(given: str, weight: str, target: str):
    text = text_of("nn.conv2d", f"{given}, groups = 2", "?x2x?x?xf32", weight)
    check(text, target, (1, 1), (2, 5))
    if target == SMALL:
        check(text, target, (11, 5))


def test_depthwise_of_one_and_three_dimensions():
    text = text_of("nn.conv1d", "padding = [1], groups = 3", "?x3x?xf32", "3x1x3xf32")
    check(text, SMALL, [1], [5], [37])
    given = "padding = [1, 1, 1], groups = 2"
    text = text_of("nn.conv3d", given, "?x2x?x?x?xf32", "2x1x2x3x3xf32")
    check(text, SMALL, (1, 1, 1), (2, 9, 5))


def test_depthwise_blocks_of_three_dimensions():
    """A block has rows of several images, also where their extents are known."""
    text = text_of(
        "nn.conv3d",
        "padding = [1, 1, 1], groups = 1",
        "1x1x3x8x6xf32",
        "1x1x3x3x3xf32",
    ).replace("tensor<?x", "tensor<1x")
    check(text, SMALL, (3, 8, 6))


@pytest.mark.parametrize("target", [SMALL, WIDE])
@pytest.mark.parametrize(
    ("given", "weight"),
    some(
        [
            ("padding = [1, 1]", "17x2x2x2xf32"),
            ("padding = [1, 1], strides = [2, 2]", "3x2x3x3xf32"),
            ("", "5x2x1x1xf32"),
            ("padding = [0, 2, 1, 0], dilation = [1, 2]", "3x2x2x3xf32"),
        ],
        2,
    ),
)
def test_convolution(given: str, weight: str, target: str):
    text = text_of("nn.conv2d", given or "groups = 1", "?x2x?x?xf32", weight)
    check(text, target, (2, 4))
    if target == WIDE:
        check(text, target, (1, 18))


BLOCKED = """func.func @main(%x: tensor<?x2x?x?x4xf32>) -> tensor<?x3x?x?x4xf32> {{
  %w = relax.constant dense_resource<w> : tensor<12x8x{window}xf32>
  %y = relax.nn.conv2d %x, %w {{data_layout = "NCHW4c", kernel_layout = "OIHW", {given}}}
      : (tensor<?x2x?x?x4xf32>, tensor<12x8x{window}xf32>) -> tensor<?x3x?x?x4xf32>
  %r = relax.nn.relu %y : (tensor<?x3x?x?x4xf32>) -> tensor<?x3x?x?x4xf32>
  func.return %r : tensor<?x3x?x?x4xf32>
}}
{{-# dialect_resources: {{ builtin: {{ w: "0x04000000{hex}" }} }} #-}}"""


@pytest.mark.parametrize("target", ["x86-64-v2", SMALL])
@pytest.mark.parametrize(
    ("window", "given"),
    some(
        [
            ("1x1", "groups = 1"),
            ("3x3", "padding = [1, 1]"),
            ("3x2", "padding = [0, 2, 1, 0], strides = [2, 1]"),
            ("3x3", "strides = [2, 2], padding = [1, 1]"),
        ],
        2,
    ),
)
def test_blocks_of_channels(window: str, given: str, target: str):
    """The columns of the last tile beyond the image are not read."""
    size = 12 * 8 * int(window[0]) * int(window[2])
    weights = np.random.default_rng(3).integers(-3, 4, size).astype("<f4").tobytes().hex()
    text = BLOCKED.format(window=window, given=given, hex=weights)
    before, after = (parsed(text) for _ in range(2))
    legalize(after, target)
    assert {op.name for op in walk(after) if isinstance(op, TensorOp)} <= {CallTIROp.name}
    # Those that the first cache does not hold.
    prefetches = any(isinstance(op, PrefetchOp) for op in walk(after))
    assert prefetches is (target == SMALL and window != "1x1")
    for batch, height, width in ((1, 1, 1), (2, 3, 2), (1, 4, 5), (1, 2, 13)):
        shape = (batch, 2, height + 2, width + 2, 4)
        x = np.random.default_rng(width).integers(-4, 5, shape).astype(np.float32)
        (expected,), (actual,) = (run(m, "main", (x,)) for m in (before, after))
        np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected), strict=True)


@pairs(
    target=["x86-64-v2", SMALL],
    data=["?x2x?x?x4", "?x2x5x?x4", "?x2x4x9x4"],
    windows=some(
        [
            ("3x3", "padding = [1, 1]"),
            ("3x2", "padding = [0, 2, 1, 0], strides = [1, 2]"),
            ("5x5", "padding = [2, 2], strides = [2, 2], dilation = [1, 2]"),
            ("1x1", "strides = [2, 1]"),
        ],
        2,
    ),
)
def test_depthwise_in_blocks_of_channels(target: str, data: str, windows: tuple[str, str]):
    """Tiles may be longer than rows, and rows may be computed in several blocks."""
    window, given = windows
    result = "?x2x?x?x4"
    text = f"""func.func @main(%x: tensor<{data}xf32>, %w: tensor<8x1x{window}xf32>)
        -> tensor<{result}xf32> {{
      %y = relax.nn.conv2d %x, %w {{data_layout = "NCHW4c", kernel_layout = "OIHW", groups = 8,
        {given}}} : (tensor<{data}xf32>, tensor<8x1x{window}xf32>) -> tensor<{result}xf32>
      %r = relax.nn.relu %y : (tensor<{result}xf32>) -> tensor<{result}xf32>
      func.return %r : tensor<{result}xf32>
    }}"""
    before, after = (parsed(text) for _ in range(2))
    legalize(after, target)
    assert {op.name for op in walk(after) if isinstance(op, TensorOp)} <= {CallTIROp.name}
    rng = np.random.default_rng(5)
    weight = rng.integers(-3, 4, (8, 1, int(window[0]), int(window[2]))).astype(np.float32)
    _, _, *sizes, _ = data.split("x")
    for image in ((5, 5), (6, 13), (17, 6), (9, 20)):
        height, width = (n if size == "?" else int(size) for n, size in zip(image, sizes))
        x = rng.integers(-4, 5, (2, 2, height, width, 4)).astype(np.float32)
        (expected,), (actual,) = (run(m, "main", (x, weight)) for m in (before, after))
        np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected), strict=True)


@pairs(
    name=["max_pool2d", "avg_pool2d"],
    given=some(
        [
            "pool_size = [2, 3], strides = [1, 2], padding = [0, 1, 1, 0], ceil_mode = true",
            "pool_size = [3, 3], strides = [2, 2], padding = [1, 1]",
            "pool_size = [2, 2], strides = [2, 2], padding = [1, 0, 0, 0]",
            "pool_size = [3, 2], strides = [1, 1], dilation = [2, 3], padding = [2, 1]",
            "pool_size = [5, 5], strides = [1, 1], padding = [2, 2]",
        ],
        3,
    ),
    target=[SMALL, WIDE],
)
def test_pooling(name: str, given: str, target: str):
    text = text_of(f"nn.{name}", given, "?x2x?x?xf32")
    check(text, target, (2, 3), (4, 17))
    if target == SMALL:
        check(text, target, (14, 5))


def test_pooling_of_one_and_three_dimensions():
    given = "pool_size = [3], strides = [2], padding = [1, 1]"
    check(text_of("nn.max_pool1d", given, "?x3x?xf32"), SMALL, [1], [6], [37])
    given = "pool_size = [2, 3, 3], strides = [1, 2, 1], padding = [1, 1, 1]"
    check(text_of("nn.avg_pool3d", given, "?x1x?x?x?xf32"), SMALL, (1, 1, 1), (3, 6, 11))


@pytest.mark.parametrize("width", [1, 3, 4, 11, 16, 21])
def test_repeated_columns(width: int):
    given = 'size = [-1, -1], scales = [2.0, 2.0], layout = "NCHW", method = "nearest_neighbor"'
    text = text_of("image.resize2d", given, "?x2x?x?xf32", relu=False)
    check(text, WIDE, (2, width))


def random_images(random: Random) -> str:
    """Return a random convolution or pooling, whose windows fit into padded images of one
    element."""
    sizes, strides = [random.choice([1, 2, 3, 5]) for _ in "HW"], [random.choice([1, 1, 2, 3])] * 2
    padding = [n // 2 for n in sizes] + [(n - 1) // 2 + random.randrange(2) for n in sizes]
    given = f"strides = {strides}, padding = {padding}"
    channels = random.choice([1, 3, 17])
    data, window = f"?x{channels}x?x?xf32", "x".join(map(str, sizes))
    match random.choice(["depthwise", "convolution", "max_pool2d", "avg_pool2d"]):
        case "depthwise":
            given += f", groups = {channels}"
            weight = f"{random.choice([1, 2]) * channels}x1x{window}xf32"
            return text_of("nn.conv2d", given, data, weight)
        case "convolution":
            weight = f"{random.choice([2, 9, 20])}x{channels}x{window}xf32"
            return text_of("nn.conv2d", given, data, weight)
        case name:
            ceil = random.choice(["true", "false"])
            given += f", pool_size = {sizes}, ceil_mode = {ceil}"
            return text_of(f"nn.{name}", given, data)


@needs_native
@pytest.mark.parametrize("seed", range(6))
def test_machine_code(seed: int):
    text = random_images(Random(seed))
    function = passline.compile(text)
    for size in ((1, 1), (2, 3), (5, 8), (7, 15), (8, 16), (9, 17), (3, 40), (40, 3), (33, 47)):
        for batch in (1, 3):
            given = arrays(text, batch, size)
            (expected,), (actual,) = passline.run(text, *given), function(*given)
            message = f"{text}\n{size}"
            np.testing.assert_allclose(actual, expected, 1e-4, 1e-4, err_msg=message, strict=True)
