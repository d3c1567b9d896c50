"""Kernels of reductions compute what the operations do."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from support.budget import some
from support.operations.evaluation import constant, i4
from support.operations.legalized import check_kernel, legalize
from support.pairs import pairs
from support.parsing import parsed
from support.passes.results import run
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32, i64

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.reduction import reduction as ops
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 1e-6, f64: 1e-14}
ELEMENTS: list[Element] = [*CLOSE, i1, i4, i8, i32, i64]
NUMBERS = (ops.SumOp, ops.MeanOp, ops.MaxOp, ops.MinOp, ops.ProdOp)
BOOLS = (ops.AnyOp, ops.AllOp)
INDICES = (ops.ArgmaxOp, ops.ArgminOp)
AXES = [None, [], [0], [-1], [0, 2], [2, -2, 0]]


def numbers(element: Element) -> ConstantOp:
    return constant(np.arange(-4, 8).reshape(2, 3, 2) % 7 - 2, element)


@pytest.mark.parametrize("op", NUMBERS)
def test_numbers(op: type[ops.ReductionOp]):
    for element in ELEMENTS:
        check_kernel(op(numbers(element), axis=[-1]), CLOSE.get(element, 0))
        check_kernel(op(numbers(element)), CLOSE.get(element, 0))


@pairs(op=NUMBERS, axes=AXES, keepdims=[False, True])
def test_axes(op: type[ops.ReductionOp], axes: list[int] | None, keepdims: bool):
    check_kernel(op(numbers(f32), axis=axes, keepdims=keepdims), CLOSE[f32])


@pytest.mark.parametrize("op", BOOLS)
@pytest.mark.parametrize("axes", AXES[:4], ids=str)
def test_bools(op: type[ops.ReductionOp], axes: list[int] | None):
    for values in ([[True, False], [True, True], [False, False]], np.zeros((2, 0), np.bool_)):
        check_kernel(op(constant(values, i1), axis=axes))


@pairs(op=INDICES, element=ELEMENTS, last=[False, True])
def test_indices(op: type[ops.ArgReductionOp], element: Element, last: bool):
    check_kernel(op(numbers(element), axis=1, select_last_index=last))
    check_kernel(op(numbers(element), select_last_index=last))


@pairs(op=INDICES, axis=[0, 1, -1, None], keepdims=[False, True])
def test_axis_of_indices(op: type[ops.ArgReductionOp], axis: int | None, keepdims: bool):
    check_kernel(op(numbers(i8), axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("element", list(CLOSE), ids=str)
def test_special_numbers(element: Element):
    x = constant(
        [
            [math.nan, 1.0, 2.0, math.nan],
            [2.0, math.nan, -math.inf, 2.0],
            [-math.inf] * 4,
            [math.inf] * 4,
            [0.0, -3.0, math.inf, math.inf],
        ],
        element,
    )
    for op in NUMBERS:
        check_kernel(op(x, axis=[1]))
    for op in INDICES:
        for last in (False, True):
            check_kernel(op(x, axis=1, select_last_index=last))


@pytest.mark.parametrize("op", NUMBERS)
def test_of_no_elements(op: type[ops.ReductionOp]):
    for element in [f32, i1, i8, i64]:
        none = constant(np.zeros((2, 0)).astype(int), element)
        for axes in ([0], [1], None):
            check_kernel(op(none, axis=axes))


@pytest.mark.parametrize("size", [31, 32, 35, 64])
def test_long_rows(size: int):
    """Lanes have sums of their own."""
    x = np.random.default_rng(0).permutation(2 * size).reshape(2, size) - size
    for op in (ops.SumOp, ops.MaxOp, ops.MinOp, ops.MeanOp):
        check_kernel(op(constant(x, i32), axis=[1]))
        check_kernel(op(constant(x, f32)), 1e-6)
    check_kernel(ops.ProdOp(constant(1 + x / 1000, f32), axis=[1]), 1e-5)


TARGETS = ["x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v3{vector-registers=8 l1-cache=1024}"]


def shapes(seed: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Return random shapes with random axes: merged and single dimensions, of extent 1, shorter and
    longer than vectors, multiples of vectors and not."""
    rng = np.random.default_rng(seed)
    for _ in range(4):
        shape = (*(int(n) for n in rng.choice([1, 2, 3, 7, 8, 16, 33], rng.integers(1, 4))),)
        axes = [axis for axis in range(len(shape)) if rng.integers(2)]
        yield shape, axes or [int(rng.integers(len(shape)))]
    yield from [((3, 75), [0]), ((2, 75), [1]), ((2, 9, 37), [1]), ((70, 5), [0])]


