"""Tile programs of element-wise groups compute what their operations compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.gpu.tile_runs import Array, check_operation, check_tiles, kernel_of_text, random_array
from xdsl.dialects.func import FuncOp

import passline
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.target import Target

GENERATOR = np.random.default_rng(0)


def tensor(shape: Sequence[int | str]) -> str:
    return f"tensor<{'x'.join([*map(str, shape), 'f32'])}>"


def group(shapes: Sequence[Sequence[int | str]], body: str, result: Sequence[int | str]) -> str:
    """Return a function of parameters %a0, %a1, ... that returns %r."""
    given = ", ".join(f"%a{i}: {tensor(shape)}" for i, shape in enumerate(shapes))
    type = tensor(result)
    return f"func.func @main({given}) -> {type} {{\n{body}\nfunc.return %r : {type}\n}}"


def numbers(*shape: int) -> Array:
    return GENERATOR.standard_normal(shape).astype("f4")


def check_transposed(shape: Sequence[int], axes: Sequence[int]) -> None:
    """Check the sum of a transposed tensor and one that is not."""
    order = [shape[axis] for axis in axes]
    x, y = tensor(shape), tensor(order)
    body = f"%0 = relax.transpose %a0 {{axes = {[*axes]}}} : ({x}) -> {y}"
    text = group([shape, order], f"{body}\n%r = relax.add %0, %a1 : ({y}, {y}) -> {y}", order)
    check_tiles(text, [numbers(*shape), numbers(*order)])


@pytest.mark.parametrize("shape", [(1,), (65,), (3, 7, 9), (1, 1, 5), (70, 129), (2, 3, 64, 4, 5)])
def test_shapes(shape: tuple[int, ...]):
    check_operation("negative", "", [numbers(*shape)], ["f32"], shape)


@pytest.mark.parametrize("other", [(), (9,), (7, 1), (3, 1, 9), (1, 1, 1)])
def test_broadcasting(other: tuple[int, ...]):
    check_operation("add", "", [numbers(3, 7, 9), numbers(*other)], ["f32", "f32"], (3, 7, 9))


@pytest.mark.parametrize("element", ["f16", "bf16", "f64", "i8", "ui8", "i32", "i64"])
def test_elements(element: str):
    data = [random_array((5, 67), element) for _ in range(2)]
    check_operation("maximum", "", data, [element] * 2, (5, 67))


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((70, 129), (1, 0)),
    ((3, 33, 65), (0, 2, 1)),
    ((2, 5, 7, 9), (0, 2, 3, 1)),  # (2, 5, 63) -> (2, 63, 5)
    ((2, 3, 4, 5), (3, 2, 1, 0)),
    ((1, 40, 1, 70), (3, 0, 1, 2)),  # dimensions of size 1 are anywhere
    ((4, 6, 5), (1, 0, 2)),
]


@pytest.mark.parametrize(("shape", "axes"), TRANSPOSED)
def test_transposed_operands(shape: tuple[int, ...], axes: tuple[int, ...]):
    check_transposed(shape, axes)


@pytest.mark.parametrize("bias", [(), (65,), (70, 1), (70, 65), (1, 65)])
@pytest.mark.parametrize("offset", [(), (1, 70), (65, 1), (70,)])
def test_operations_before_and_after_a_transposition(
    bias: tuple[int, ...], offset: tuple[int, ...]
):
    x, y, b, c = map(tensor, ((65, 70), (70, 65), bias, offset))
    body = f"""
        %0 = relax.subtract %a0, %a2 : ({x}, {c}) -> {x}
        %1 = relax.transpose %0 : ({x}) -> {y}
        %2 = relax.add %1, %a1 : ({y}, {b}) -> {y}
        %r = relax.multiply %2, %1 : ({y}, {y}) -> {y}"""
    text = group([(65, 70), bias, offset], body, (70, 65))
    check_tiles(text, [numbers(65, 70), numbers(*bias), numbers(*offset)], 1e-6, 1e-6)


def test_a_parameter_in_two_orders():
    x = tensor((70, 70))
    body = f"""
        %0 = relax.transpose %a0 : ({x}) -> {x}
        %r = relax.add %0, %a0 : ({x}, {x}) -> {x}"""
    check_tiles(group([(70, 70)], body, (70, 70)), [numbers(70, 70)])


def test_two_transpositions():
    x, y, z = map(tensor, ((3, 20, 65), (20, 65, 3), (65, 20, 3)))
    body = f"""
        %0 = relax.transpose %a0 {{axes = [1, 2, 0]}} : ({x}) -> {y}
        %1 = relax.negative %0 : ({y}) -> {y}
        %2 = relax.transpose %1 {{axes = [1, 0, 2]}} : ({y}) -> {z}
        %r = relax.exp %2 : ({z}) -> {z}"""
    check_tiles(group([(3, 20, 65)], body, (65, 20, 3)), [numbers(3, 20, 65)], 1e-6)


def test_a_value_in_two_orders_has_no_tiles():
    x = tensor((70, 70))
    body = f"""
        %0 = relax.exp %a0 : ({x}) -> {x}
        %1 = relax.transpose %0 : ({x}) -> {x}
        %r = relax.add %0, %1 : ({x}, {x}) -> {x}"""
    (func,) = passline.load(group([(70, 70)], body, (70, 70))).body.block.ops
    assert isinstance(func, FuncOp)
    assert tile_kernel_of(func, Target("sm_90")) is None


def test_a_transposed_operand_is_normalized():
    x, y = tensor((3, 65, 9)), tensor((3, 9, 65))
    body = f"""
        %0 = relax.transpose %a0 {{axes = [0, 2, 1]}} : ({x}) -> {y}
        %r = relax.nn.softmax %0 : ({y}) -> {y}"""
    check_tiles(group([(3, 65, 9)], body, (3, 9, 65)), [numbers(3, 65, 9)], 1e-5, 1e-6)


def test_unknown_sizes():
    x = tensor(("?", "?"))
    body = f"%0 = relax.transpose %a0 : ({x}) -> {x}\n%r = relax.nn.relu %0 : ({x}) -> {x}"
    check_tiles(group([("?", "?")], body, ("?", "?")), [numbers(33, 70)])


def test_merged_dimensions_are_one():
    x, y = tensor((2, 16, 7, 7)), tensor((16, 1, 1))
    body = f"%r = relax.add %a0, %a1 : ({x}, {y}) -> {x}"
    _, kernel = kernel_of_text(group([(2, 16, 7, 7), (16, 1, 1)], body, (2, 16, 7, 7)))
    assert "tensor_view<2x16x49xf32" in str(kernel.entries[0])
