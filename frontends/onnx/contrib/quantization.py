"""Converters of operators of com.microsoft on quantized tensors.

Where an operator is defined by floats, it is a float operation between `relax.dequantize` and
`relax.quantize`, which `fake-quantization-to-integer` computes in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.relax.types import is_integer
from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converter, Converters, Node
from ..operators.elementwise.quantization import (
    UI8,
    as_scalar,
    dequantize_linear,
    dynamically_quantized,
    integer_matmul,
    optional,
    ql_conv,
    quantize_linear,
    requantized,
)
from ..operators.expression import Expression
from ..operators.nn.nn import pooled
from .attention import joined_heads, scored, split_heads

__all__ = ["QUANTIZATION"]


# Quantized operands and results


def zero_or(node: Node, index: int, x: SSAValue) -> SSAValue:
    """Return a zero point, by default 0 of the type of `x`."""
    if node.has(index):
        return as_scalar(node, node.input(index))
    return node.full(0, node.element(x))


def dequantized(node: Node, index: int) -> SSAValue:
    """Return the numbers of a quantized input, which its scale and its zero point follow."""
    x, scale = node.input(index), as_scalar(node, node.input(index + 1))
    return node.op("dequantize", x, scale, zero_or(node, index + 2, x))


def quantized(node: Node, y: SSAValue, index: int) -> SSAValue:
    """Quantize a result by the scale that is the input `index`, and the zero point after it."""
    scale = as_scalar(node, node.input(index))
    return node.op("quantize", y, scale, zero_or(node, index + 1, node.input(0)))


def not_last(node: Node) -> None:
    """Raise Unsupported if the channels are the last dimension."""
    if node.bool("channels_last"):
        raise Unsupported("channels_last = 1")


Function = Callable[[Node, SSAValue], SSAValue]


def unary(function: Function) -> Converter:
    """Return a converter of a function of one quantized tensor."""

    def convert(node: Node) -> Sequence[SSAValue]:
        return [quantized(node, function(node, dequantized(node, 0)), 3)]

    return convert


def binary(name: str) -> Converter:
    """Return a converter of a function of two quantized tensors."""

    def convert(node: Node) -> Sequence[SSAValue]:
        y = node.op(name, dequantized(node, 0), dequantized(node, 3))
        return [quantized(node, y, 6)]

    return convert


def leaky_relu(node: Node, x: SSAValue) -> SSAValue:
    return node.op("nn.leaky_relu", x, alpha=node.float("alpha"))


def softmax(node: Node, x: SSAValue) -> SSAValue:
    """Compute the softmax along an axis; before opset 13, along it and all axes after it."""
    axis, rank = node.axis(node.int("axis"), x), node.rank(x)
    if node.int("opset") >= 13 or axis == rank - 1:
        return node.op("nn.softmax", x, axis=axis)
    sizes = node.static_shape(x)
    flat = node.op("reshape", x, newshape=[*sizes[:axis], -1])
    return node.op("reshape", node.op("nn.softmax", flat, axis=-1), newshape=sizes)


def average_pool(node: Node, x: SSAValue) -> SSAValue:
    not_last(node)
    return pooled(node, x, "avg", count_include_pad=node.bool("count_include_pad"))


def global_average_pool(node: Node, x: SSAValue) -> SSAValue:
    not_last(node)
    if node.rank(x) == 4:
        return node.op("nn.global_avg_pool2d", x)
    return node.op("mean", x, axis=[*range(2, node.rank(x))], keepdims=True)


def reduce_mean(node: Node, x: SSAValue) -> SSAValue:
    axes = node.ints("axes") or [*range(node.rank(x))]
    return node.op("mean", x, axis=axes, keepdims=node.bool("keepdims"))


def concat(node: Node) -> Sequence[SSAValue]:
    parts = [dequantized(node, i) for i in range(2, len(node.inputs), 3)]
    scale, zero = (as_scalar(node, node.input(i)) for i in (0, 1))
    return [node.op("quantize", node.op("concatenate", *parts, axis=node.int("axis")), scale, zero)]


def where(node: Node) -> Sequence[SSAValue]:
    y = node.op("where", node.input(0), dequantized(node, 1), dequantized(node, 4))
    scale, zero = (as_scalar(node, node.input(i)) for i in (7, 8))
    return [node.op("quantize", y, scale, zero)]


# Products


def plain_conv(node: Node) -> Sequence[SSAValue]:
    not_last(node)
    return ql_conv(node)


def gemm(node: Node) -> Sequence[SSAValue]:
    """Convert QGemm: a product in integers, with a bias in the scale of the sums. The result is
    float without a scale of its own."""
    a, a_scale, a_zero, b, b_scale, b_zero = (node.input(i) for i in range(6))
    if node.bool("transA"):
        a = node.op("transpose", a)
    if node.bool("transB"):
        b = node.op("transpose", b)
    total = integer_matmul(node, a, a_zero, b, b_zero)
    if node.has(6):
        total = node.op("add", total, node.input(6))
    a_scale, b_scale = as_scalar(node, a_scale), as_scalar(node, b_scale)
    if (alpha := node.float("alpha")) != 1:
        a_scale = node.op("multiply", a_scale, node.like(alpha, a_scale))
    if not node.has(7):
        return [scaled(node, total, a_scale, b_scale)]
    y_scale = as_scalar(node, node.input(7))
    return [requantized(node, total, (a_scale, b_scale), y_scale, zero_or(node, 8, a))]


def scaled(node: Node, total: SSAValue, a_scale: SSAValue, b_scale: SSAValue) -> SSAValue:
    """Return the numbers of sums of products."""
    scale = node.op("multiply", as_scalar(node, a_scale), as_scalar(node, b_scale))
    return node.op("multiply", node.cast(total, node.element(scale)), scale)


def with_bias(node: Node, y: SSAValue, index: int) -> SSAValue:
    return node.op("add", y, node.input(index)) if node.has(index) else y


def matmul_to_float(node: Node) -> Sequence[SSAValue]:
    a, b, a_scale, b_scale = (node.input(i) for i in range(4))
    total = integer_matmul(node, a, optional(node, 4), b, optional(node, 5))
    return [with_bias(node, scaled(node, total, a_scale, b_scale), 6)]


def dynamic_matmul(node: Node) -> Sequence[SSAValue]:
    """Convert DynamicQuantizeMatMul: the product of floats, quantized by their range, and constant
    integers."""
    a, scale, zero = dynamically_quantized(node, node.input(0))
    total = integer_matmul(node, a, zero, node.input(1), optional(node, 3))
    return [with_bias(node, scaled(node, total, scale, node.input(2)), 4)]


def matmul_bits(node: Node) -> Sequence[SSAValue]:
    """Convert MatMulNBits: the product of floats and constants of few bits, which have a scale for
    each block of a column."""
    bits, block = node.int("bits"), node.int("block_size")
    rows, terms = node.int("N"), node.int("K")
    if bits not in (2, 4, 8):
        raise Unsupported(f"bits = {bits}")
    if node.has(4):
        raise Unsupported("g_idx: rows of the weight in another order")
    if node.bool("weight_prepacked"):
        raise Unsupported("weight_prepacked is for one device alone")
    packed = node.constant(1)
    if packed is None:
        raise Unsupported("the weight is not constant")
    blocks = -(-terms // block)
    weight = node.array(unpacked(packed, bits, (rows, blocks, block)), UI8)
    a, scales = node.input(0), node.op("reshape", node.input(2), newshape=[rows, blocks, 1])
    if node.has(3) and not is_integer(node.element(3)):
        zeros = node.cast(node.input(3), node.element(scales))
        zeros = node.op("reshape", zeros, newshape=[rows, blocks, 1])
        numbers = node.op("subtract", node.cast(weight, node.element(scales)), zeros)
        numbers = node.op("multiply", numbers, scales)
    else:
        points = np.full((rows, blocks, 1), 1 << bits - 1, np.uint8)
        if node.has(3):
            if (given := node.constant(3)) is None:
                raise Unsupported("the zero points are not constant")
            points = unpacked(given, bits, (rows, blocks, 1))
        numbers = node.op("dequantize", weight, scales, node.array(points, UI8))
    matrix = node.op("reshape", numbers, newshape=[rows, blocks * block])
    if blocks * block != terms:
        matrix = node.op("strided_slice", matrix, begin=[0], end=[terms], axes=[1])
    y = node.op("nn.dense", a, node.cast(matrix, node.element(a)))
    return [with_bias(node, y, 5)]


def unpacked(packed: Array, bits: int, shape: tuple[int, int, int]) -> Array:
    """Return numbers of a few bits, the lowest of a byte first; a row is padded to whole bytes."""
    rows, blocks, block = shape
    per_row = blocks * block
    data = np.asarray(packed, np.uint8).reshape(rows, -1)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = (data[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    numbers = numbers.reshape(rows, -1)
    if block > 1 and numbers.shape[1] != per_row:
        raise Unsupported(f"{packed.size} bytes for {rows} rows of {per_row} numbers")
    return numbers[:, :per_row].reshape(shape)


def attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert QAttention: the projections are computed in integers, the attention in floats."""
    x, weight, bias, x_scale, w_scale = (node.input(i) for i in range(5))
    if node.given("do_rotary") and node.bool("do_rotary"):
        raise Unsupported("do_rotary = 1")
    if node.has(8):
        raise Unsupported("past keys and values")
    total = integer_matmul(node, x, optional(node, 6), weight, optional(node, 7))
    projected = Expression(node, node.op("add", scaled(node, total, x_scale, w_scale), bias))
    width = projected.shape[-1]
    if width < 0 or width % 3:
        raise Unsupported(f"{width} columns for query, key and value")
    third, heads = width // 3, node.int("num_heads")
    query, key, value = (
        split_heads(projected.slice(-1, i * third, (i + 1) * third), heads) for i in range(3)
    )
    floats = copy(node)  # masks have the type and the batch of its first input
    floats.inputs = [projected.value, *node.inputs[1:]]
    y, _ = scored(floats, query, key, value, 5, None)
    present = key.op("stack", value, axis=0).value if node.wants(1) else None
    return [joined_heads(y).value, present]


QUANTIZATION: Converters = {
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
    "MatMulNBits": matmul_bits,
    "QAttention": attention,
    "QGemm": gemm,
    "QLinearAdd": binary("add"),
    "QLinearAveragePool": unary(average_pool),
    "QLinearConcat": concat,
    "QLinearConv": plain_conv,
    "QLinearGlobalAveragePool": unary(global_average_pool),
    "QLinearLeakyRelu": unary(leaky_relu),
    "QLinearMul": binary("multiply"),
    "QLinearReduceMean": unary(reduce_mean),
    "QLinearSigmoid": unary(lambda node, x: node.op("sigmoid", x)),
    "QLinearSoftmax": unary(softmax),
    "QLinearWhere": where,
    "QuantizeLinear": quantize_linear,
}
