"""Converters of operators on quantized tensors: (q - zero point) * scale."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, Signedness, f32, i16, i32
from xdsl.ir import SSAValue

from .....dialects.relax.contraction.convolution import ConvolutionOp
from .....dialects.relax.types import Element, SmallFloat
from ...errors import Unsupported
from ...node import Converters, Node
from ...types import element_type
from ..nn.nn import convolved
from .casts import to_small

__all__ = ["QUANTIZATION"]

UI8 = IntegerType(8, Signedness.UNSIGNED)


def along_axis(node: Node, value: SSAValue, x: SSAValue) -> SSAValue:
    """Reshape a scale or zero point to broadcast with x: one number, one per index of an axis,
    or one per block of it."""
    rank = node.rank(value)
    if rank == 0 or node.shape(value) == (1,):
        return node.op("reshape", value, newshape=[]) if rank else value
    axis = node.axis(node.int("axis", 1), x)
    block = node.int("block_size")
    if block:
        repeated = node.op("repeat", value, repeats=block, axis=axis)
        size = node.static_shape(x)[axis]
        if node.shape(repeated)[axis] == size:
            return repeated
        return node.op("strided_slice", repeated, begin=[0], end=[size], axes=[axis])
    after = node.rank(x) - axis - 1
    return node.op("expand_dims", value, axis=[*range(1, after + 1)]) if after else value


def quantize_linear(node: Node) -> Sequence[SSAValue]:
    x, scale = node.input(0), node.input(1)
    element: Element = UI8
    if node.has(2):
        element = node.element(2)
    elif data_type := node.int("output_dtype"):
        element = element_type(data_type)
    precision = node.int("precision")
    computed = element_type(precision) if precision else node.element(scale)
    x, scale = node.cast(x, computed), node.cast(along_axis(node, scale, x), computed)
    if isinstance(element, SmallFloat):  # it has no zero point
        return [to_small(node, node.op("divide", x, scale), element)]
    if not isinstance(element, IntegerType):
        raise Unsupported(f"quantization to {element}")
    zero = along_axis(node, node.input(2), x) if node.has(2) else node.full(0, element)
    return [node.op("quantize", x, scale, zero)]


def dequantize_linear(node: Node) -> Sequence[SSAValue]:
    x, scale = node.input(0), node.input(1)
    element = node.element(scale)
    if data_type := node.int("output_dtype"):
        element = element_type(data_type)
    if isinstance(node.element(x), SmallFloat):  # it has no zero point
        value = node.cast(x, element)
        return [node.op("multiply", value, node.cast(along_axis(node, scale, x), element))]
    zero = along_axis(node, node.input(2), x) if node.has(2) else node.full(0, node.element(x))
    return [node.op("dequantize", x, node.cast(along_axis(node, scale, x), element), zero)]


def dynamic_quantize_linear(node: Node) -> Sequence[SSAValue]:
    return dynamically_quantized(node, node.input(0))


def dynamically_quantized(node: Node, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return x as ui8, with the scale and zero point for its range."""
    nought = node.full(0, f32)
    high = node.op("maximum", node.op("max", x), nought)
    low = node.op("minimum", node.op("min", x), nought)
    scale = node.op("divide", node.op("subtract", high, low), node.full(255, f32))
    zero = node.op("divide", node.op("subtract", nought, low), scale)
    zero = node.op("round", node.op("clip", zero, min=0.0, max=255.0))
    zero = node.cast(zero, UI8)
    return node.op("quantize", x, scale, zero), scale, zero


# Products of integers, less their zero points


def is_zero(node: Node, point: SSAValue | None) -> bool:
    """Return whether a zero point is absent, or a constant of zeros."""
    if point is None:
        return True
    known = node.importer.array(point)
    return known is not None and not known.any()


def centred(node: Node, x: SSAValue, point: SSAValue | None, axis: int | None = None) -> SSAValue:
    """Return x minus its zero point, which may vary along an axis: as i16 if that has all
    differences, or x itself if the zero point is 0."""
    if point is None or is_zero(node, point):
        return x
    wide = i16 if node.element(x).bitwidth <= 8 else i32
    value, point = node.cast(x, wide), node.cast(point, wide)
    if node.rank(point) == 1 and axis is not None and node.shape(point) != (1,):
        after = node.rank(x) - node.axis(axis, x) - 1
        if after:
            point = node.op("expand_dims", point, axis=[*range(1, after + 1)])
    elif node.shape(point) == (1,):
        point = node.op("reshape", point, newshape=[])
    return node.op("subtract", value, point)


