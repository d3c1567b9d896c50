"""Converters of operators on quantized tensors: (q - zero point) * scale."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, Signedness, f32, i32
from xdsl.ir import SSAValue

from ...dialects.relax.types import Element, SmallFloat
from .casts import to_small
from .errors import Unsupported
from .nn import convolved
from .node import Converters, Node
from .types import element_type

__all__ = ["QUANTIZATION"]

UI8 = IntegerType(8, Signedness.UNSIGNED)


def bounds(element: Element) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    if not isinstance(element, IntegerType):
        raise Unsupported(f"quantization to {element}")
    if element.signedness.data is Signedness.UNSIGNED:
        return 0, (1 << element.bitwidth) - 1
    half = 1 << element.bitwidth - 1
    return -half, half - 1


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


def quantized(
    node: Node, x: SSAValue, scale: SSAValue, zero: SSAValue | None, element: Element
) -> SSAValue:
    """Compute round(x / scale) + zero point, saturated to the type."""
    if isinstance(element, SmallFloat):  # the zero point is 0
        return to_small(node, node.op("divide", x, scale), element)
    low, high = bounds(element)
    q = node.op("round", node.op("divide", x, scale))
    if zero is not None:
        q = node.op("add", q, node.cast(zero, node.element(q)))
    return node.cast(node.op("clip", q, min=float(low), max=float(high)), element)


def quantize_linear(node: Node) -> Sequence[SSAValue]:
    x, scale = node.input(0), node.input(1)
    zero = node.input(2) if node.has(2) else None
    element: Element = UI8
    if zero is not None:
        element = node.element(zero)
        zero = None if isinstance(element, SmallFloat) else along_axis(node, zero, x)
    elif data_type := node.int("output_dtype"):
        element = element_type(data_type)
    precision = node.int("precision")
    computed = element_type(precision) if precision else node.element(scale)
    scale = node.cast(along_axis(node, scale, x), computed)
    return [quantized(node, node.cast(x, computed), scale, zero, element)]


def dequantize_linear(node: Node) -> Sequence[SSAValue]:
    x, scale = node.input(0), node.input(1)
    element = node.element(scale)
    if data_type := node.int("output_dtype"):
        element = element_type(data_type)
    value = node.cast(x, element)
    if node.has(2):
        zero = along_axis(node, node.cast(node.input(2), element), x)
        value = node.op("subtract", value, zero)
    scale = node.cast(along_axis(node, scale, x), element)
    return [node.op("multiply", value, scale)]


def dynamic_quantize_linear(node: Node) -> Sequence[SSAValue]:
    """Convert DynamicQuantizeLinear: to ui8, with the scale and zero point for the range of x."""
    x, nought = node.input(0), node.full(0, f32)
    high = node.op("maximum", node.op("max", x), nought)
    low = node.op("minimum", node.op("min", x), nought)
    scale = node.op("divide", node.op("subtract", high, low), node.full(255, f32))
    zero = node.op("divide", node.op("subtract", nought, low), scale)
    zero = node.op("round", node.op("clip", zero, min=0.0, max=255.0))
    zero = node.cast(zero, UI8)
    return [quantized(node, x, scale, zero, UI8), scale, zero]


def centred(node: Node, x: SSAValue, zero: int, axis: int | None = None) -> SSAValue:
    """Return x minus its zero point, as i32; the zero point may vary along an axis."""
    value = node.cast(x, i32)
    if not node.has(zero):
        return value
    point = node.cast(node.input(zero), i32)
    if node.rank(point) == 1 and axis is not None and node.shape(point) != (1,):
        after = node.rank(x) - node.axis(axis, x) - 1
        if after:
            point = node.op("expand_dims", point, axis=[*range(1, after + 1)])
    elif node.shape(point) == (1,):
        point = node.op("reshape", point, newshape=[])
    return node.op("subtract", value, point)


def matmul_integer(node: Node) -> Sequence[SSAValue]:
    a, b = node.input(0), node.input(1)
    return [node.op("matmul", centred(node, a, 2, -2), centred(node, b, 3, -1))]


def conv_integer(node: Node) -> Sequence[SSAValue]:
    x, weight = node.input(0), node.input(1)
    return [convolved(node, centred(node, x, 2), centred(node, weight, 3, 0))]


def requantized(
    node: Node, total: SSAValue, scale: SSAValue, y_scale: SSAValue, y_zero: SSAValue
) -> SSAValue:
    """Quantize sums of products of quantized numbers."""
    value = node.op("multiply", node.cast(total, f32), node.cast(scale, f32))
    return quantized(node, value, node.cast(y_scale, f32), y_zero, node.element(y_zero))


def ql_matmul(node: Node) -> Sequence[SSAValue]:
    a, a_scale, _, b, b_scale, _, y_scale, y_zero = (node.input(i) for i in range(8))
    total = node.op("matmul", centred(node, a, 2, -2), centred(node, b, 5, -1))
    if node.rank(a_scale) == 1 and node.shape(a_scale) != (1,):
        a_scale = node.op("expand_dims", a_scale, axis=[1])
    scale = node.op("multiply", a_scale, b_scale)
    return [requantized(node, total, scale, y_scale, y_zero)]


def ql_conv(node: Node) -> Sequence[SSAValue]:
    x, x_scale, _, weight, w_scale, _, y_scale, y_zero = (node.input(i) for i in range(8))
    total = convolved(node, centred(node, x, 2), centred(node, weight, 5, 0))
    if node.has(8):
        total = node.op("nn.bias_add", total, node.input(8))
    if node.rank(w_scale) == 1 and node.shape(w_scale) != (1,):
        after = [*range(1, node.rank(x) - 1)]
        w_scale = node.op("expand_dims", w_scale, axis=after)
    elif node.rank(w_scale):
        w_scale = node.op("reshape", w_scale, newshape=[])
    scale = node.op("multiply", x_scale, w_scale)
    return [requantized(node, total, scale, y_scale, y_zero)]


QUANTIZATION: Converters = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "MatMulInteger": matmul_integer,
    "QLinearConv": ql_conv,
    "QLinearMatMul": ql_matmul,
    "QuantizeLinear": quantize_linear,
}
