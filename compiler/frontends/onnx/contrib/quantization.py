"""Converters of operators of com.microsoft on quantized tensors.

Where an operator is defined by floats, it is a float operation between `relax.dequantize` and
`relax.quantize`, which `fake-quantization-to-integer` computes in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from math import prod

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import is_integer
from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converter, Converters, Node
from ..operators.expression import Expression, constant, inputs, optional
from ..operators.nn import pooled
from ..operators.quantization import (
    UI8,
    as_scalar,
    dequantize_linear,
    dynamically_quantized,
    integer_matmul,
    ql_conv,
    quantize_linear,
    requantized,
)
from .attention import joined_heads, scored, split_heads

# Quantized operands and results


def zero_or(node: Node, index: int, x: Expression) -> Expression:
    """Return a zero point, by default 0 of the type of `x`."""
    given = optional(node, index)
    return x.scalar(0) if given is None else as_scalar(given)


def dequantized(node: Node, index: int) -> Expression:
    """Return the numbers of a quantized input, which its scale and its zero point follow."""
    x, scale = inputs(node, index, index + 1)
    return x.op("dequantize", as_scalar(scale), zero_or(node, index + 2, x))


def quantized(y: Expression, index: int) -> Expression:
    """Quantize a result by the scale that is the input `index`, and the zero point after it."""
    x, scale = inputs(y.node, 0, index)
    return y.op("quantize", as_scalar(scale), zero_or(y.node, index + 1, x))


def not_last(node: Node) -> None:
    """Raise Unsupported if the channels are the last dimension."""
    if node.bool("channels_last"):
        raise Unsupported("channels_last = 1")


def unary(function: Callable[[Expression], Expression]) -> Converter:
    """Return a converter of a function of one quantized tensor."""
    return lambda node: quantized(function(dequantized(node, 0)), 3)


def binary(name: str) -> Converter:
    """Return a converter of a function of two quantized tensors."""
    return lambda node: quantized(dequantized(node, 0).op(name, dequantized(node, 3)), 6)


def softmax(x: Expression) -> Expression:
    """Compute the softmax along an axis; before opset 13, along it and all axes after it."""
    axis = x.node.axis(x.node.int("axis"), x.value)
    if x.node.int("opset") >= 13 or axis == x.rank - 1:
        return x.op("nn.softmax", axis=axis)
    sizes = x.node.static_shape(x.value)
    return x.reshape(*sizes[:axis], -1).op("nn.softmax", axis=-1).reshape(*sizes)


def average_pool(x: Expression) -> Expression:
    node = x.node
    not_last(node)
    counts = node.bool("count_include_pad")
    return Expression(node, pooled(node, x.value, "avg", count_include_pad=counts))


def global_average_pool(x: Expression) -> Expression:
    not_last(x.node)
    if x.rank == 4:
        return x.op("nn.global_avg_pool2d")
    return x.mean(*range(2, x.rank), keepdims=True)


def reduce_mean(x: Expression) -> Expression:
    axes = x.node.ints("axes") or range(x.rank)
    return x.mean(*axes, keepdims=x.node.bool("keepdims"))


def concat(node: Node) -> Expression:
    first, *others = (dequantized(node, i) for i in range(2, len(node.inputs), 3))
    scale, zero = map(as_scalar, inputs(node, 0, 1))
    return first.concat(*others, axis=node.int("axis")).op("quantize", scale, zero)


def where(node: Node) -> Expression:
    condition, scale, zero = inputs(node, 0, 7, 8)
    y = condition.where(dequantized(node, 1), dequantized(node, 4))
    return y.op("quantize", as_scalar(scale), as_scalar(zero))


# Products


def plain_conv(node: Node) -> Expression:
    not_last(node)
    return ql_conv(node)


def gemm(node: Node) -> Expression:
    """Convert QGemm: a product in integers, with a bias in the scale of the sums. The result is
    float without a scale of its own."""
    a, a_scale, a_zero, b, b_scale, b_zero = inputs(node, *range(6))
    if node.bool("transA"):
        a = a.op("transpose")
    if node.bool("transB"):
        b = b.op("transpose")
    total = with_bias(integer_matmul(a, a_zero, b, b_zero), 6)
    a_scale, b_scale = as_scalar(a_scale), as_scalar(b_scale)
    if (alpha := node.float("alpha")) != 1:
        a_scale = a_scale * alpha
    if (y_scale := optional(node, 7)) is None:
        return scaled(total, a_scale, b_scale)
    y_scale = as_scalar(y_scale)
    return requantized(total, (a_scale, b_scale), y_scale, zero_or(node, 8, a))


def scaled(total: Expression, a_scale: Expression, b_scale: Expression) -> Expression:
    """Return the numbers of sums of products."""
    scale = as_scalar(a_scale) * as_scalar(b_scale)
    return total.cast(scale.element) * scale


def with_bias(y: Expression, index: int) -> Expression:
    return y + y.node.input(index) if y.node.has(index) else y


def matmul_to_float(node: Node) -> Expression:
    a, b, a_scale, b_scale = inputs(node, *range(4))
    total = integer_matmul(a, optional(node, 4), b, optional(node, 5))
    return with_bias(scaled(total, a_scale, b_scale), 6)


def dynamic_matmul(node: Node) -> Expression:
    """Convert DynamicQuantizeMatMul: the product of floats, quantized by their range, and constant
    integers."""
    x, b, b_scale = inputs(node, *range(3))
    a, scale, zero = dynamically_quantized(x)
    total = integer_matmul(a, zero, b, optional(node, 3))
    return with_bias(scaled(total, scale, b_scale), 4)


def matmul_bits(node: Node) -> Expression:
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
    weight = constant(node, unpacked(packed, bits, (rows, blocks, block)), UI8)
    a, scales = inputs(node, 0, 2)
    scales = scales.reshape(rows, blocks, 1)
    if node.has(3) and not is_integer(node.element(3)):
        zeros = Expression(node, node.input(3)).cast(scales.element).reshape(rows, blocks, 1)
        numbers = (weight.cast(scales.element) - zeros) * scales
    else:
        points = np.full((rows, blocks, 1), 1 << bits - 1, np.uint8)
        if node.has(3):
            if (given := node.constant(3)) is None:
                raise Unsupported("the zero points are not constant")
            points = unpacked(given, bits, (rows, blocks, 1))
        numbers = weight.op("dequantize", scales, constant(node, points, UI8))
    matrix = numbers.reshape(rows, blocks * block).slice(1, 0, terms)
    return with_bias(a.op("nn.dense", matrix.cast(a.element)), 5)


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


def gather_blocks(node: Node) -> Expression:
    """Convert GatherBlockQuantized: slices of a constant of few bits, which has a scale for each
    block along an axis. An index out of bounds gives zeros."""
    scales, places = Expression(node, node.input(2)), Expression(node, node.input(1)).cast(i64)
    data, zeros = quantized_blocks(node, scales)
    gathered = node.axis(node.int("gather_axis"), data.value)
    blocked = node.axis(node.int("quantize_axis"), data.value)
    if gathered == blocked:
        raise Unsupported("gather_axis is quantize_axis")
    shape = node.static_shape(data.value)
    size, length = shape[gathered], shape[blocked]

    def slices(x: Expression) -> Expression:
        return x.op("take", places, axis=gathered, mode="wrap").cast(scales.element)

    def spread(x: Expression) -> Expression:
        axis = blocked if blocked < gathered else blocked + places.rank - 1
        repeated = slices(x).op("repeat", repeats=node.int("block_size"), axis=axis)
        return repeated.slice(axis, 0, length)

    y = (slices(data) - spread(zeros)) * spread(scales)
    inside = (places >= -size) & (places < size)
    before, after = range(gathered), range(gathered + places.rank, y.rank)
    return inside.expand(*before, *after).where(y, 0.0)


def quantized_blocks(node: Node, scales: Expression) -> tuple[Expression, Expression]:
    """Return the numbers of GatherBlockQuantized, and the zero points of its blocks."""
    data = Expression(node, node.input(0))
    if not is_integer(data.element):
        raise Unsupported(f"element type {data.element}")
    if data.element != UI8:  # int4 and uint4, whose elements are stored one by one
        return data, Expression(node, node.input(3) if node.has(3) else node.like(0, scales.value))
    if (bits := node.int("bits")) not in (2, 4, 8):
        raise Unsupported(f"bits = {bits}")
    if (packed := node.constant(0)) is None:
        raise Unsupported("the data is not constant")
    *rows, width = data.shape
    numbers = unpacked(packed, bits, (prod(rows), 1, width * 8 // bits))
    points = np.full(scales.shape, 1 << bits - 1, np.uint8)
    if node.has(3):
        if (given := node.constant(3)) is None:
            raise Unsupported("the zero points are not constant")
        *rows, blocks = scales.shape
        points = unpacked(given, bits, (prod(rows), blocks, 1)).reshape(scales.shape)
    return (
        constant(node, numbers.reshape(*data.shape[:-1], -1), UI8),
        constant(node, points, UI8),
    )


def attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert QAttention: the projections are computed in integers, the attention in floats."""
    x, weight, bias, x_scale, w_scale = inputs(node, *range(5))
    if node.bool("do_rotary"):
        raise Unsupported("do_rotary = 1")
    if node.has(8):
        raise Unsupported("past keys and values")
    total = integer_matmul(x, optional(node, 6), weight, optional(node, 7))
    projected = scaled(total, x_scale, w_scale) + bias
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
    "GatherBlockQuantized": gather_blocks,
    "MatMulIntegerToFloat": matmul_to_float,
    "MatMulNBits": matmul_bits,
    "QAttention": attention,
    "QGemm": gemm,
    "QLinearAdd": binary("add"),
    "QLinearAveragePool": unary(average_pool),
    "QLinearConcat": concat,
    "QLinearConv": plain_conv,
    "QLinearGlobalAveragePool": unary(global_average_pool),
    "QLinearLeakyRelu": unary(lambda x: x.op("nn.leaky_relu", alpha=x.node.float("alpha"))),
    "QLinearMul": binary("multiply"),
    "QLinearReduceMean": unary(reduce_mean),
    "QLinearSigmoid": unary(lambda x: x.op("sigmoid")),
    "QLinearSoftmax": unary(softmax),
    "QLinearWhere": where,
    "QuantizeLinear": quantize_linear,
}