@pytest.mark.parametrize("target", TARGETS)
def test_random_shapes(target: str):
    for shape, axes in some(shapes(len(target)), 2):
        x = np.random.default_rng(1).normal(0, 1, shape)
        for op in (ops.SumOp, ops.MaxOp):
            check_kernel(op(constant(x, f32), axis=axes), 1e-5, 1e-5, target)
        check_kernel(ops.MeanOp(constant(x, f16), axis=axes, keepdims=True), 2e-3, 1e-3, target)
        check_kernel(ops.SumOp(constant((9 * x).astype(int), i8), axis=axes), target=target)
        check_kernel(ops.AnyOp(constant(x > 2, i1), axis=axes), target=target)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_indices_in_random_shapes(target: str, last: bool):
    for shape, (axis, *_) in some(shapes(len(target)), 5):
        x = np.random.default_rng(1).integers(-4, 4, shape)
        some_nan = np.where(x == 3, np.nan, x)
        for op in INDICES:
            for element in (x, f32), (some_nan, f32), (some_nan, f16), (x, i8), (x, i64):
                argument = constant(*element)
                check_kernel(op(argument, axis=axis, select_last_index=last), target=target)
        check_kernel(ops.ArgmaxOp(constant(x, f64), select_last_index=last), target=target)


@pytest.mark.parametrize("keepdims", [False, True])
def test_fused(keepdims: bool):
    """Operations before a reduction are computed in its loops, those after it from a buffer."""
    before = "%0 = relax.multiply %x, %y : (tensor<2x3x1x5xf32>, tensor<5xf32>) -> "
    before += "tensor<2x3x1x5xf32>"
    shape = "1x1x1x5" if keepdims else "5"
    function = f"""
    func.func @main(%x: tensor<2x3x1x5xf32>, %y: tensor<5xf32>) -> tensor<{shape}xf32> {{
      %0 = func.call @fused(%x, %y) : (tensor<2x3x1x5xf32>, tensor<5xf32>) -> tensor<{shape}xf32>
      func.return %0 : tensor<{shape}xf32>
    }}
    func.func private @fused(%x: tensor<2x3x1x5xf32>, %y: tensor<5xf32>) -> tensor<{shape}xf32>
        attributes {{relax.primitive}} {{
      {before}
      %1 = relax.sum %0 {{axis = [0, 1, 2], keepdims = {str(keepdims).lower()}}}
        : (tensor<2x3x1x5xf32>) -> tensor<{shape}xf32>
      %2 = relax.add %1, %y : (tensor<{shape}xf32>, tensor<5xf32>) -> tensor<{shape}xf32>
      func.return AFTER : tensor<{shape}xf32>
    }}"""
    x = np.arange(30, dtype=np.float32).reshape(2, 3, 1, 5)
    y = np.arange(5, dtype=np.float32) - 2
    total = (x * y).sum((0, 1, 2), keepdims=keepdims)
    for result, expected in ("%1", total), ("%2", total + y):
        module = parsed(function.replace("AFTER", result))
        legalize(module)
        np.testing.assert_array_equal(run(module, "main", (x, y))[0], expected)


def test_integers_wrap_around():
    x = constant([100, 100, -128, 3], i8)
    for op in NUMBERS:
        check_kernel(op(x))


def test_sums_of_f16_are_f32():
    x = constant(np.full(3000, 1.0), f16)
    check_kernel(ops.SumOp(x))


@pytest.mark.parametrize("shape", [(), (1,), (1, 4), (4, 1)], ids=str)
def test_shapes(shape: tuple[int, ...]):
    x = constant(np.arange(4)[: math.prod(shape)].reshape(shape), f32)
    check_kernel(ops.SumOp(x))
    check_kernel(ops.ArgmaxOp(x))
