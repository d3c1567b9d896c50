"""The semantics of convolutions, with sums over all positions as the oracle."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import Array, constant, run
from support.operations.geometry import Geometry, geometries
from support.pairs import pairs
from support.tables import table_test
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.interpreter import Interpreter

from passline.compiler.interpreters.relax import RelaxFunctions
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.contraction.convolution import (
    Conv1dOp,
    Conv1dTransposeOp,
    Conv2dOp,
    Conv2dTransposeOp,
    Conv3dOp,
    Conv3dTransposeOp,
    ConvolutionOp,
)
from passline.dialects.relax.data.manipulation import LayoutTransformOp
from passline.dialects.relax.types import Element

FORWARD: list[type[ConvolutionOp]] = [Conv1dOp, Conv2dOp, Conv3dOp]
TRANSPOSED: list[type[ConvolutionOp]] = [Conv1dTransposeOp, Conv2dTransposeOp, Conv3dTransposeOp]


def numbers(*shape: int, seed: int = 0) -> Array:
    """Small integers, whose sums of products are exact in every type."""
    return np.random.default_rng(seed).integers(-3, 4, shape)


def convolution(x: Array, weight: Array, g: Geometry, groups: int) -> Array:
    padded = [n + b + a for n, b, a in zip(g.extents, g.before, g.after, strict=True)]
    out = [(n - k) // s + 1 for n, k, s in zip(padded, g.spans, g.strides, strict=True)]
    outputs, inputs = weight.shape[:2]
    result = np.zeros((len(x), outputs, *out), x.dtype)
    for n, o, window in product(range(len(x)), range(outputs), product(*map(range, out))):
        first = o // (outputs // groups) * inputs
        for tap, place in g.places(window):
            if g.inside(place):
                terms = x[n, first : first + inputs, *place] * weight[o, :, *tap]
                result[n, o, *window] += terms.sum()
    return result


def transposed_convolution(
    x: Array, weight: Array, g: Geometry, groups: int, out: list[int]
) -> Array:
    """Each element of `x` added to the places of the result that its window covers."""
    inputs, outputs = x.shape[1], weight.shape[1]
    result = np.zeros((len(x), outputs * groups, *out), x.dtype)
    for n, c, window in product(
        range(len(x)), range(inputs), product(*(range(k) for k in x.shape[2:]))
    ):
        first = c // (inputs // groups) * outputs
        for tap, place in g.places(window):
            if all(0 <= i < k for i, k in zip(place, out, strict=True)):
                term = x[n, c, *window] * weight[c, :, *tap]
                result[n, first : first + outputs, *place] += term
    return result


@given(geometries(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2))
def test_convolution(g: Geometry, groups: int, outputs: int, inputs: int, batch: int):
    x = numbers(batch, groups * inputs, *g.extents)
    weight = numbers(groups * outputs, inputs, *g.sizes, seed=1)
    op = FORWARD[g.rank - 1](
        constant(x, f32),
        constant(weight, f32),
        strides=g.strides,
        padding=g.padding,
        dilation=g.dilation,
        groups=groups,
    )
    result = run(op)
    assert op.result.type == TensorType(f32, result.shape)
    np.testing.assert_array_equal(result, convolution(x, weight, g, groups))


@given(geometries(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.data())
def test_transposed_convolution(
    g: Geometry, groups: int, outputs: int, inputs: int, data: st.DataObject
):
    more = data.draw(st.lists(st.integers(0, 2), min_size=g.rank, max_size=g.rank))
    sizes = zip(g.extents, g.strides, g.spans, g.before, g.after, more, strict=True)
    out = [(n - 1) * s + span - b - a + m for n, s, span, b, a, m in sizes]
    if min(out) < 1:
        return
    x = numbers(2, groups * inputs, *g.extents)
    weight = numbers(groups * inputs, outputs, *g.sizes, seed=1)
    op = TRANSPOSED[g.rank - 1](
        constant(x, f32),
        constant(weight, f32),
        strides=g.strides,
        padding=g.padding,
        dilation=g.dilation,
        output_padding=more,
        groups=groups,
    )
    result = run(op)
    assert op.result.type == TensorType(f32, result.shape)
    np.testing.assert_array_equal(result, transposed_convolution(x, weight, g, groups, out))


def test_a_large_convolution_is_computed_in_parts():
    """More elements of windows than are copied at a time: of several images, and of one."""
    for batch, channels in ((30, 3), (2, 100)):
        g = Geometry([50, 50], [5, 5], [2, 1], [1, 1], [2, 0], [2, 1])
        x, weight = numbers(batch, channels, 50, 50), numbers(4, channels, 5, 5, seed=1)
        padded = np.pad(x, [(0, 0), (0, 0), (2, 2), (0, 1)])
        expected = sum(
            np.einsum("nchw,oc->nohw", padded[:, :, i : i + 50 : 2, j : j + 47], weight[:, :, i, j])
            for i in range(5)
            for j in range(5)
        )
        op = Conv2dOp(constant(x, f32), constant(weight, f32), strides=g.strides, padding=g.padding)
        np.testing.assert_array_equal(run(op), expected)


def peak_memory(x: Array, weight: Array, **properties: Any) -> int:
    """Return the number of bytes that a convolution allocates, its result included."""
    types = [TensorType(f32, array.shape) for array in (x, weight)]
    op = Conv2dOp(*TestOp(result_types=types).results, **properties)
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(RelaxFunctions())
    tracemalloc.start()
    try:
        interpreter.run_op(op, (x, weight))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_pointwise_convolution_copies_nothing():
    x, weight = np.ones((1, 64, 64, 64), np.float32), np.ones((64, 64, 1, 1), np.float32)
    assert peak_memory(x, weight) < 1.1 * x.nbytes


def test_windows_are_not_all_copied_at_once():
    x, weight = np.ones((1, 64, 112, 112), np.float32), np.ones((64, 64, 3, 3), np.float32)
    assert peak_memory(x, weight, padding=(1, 1)) < 6 * x.nbytes


def test_fills_are_convolved():
    """Their arrays have no elements that lie next to each other."""
    two, three = FloatAttr(2.0, f32), FloatAttr(3.0, f32)
    x = FullOp(two, TensorType(f32, (2, 5, 7)))
    for kernel in ((4, 5, 1), (4, 5, 3)):
        op = Conv1dOp(x, FullOp(three, TensorType(f32, kernel)), strides=(2,))
        expected = np.full((2, 4, (7 - kernel[2]) // 2 + 1), 30.0 * kernel[2])
        np.testing.assert_array_equal(run(op), expected)
    op = Conv1dTransposeOp(x, FullOp(three, TensorType(f32, (5, 4, 1))))
    np.testing.assert_array_equal(run(op), np.full((2, 4, 7), 30.0))


# Layouts


@table_test(
    "data_layout, kernel_layout, out_layout",
    [
        ("NHWC", "HWIO", ""),
        ("NHWC", "OHWI", "NCHW"),
        ("HWNC", "HWOI", ""),
        ("NCHW2c", "OIHW2i4o", ""),
        ("NCHW", "OIHW", "NHWC4c"),
        ("NCHW4c", "OIHW4o", "NCHW2c"),
        ("NCHW2n4c", "IOHW", "NHWC"),
    ],
)
def test_layouts(data_layout: str, kernel_layout: str, out_layout: str):
    x, weight = constant(numbers(2, 8, 5, 4), f32), constant(numbers(8, 4, 3, 2, seed=1), f32)
    plain = Conv2dOp(x, weight, groups=2, strides=(2, 1), padding=(1, 0))
    op = Conv2dOp(
        LayoutTransformOp(x, src_layout="NCHW", dst_layout=data_layout),
        LayoutTransformOp(weight, src_layout="OIHW", dst_layout=kernel_layout),
        groups=2,
        strides=(2, 1),
        padding=(1, 0),
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=out_layout,
    )
    out = out_layout or data_layout
    expected = run(LayoutTransformOp(plain, src_layout="NCHW", dst_layout=out))
    np.testing.assert_array_equal(run(op), expected, strict=True)
    assert op.result.type == TensorType(f32, expected.shape)


def test_layouts_of_a_transposed_convolution():
    x, weight = constant(numbers(2, 8, 5, 4), f32), constant(numbers(8, 4, 3, 2, seed=1), f32)
    plain = Conv2dTransposeOp(x, weight, strides=(2, 1))
    op = Conv2dTransposeOp(
        LayoutTransformOp(x, src_layout="NCHW", dst_layout="NHWC4c"),
        LayoutTransformOp(weight, src_layout="IOHW", dst_layout="HWOI"),
        strides=(2, 1),
        data_layout="NHWC4c",
        kernel_layout="HWOI",
        out_layout="NHWC",
    )
    expected = run(plain).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(run(op), expected, strict=True)


# Element types


@pairs(
    cls=[Conv1dOp, Conv1dTransposeOp], groups=[1, 4], element=[f16, bf16, f32, f64, i8, i32, i64]
)
def test_element_types(cls: type[ConvolutionOp], groups: int, element: Element):
    x, weight = numbers(1, 4, 6), numbers(4, 4 // groups, 2, seed=1)
    result = run(cls(constant(x, element), constant(weight, element), groups=groups))
    expected = run(cls(constant(x, f64), constant(weight, f64), groups=groups))
    assert result.dtype == run(constant(x, element)).dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_sums_of_narrow_floats_are_f32(element: Element):
    """In f16 and bf16, 2048 + 1 is 2048."""
    x = constant(np.array([2048.0] + [1.0] * 2048).reshape(1, 2049, 1), element)
    one = constant(np.ones((1, 2049, 1)), element)
    assert run(Conv1dOp(x, one))[0, 0, 0] == 4096
    assert run(Conv1dTransposeOp(x, constant(np.ones((2049, 1, 1)), element)))[0, 0, 0] == 4096


def test_out_dtype_is_that_of_the_sums():
    ui8 = IntegerType(8, Signedness.UNSIGNED)
    x, weight = constant(np.full((1, 3, 1), 200), ui8), constant(np.full((1, 3, 1), -100), i8)
    wide = Conv1dOp(x, weight, out_dtype=i32)
    assert run(wide).dtype == np.int32 and run(wide)[0, 0, 0] == -60000
    half = constant(np.full((1, 3, 1), 300), f16)
    product = Conv1dOp(half, half, out_dtype=f32)
    assert run(product).dtype == np.float32 and run(product)[0, 0, 0] == 270000


def test_integers_wrap_around():
    x = constant(np.full((1, 3, 1), 100), i8)
    assert run(Conv1dOp(x, x))[0, 0, 0] == np.int8(30000 % 256)
    big = constant(np.full((1, 3, 1), 2**62 + 1), i64)
    assert run(Conv1dOp(big, big))[0, 0, 0] == 3 - 2**63


@pytest.mark.parametrize("shape", [(0, 2, 3), (1, 2, 3)])
def test_empty_batches_and_channels(shape: tuple[int, int, int]):
    x = constant(np.ones(shape), f32)
    result = run(Conv1dOp(x, constant(np.ones((3, 2, 2)), f32)))
    np.testing.assert_array_equal(result, np.full((shape[0], 3, 2), 4.0))
    nothing: ConstantOp = constant(np.ones((1, 0, 3)), f32)
    result = run(Conv1dOp(nothing, constant(np.ones((3, 0, 2)), f32)))
    np.testing.assert_array_equal(result, np.zeros((1, 3, 2)))


@pytest.mark.parametrize("groups", [1, 2])
def test_outputs_of_a_fill_are_the_same_to_the_last_bit(groups: int):
    rng = np.random.default_rng(0)
    x = constant(rng.standard_normal((2, 6, 9, 9)), f32)
    fill = FullOp(FloatAttr(0.02, f32), TensorType(f32, [34, 6 // groups, 3, 3]))
    result = run(Conv2dOp(x, fill, groups=groups)).reshape(2, groups, 34 // groups, 7, 7)
    assert (result == result[:, :, :1]).all()
    expanded = run(Conv2dOp(x, constant(run(fill), f32), groups=groups))
    np.testing.assert_allclose(result.reshape(expanded.shape), expanded, rtol=0, atol=1e-7)
