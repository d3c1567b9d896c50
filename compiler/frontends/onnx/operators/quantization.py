"""Converters of operators on quantized tensors: (q - zero point) * scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness, f32, i16, i32, i64
from xdsl.ir import SSAValue

from .....dialects.relax.contraction.convolution import ConvolutionOp
from .....dialects.relax.types import Element, SmallFloat
from ..errors import Unsupported
from ..node import Converter, Converters, Node
from ..types import element_type
from .elementwise import to_small
from .expression import Expression, inputs, optional, size_along
from .nn import convolved

UI8 = IntegerType(8, Signedness.UNSIGNED)


def along_axis(value: Expression, x: Expression) -> Expression:
    """Reshape a scale or zero point to broadcast with x: one number, one per index of an axis,
    or one per block of it."""
    node = value.node
    if value.rank == 0 or value.shape == (1,):
        return as_scalar(value)
    axis = node.axis(node.int("axis", 1), x.value)
    if block := node.int("block_size"):
        repeated = value.op("repeat", repeats=block, axis=axis)
        if (size := x.shape[axis]) != DYNAMIC_INDEX:
            return repeated.slice(axis, 0, size)
        begin, along, step = (node.array([number], i64) for number in (0, axis, 1))
        return repeated.op("dyn.strided_slice", begin, size_along(x, axis).reshape(1), along, step)
    return value.expand(*range(1, x.rank - axis))


def quantize_linear(node: Node) -> SSAValue:
    x, scale = inputs(node, 0, 1)
    element: Element = UI8
    if node.has(2):
        element = node.element(2)
    elif data_type := node.int("output_dtype"):
        element = element_type(data_type)
    precision = node.int("precision")
    computed = element_type(precision) if precision else scale.element
    x, scale = x.cast(computed), along_axis(scale, x).cast(computed)
    if isinstance(element, SmallFloat):  # it has no zero point
        return to_small(node, (x / scale).value, element)
    if not isinstance(element, IntegerType):
        raise Unsupported(f"quantization to {element}")
    return x.op("quantize", scale, zero_point(node, x, element)).value


def dequantize_linear(node: Node) -> Expression:
    x, scale = inputs(node, 0, 1)
    element = scale.element
    if data_type := node.int("output_dtype"):
        element = element_type(data_type)
    if isinstance(x.element, SmallFloat):  # it has no zero point
        return x.cast(element) * along_axis(scale, x).cast(element)
    zero = zero_point(node, x, x.element)
    return x.op("dequantize", along_axis(scale, x).cast(element), zero)


def zero_point(node: Node, x: Expression, element: Element) -> Expression:
    """Return the zero point of QuantizeLinear and DequantizeLinear, by default 0."""
    given = optional(node, 2)
    return Expression(node, node.full(0, element)) if given is None else along_axis(given, x)


def dynamically_quantized(x: Expression) -> tuple[Expression, Expression, Expression]:
    """Return x as ui8, with the scale and zero point for its range."""
    nought = Expression(x.node, x.node.full(0, f32))
    high, low = x.op("max").op("maximum", nought), x.op("min").op("minimum", nought)
    scale = (high - low) / Expression(x.node, x.node.full(255, f32))
    zero = ((nought - low) / scale).op("clip", min=0.0, max=255.0).op("round").cast(UI8)
    return x.op("quantize", scale, zero), scale, zero


# Products of integers, less their zero points


def is_zero(point: Expression | None) -> bool:
    """Return whether a zero point is absent, or a constant of zeros."""
    if point is None:
        return True
    known = point.node.importer.array(point.value)
    return known is not None and not known.any()


def centred(x: Expression, point: Expression | None, axis: int | None = None) -> Expression:
    """Return x minus its zero point, which may vary along an axis: as i16 if that has all
    differences, or x itself if the zero point is 0."""
    if point is None or is_zero(point):
        return x
    wide = i16 if x.element.bitwidth <= 8 else i32
    value, point = x.cast(wide), point.cast(wide)
    if point.shape == (1,):
        point = point.reshape()
    elif point.rank == 1 and axis is not None:
        point = point.expand(*range(1, x.rank - x.node.axis(axis, x.value)))
    return value - point


def integer_matmul(
    a: Expression, a_zero: Expression | None, b: Expression, b_zero: Expression | None
) -> Expression:
    """Return the product of matrices of integers less their zero points, as i32.

    The zero point of `a` is subtracted from the product, so that its elements stay as they are:
    (a - z) * b = a * b - z * (sum of the columns of b).
    """
    b = centred(b, b_zero, -1)
    if min(a.rank, b.rank) < 2:
        return centred(a, a_zero, -2).op("matmul", b, out_dtype=i32)
    total = a.op("matmul", b, out_dtype=i32)
    if a_zero is None or is_zero(a_zero):
        return total
    point = a_zero.cast(i32)
    if point.rank == 1:
        point = point.reshape() if point.shape == (1,) else point.reshape(-1, 1)
    return total - b.cast(i32).sum(-2, keepdims=True) * point


def integer_conv(
    x: Expression, x_zero: Expression | None, weight: Expression, w_zero: Expression | None
) -> Expression:
    """Return the convolution of integers less their zero points, as i32.

    A constant zero point of `x` is subtracted from the sums, and the data are padded with it.
    """
    node, weight = x.node, centred(weight, w_zero, 0)

    def convolution(x: Expression) -> Expression:
        return Expression(node, convolved(node, x.value, weight.value, out_dtype=i32))

    known = None if x_zero is None else node.importer.array(x_zero.value)
    if known is None or is_zero(x_zero):
        return convolution(centred(x, x_zero))
    last = node.importer.block.last_op
    total = convolution(x)
    conv = total.value.owner
    assert isinstance(conv, ConvolutionOp)
    if conv.data is not x.value:  # padded by a computed width, with 0
        node.importer.erase_after(last)
        return convolution(centred(x, x_zero))
    zero, spatial = int(known.item()), x.rank - 2
    if any(conv.padding):
        name, properties = conv.name.removeprefix("relax."), conv.properties
        before, after = conv.padding[:spatial], conv.padding[-spatial:]
        widths = [0, 0, 0, 0, *(w for pair in zip(before, after, strict=True) for w in pair)]
        node.importer.erase_after(last)
        x = x.op("nn.pad", pad_width=widths, pad_value=float(zero))
        properties = {**properties, "padding": None}
        total = x.op(name, weight, **{k: v for k, v in properties.items() if v is not None})
    sums = weight.cast(i32).sum(*range(1, spatial + 2))
    point = Expression(node, node.full(zero, i32))
    return total - Expression(node, node.along_channels(sums.value, x.rank)) * point


def requantized(
    total: Expression, scales: Sequence[Expression], y_scale: Expression, y_zero: Expression
) -> Expression:
    """Quantize sums of products of quantized numbers, whose scales are given."""
    product, scale = (value.cast(f32) for value in scales)
    return total.op("requantize", product * scale / y_scale.cast(f32), y_zero)


def as_scalar(value: Expression) -> Expression:
    """Return a scalar for a vector of one element, else the value."""
    return value.reshape() if value.shape == (1,) else value


def ql_matmul(node: Node) -> Expression:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs(node, *range(8))
    total = integer_matmul(a, a_zero, b, b_zero)
    a_scale, b_scale, y_scale, y_zero = map(as_scalar, (a_scale, b_scale, y_scale, y_zero))
    a_scale, y_scale, y_zero = (
        value.expand(1) if value.rank == 1 else value for value in (a_scale, y_scale, y_zero)
    )
    return requantized(total, (a_scale, b_scale), y_scale, y_zero)


def ql_conv(node: Node) -> Expression:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero = inputs(node, *range(8))
    total = integer_conv(x, x_zero, weight, w_zero)
    if node.has(8):
        total = total.op("nn.bias_add", node.input(8))
    x_scale, w_scale, y_scale, y_zero = map(as_scalar, (x_scale, w_scale, y_scale, y_zero))
    if w_scale.rank:
        w_scale = Expression(node, node.along_channels(w_scale.value, x.rank))
    return requantized(total, (x_scale, w_scale), y_scale, y_zero)


def integer_product(product: Callable[..., Expression]) -> Converter:
    """Return a converter of a product of integers, whose zero points are inputs of their own."""
    return lambda node: product(*(optional(node, i) for i in (0, 2, 1, 3)))


QUANTIZATION: Converters = {
    "ConvInteger": integer_product(integer_conv),
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": lambda node: dynamically_quantized(Expression(node, node.input(0))),
    "MatMulInteger": integer_product(integer_matmul),
    "QLinearConv": ql_conv,
    "QLinearMatMul": ql_matmul,
    "QuantizeLinear": quantize_linear,
}