def integer_matmul(
    node: Node, a: SSAValue, a_zero: SSAValue | None, b: SSAValue, b_zero: SSAValue | None
) -> SSAValue:
    """Return the product of matrices of integers less their zero points, as i32.

    The zero point of `a` is subtracted from the product, so that its elements stay as they are:
    (a - z) * b = a * b - z * (sum of the columns of b).
    """
    b = centred(node, b, b_zero, -1)
    if min(node.rank(a), node.rank(b)) < 2:
        return node.op("matmul", centred(node, a, a_zero, -2), b, out_dtype=i32)
    total = node.op("matmul", a, b, out_dtype=i32)
    if a_zero is None or is_zero(node, a_zero):
        return total
    point = node.cast(a_zero, i32)
    if node.rank(point) == 1:
        newshape = [] if node.shape(point) == (1,) else [-1, 1]
        point = node.op("reshape", point, newshape=newshape)
    sums = node.op("sum", node.cast(b, i32), axis=[-2], keepdims=True)
    return node.op("subtract", total, node.op("multiply", sums, point))


def integer_conv(
    node: Node, x: SSAValue, x_zero: SSAValue | None, weight: SSAValue, w_zero: SSAValue | None
) -> SSAValue:
    """Return the convolution of integers less their zero points, as i32.

    A constant zero point of `x` is subtracted from the sums, and the data are padded with it.
    """
    weight = centred(node, weight, w_zero, 0)
    known = None if x_zero is None else node.importer.array(x_zero)
    if x_zero is None or known is None or is_zero(node, x_zero):
        return convolved(node, centred(node, x, x_zero), weight, out_dtype=i32)
    last = node.importer.block.last_op
    conv = convolved(node, x, weight, out_dtype=i32).owner
    assert isinstance(conv, ConvolutionOp)
    if conv.data is not x:  # padded by a computed width, with 0
        node.importer.erase_after(last)
        return convolved(node, centred(node, x, x_zero), weight, out_dtype=i32)
    zero, spatial = int(known.item()), node.rank(x) - 2
    total = conv.result
    if any(conv.padding):
        name, properties = conv.name.removeprefix("relax."), conv.properties
        before, after = conv.padding[:spatial], conv.padding[-spatial:]
        widths = [0, 0, 0, 0, *(w for pair in zip(before, after, strict=True) for w in pair)]
        node.importer.erase_after(last)
        x = node.op("nn.pad", x, pad_width=widths, pad_value=float(zero))
        properties = {**properties, "padding": None}
        total = node.op(name, x, weight, **{k: v for k, v in properties.items() if v is not None})
    axes = [*range(1, spatial + 2)]
    sums = node.op("sum", node.cast(weight, i32), axis=axes)
    point = node.full(zero, i32)
    correction = node.op("multiply", node.along_channels(sums, node.rank(x)), point)
    return node.op("subtract", total, correction)


def optional(node: Node, index: int) -> SSAValue | None:
    """Return an input, or None if it is absent."""
    return node.input(index) if node.has(index) else None


def matmul_integer(node: Node) -> Sequence[SSAValue]:
    a, b = node.input(0), node.input(1)
    return [integer_matmul(node, a, optional(node, 2), b, optional(node, 3))]


def conv_integer(node: Node) -> Sequence[SSAValue]:
    x, weight = node.input(0), node.input(1)
    return [integer_conv(node, x, optional(node, 2), weight, optional(node, 3))]


def requantized(
    node: Node, total: SSAValue, scales: Sequence[SSAValue], y_scale: SSAValue, y_zero: SSAValue
) -> SSAValue:
    """Quantize sums of products of quantized numbers, whose scales are given."""
    product, scale = (node.cast(value, f32) for value in scales)
    factor = node.op("divide", node.op("multiply", product, scale), node.cast(y_scale, f32))
    return node.op("requantize", total, factor, y_zero)


def as_scalar(node: Node, value: SSAValue) -> SSAValue:
    """Return a scalar for a vector of one element, else the value."""
    return node.op("reshape", value, newshape=[]) if node.shape(value) == (1,) else value


def ql_matmul(node: Node) -> Sequence[SSAValue]:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (node.input(i) for i in range(8))
    total = integer_matmul(node, a, a_zero, b, b_zero)
    a_scale, b_scale, y_scale, y_zero = (
        as_scalar(node, value) for value in (a_scale, b_scale, y_scale, y_zero)
    )
    a_scale, y_scale, y_zero = (
        node.op("expand_dims", value, axis=[1]) if node.rank(value) == 1 else value
        for value in (a_scale, y_scale, y_zero)
    )
    return [requantized(node, total, (a_scale, b_scale), y_scale, y_zero)]


def ql_conv(node: Node) -> Sequence[SSAValue]:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero = (node.input(i) for i in range(8))
    total = integer_conv(node, x, x_zero, weight, w_zero)
    if node.has(8):
        total = node.op("nn.bias_add", total, node.input(8))
    x_scale, w_scale, y_scale, y_zero = (
        as_scalar(node, value) for value in (x_scale, w_scale, y_scale, y_zero)
    )
    if node.rank(w_scale):
        w_scale = node.along_channels(w_scale, node.rank(x))
    return [requantized(node, total, (x_scale, w_scale), y_scale, y_zero)]


QUANTIZATION: Converters = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "MatMulInteger": matmul_integer,
    "QLinearConv": ql_conv,
    "QLinearMatMul": ql_matmul,
    "QuantizeLinear": quantize_linear,
}
