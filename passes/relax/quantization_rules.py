"""The rules by which operations on dequantized tensors become integer arithmetic, as a table.

A rule takes a `RegionBuilder`, the operation, and its operands: a `Quantity` for each tensor that
is dequantized or computed in the region, the SSA value of any other, such as a constant. It builds
the integer arithmetic and returns its result, or raises `NotQuantizable`. In the docstrings,
*numbers* are what the floats of the program are, *integers* what stands for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Operation, SSAValue

from ...compiler.interpreters.arrays import Array, bounds, dtype_of
from ...dialects.relax import images as image
from ...dialects.relax import windows as pooling
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from ...dialects.relax.data.indexing import TakeOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.elementwise import activation, unary
from ...dialects.relax.elementwise.binary import (
    AddOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    SubtractOp,
)
from ...dialects.relax.elementwise.elementwise import ClipOp
from ...dialects.relax.expression import by_operation
from ...dialects.relax.interfaces import View
from ...dialects.relax.reduction.nn import BiasAddOp, DropoutOp, PadOp
from ...dialects.relax.shapes import broadcast
from ...dialects.relax.types import is_integer, shape_of, static_shape, tensor_type
from ..arrays import Known, evaluate, known
from ..float_rounding import keeps_rounding
from .product_rules import convolution, dense, error_of_product, matmul
from .quantities import (
    I32,
    ROUNDING,
    Affine,
    NotQuantizable,
    Operand,
    Quantity,
    RegionBuilder,
    Rule,
    Table,
    affine,
    check_one_scale,
    check_scale,
    computed,
    element_of_value,
    full,
)

# Movement of elements


def moved(b: RegionBuilder, op: Operation, x: Operand, *others: SSAValue) -> Quantity:
    """Move the integers instead of the numbers: `op` chooses elements by place, or by order."""
    if isinstance(x, Table):
        return Table(move(b, op, x.value, *others), x.numbers)
    x = affine(x)
    value = move(b, op, x.value, *others)
    # One scale belongs to every element, wherever it moves.
    if x.scale.ndim == 0 or isinstance(op, _KEEPS_CHANNELS):
        return replace(x, value=value)
    # A weight that is reshaped: its scales can be reshaped along, as full arrays.
    elements = known(x.value)
    if not isinstance(op, View) or elements is None:
        raise NotQuantizable("an operand has a scale for each channel")
    scale = np.broadcast_to(x.scale, elements.shape).reshape(static_shape(value.type) or ())
    return replace(x, value=value, scale=scale)


_KEEPS_CHANNELS = (pooling.MaxPoolOp, pooling.GlobalMaxPool2dOp, DropoutOp)
"""The operations after which a scale of a channel still belongs to that channel."""


def move(b: RegionBuilder, op: Operation, value: SSAValue, *others: SSAValue) -> SSAValue:
    """Return the result of `op` on integers; a constant if they are one."""
    if not isinstance(value.owner, ConstantOp | FullOp) or others:
        return b.again(op, value, *others)[0]
    elements, shape = known(value), static_shape(op.results[0].type)
    assert elements is not None
    found = None if shape is None else evaluate(op, Known(full(elements), elements.shape))
    if found is None:
        raise NotQuantizable("its shape is not known")
    return b.constant(found.array, element_of_value(value))


def transposed(b: RegionBuilder, op: TransposeOp, x: Operand) -> Quantity:
    """Transpose integers, and the scales of channels."""
    if isinstance(x, Table):
        return moved(b, op, x)
    x, scale = affine(x), affine(x).scale
    if scale.ndim:
        if (shape := shape_of(tensor_type(op.result))) is None:
            raise NotQuantizable("its rank is not known")
        axes = op.axes if op.axes is not None else tuple(reversed(range(len(shape))))
        scale = scale.reshape((1,) * (len(shape) - scale.ndim) + scale.shape).transpose(axes)
    return replace(x, value=move(b, op, x.value), scale=scale)


def padded(b: RegionBuilder, op: PadOp, x: Operand) -> Quantity:
    """Pad integers with the integer for `pad_value`."""
    x = affine(x)
    check_one_scale(x)
    value = op.pad_value
    if op.pad_mode == "constant":
        # Padding is nearly always 0.0, for which the integer is the zero point.
        integer = value / float(x.scale) + x.zero
        low, high = bounds(x.element)
        if integer != round(integer) or not low <= integer <= high:
            raise NotQuantizable(f"pad_value {value} is not one of the quantized numbers")
        value = float(integer)
    widths, mode = op.pad_width, op.pad_mode
    padded = b.op("nn.pad", x.value, pad_width=widths, pad_value=value, pad_mode=mode)
    return replace(x, value=padded)


def resized(b: RegionBuilder, op: image.ResizeOp | image.UpsamplingOp, x: Operand) -> Quantity:
    """Resize integers, if each element of the result is one of the operand."""
    if op.method != "nearest_neighbor":
        raise NotQuantizable(f"method {op.method} computes new numbers")
    if isinstance(op, image.ResizeOp) and op.coordinate_transformation_mode == "tf_crop_and_resize":
        raise NotQuantizable("elements outside of the roi are no quantized numbers")
    return moved(b, op, x)


def split(b: RegionBuilder, op: SplitOp, x: Operand) -> Sequence[Quantity]:
    """Split integers; return each part."""
    x = affine(x)
    check_one_scale(x)
    return [replace(x, value=part) for part in b.again(op, x.value)]


def taken(b: RegionBuilder, op: TakeOp, x: Operand, indices: Operand) -> Quantity:
    """Take slices of the integers."""
    if not isinstance(indices, SSAValue):
        raise NotQuantizable("the indices are dequantized")
    return moved(b, op, x, indices)


def joined(b: RegionBuilder, op: ConcatenateOp | StackOp, *operands: Operand) -> Quantity:
    """Concatenate integers of one scale and zero point; others are rounded to the scale of the end
    first, if nothing is computed after the concatenation."""
    parts = in_one_scale(b, op, [affine(x) for x in operands])
    return like(b.again(op, *(x.value for x in parts))[0], *parts)


def in_one_scale(b: RegionBuilder, op: Operation, parts: Sequence[Affine]) -> Sequence[Affine]:
    """Return the parts in one scale, zero point and type: their own, or else those of the end.

    They may be rounded to the scale of the end before `op` if that commutes with `op` and with all
    operations after it: those that move elements, or are monotone. Refused otherwise.
    """
    first = parts[0]
    check_one_scale(*parts)
    if all((x.scale, x.zero, x.element) == (first.scale, first.zero, first.element) for x in parts):
        return parts
    # `round(max(a, b))` is `max(round(a), round(b))`, but `round(a + b)` is not a sum of roundings.
    if op not in b.commutes:
        raise NotQuantizable("the scales or zero points of the operands differ")
    scale, zero, element = b.one_end_scale()
    low, high = bounds(element)
    bound = int(max(high - zero, zero - low))
    return [Affine(requantized(b, x), scale, zero, bound, x.error) for x in parts]


def like(value: SSAValue, *parts: Affine) -> Affine:
    """Return `value`, whose elements are those of the parts, with their common scale and zero
    point and their maximum bound and error."""
    bound, error = max(x.bound for x in parts), max(x.error for x in parts)
    return Affine(value, parts[0].scale, parts[0].zero, bound, error)


def biased(b: RegionBuilder, op: BiasAddOp, x: Operand, bias: Operand) -> Quantity:
    """Add a constant vector along an axis."""
    if (shape := shape_of(tensor_type(op.data))) is None:
        raise NotQuantizable("its rank is not known")
    after = len(shape) - 1 - op.axis % len(shape)
    numbers = constant_numbers(bias)
    if numbers is None:
        raise NotQuantizable("the bias is not a constant")
    return plus_constant(b, op, affine(x), numbers.reshape(-1, *(1,) * after))


def constant_numbers(x: Operand) -> Array | None:
    """Return the numbers of a constant, in f64; None for a value that is computed."""
    elements = known(x if isinstance(x, SSAValue) else x.value)
    if elements is None or isinstance(x, Table):
        return None
    array = full(elements).astype(np.float64)
    return array if isinstance(x, SSAValue) else (array - x.zero) * x.scale.astype(np.float64)


def plus_constant(b: RegionBuilder, op: AddOp | BiasAddOp, x: Affine, numbers: Array) -> Affine:
    """Add the constants of `op` to sums of products, rounded to the scale of the sums."""
    if not x.is_sum:
        raise NotQuantizable("a constant is added to numbers that are no sums of products")
    if not keeps_rounding(op):
        raise NotQuantizable("the constants around a sum cancel, which rounds floats on purpose")
    with np.errstate(all="ignore"):
        # The scale of the sums is that of the data times that of the weights, to which ONNX
        # quantizes the bias of a convolution, too (QLinearConv).
        integers = np.rint(numbers / x.scale.astype(np.float64))
    if not np.isfinite(integers).all():
        raise NotQuantizable("the constant is not finite")
    shape = shape_of(tensor_type(x.value))
    if shape is None or broadcast(integers.shape, shape) != shape:
        raise NotQuantizable("the constant broadcasts the sums")
    bound = x.bound + int(np.abs(integers).max(initial=0))
    if bound >= I32:
        raise NotQuantizable(f"the sums may reach {bound}, which exceeds an i32")
    total = b.op("add", x.value, b.constant(integers, i32))
    return computed(total, x.scale, bound, x.error + rounding_error(x, integers, numbers))


def rounding_error(x: Affine, integers: Array, numbers: Array) -> float:
    """Return the maximum difference between `numbers` and the integers that stand for them in the
    scale of `x`."""
    return float(np.abs(integers * x.scale.astype(np.float64) - numbers).max(initial=0))


def sum_of_two(b: RegionBuilder, op: AddOp | SubtractOp, x: Operand, y: Operand) -> Quantity:
    """Add or subtract integers of one scale; others are rounded to a common scale first, in which
    the greater of the two operands has 22 bits."""
    if (found := tabulated(op, x, y)) is not None:
        return found
    if isinstance(op, AddOp):
        for left, right in ((x, y), (y, x)):
            if isinstance(left, Affine) and left.is_sum:
                if (numbers := constant_numbers(right)) is not None:
                    return plus_constant(b, op, left, numbers)
    lhs, rhs = affine(x), affine(y)
    if lhs.scale.ndim == rhs.scale.ndim == 0 and lhs.scale == rhs.scale:
        if f32 in (lhs.element, rhs.element):
            raise NotQuantizable("an operand is a mean")
        bound = lhs.bound + rhs.bound
        if bound >= I32:
            raise NotQuantizable(f"the sum may reach {bound}, which exceeds an i32")
        total = b.again(op, b.centred(lhs, i32), b.centred(rhs, i32))[0]
        return computed(total, lhs.scale, bound, lhs.error + rhs.error)
    # 22 bits leave room for the sum of two, as f32, in which the factor is applied, has 24.
    scale = np.asarray(max(lhs.reach, rhs.reach) / 2**22, np.float32)
    check_scale(scale)
    total = b.again(op, *(rescaled(b, v, scale) for v in (lhs, rhs)))[0]
    # The error of each operand is up to half a step of `scale` by its rounding, and as much by its
    # conversion to f32 and its factor.
    return computed(total, scale, 1 << 24, lhs.error + rhs.error + 2 * float(scale))


def rescaled(b: RegionBuilder, x: Affine, scale: Array) -> SSAValue:
    """Return the numbers as i32 in the scale `scale`, rounded."""
    value = b.cast(b.centred(x, x.element if x.element == f32 else i32), f32)
    factor = np.asarray(x.scale / scale, np.float32)
    return b.cast(b.op("round", b.op("multiply", value, b.constant(factor, f32))), i32)


def product_of_two(b: RegionBuilder, op: MultiplyOp, x: Operand, y: Operand) -> Quantity:
    """Multiply integers; a positive constant multiplies the scale instead."""
    for left, right in ((x, y), (y, x)):
        if isinstance(left, Affine) and isinstance(right, SSAValue):
            if (scaled := times_constant(left, right, np.multiply)) is not None:
                return scaled
    if (found := tabulated(op, x, y)) is not None:
        return found
    lhs, rhs = affine(x), affine(y)
    check_one_scale(lhs, rhs)
    bound = lhs.bound * rhs.bound
    if not is_integer(lhs.element) or not is_integer(rhs.element) or bound >= I32:
        raise NotQuantizable(f"the product may reach {bound}, which exceeds an i32")
    value = b.op("multiply", b.centred(lhs, i32), b.centred(rhs, i32))
    scale = np.asarray(np.float32(lhs.scale) * np.float32(rhs.scale))
    check_scale(scale)
    return computed(value, scale, bound, error_of_product(lhs, rhs))


def times_constant(x: Affine, factor: SSAValue, function: Callable[..., Array]) -> Affine | None:
    """Multiply or divide (`function`) the scale by a constant positive number; None for another
    operand."""
    elements = known(factor)
    if elements is None or elements.array.size != 1 or any(n != 1 for n in elements.shape):
        return None
    number = np.float32(elements.array.flat[0])
    # A negative scale would turn maxima into minima; 0 would have no inverse.
    if not number > 0:
        return None
    with np.errstate(all="ignore"):
        scale = np.asarray(function(x.scale, number), np.float32)
    check_scale(scale)
    scaled = replace(x, scale=scale)
    return replace(scaled, error=float(function(x.error, number)) + scaled.reach * ROUNDING)


def quotient(b: RegionBuilder, op: DivideOp, x: Operand, y: Operand) -> Quantity:
    """Divide the scale by a positive constant; a function of one 8-bit integer becomes a table."""
    if isinstance(x, Affine) and isinstance(y, SSAValue):
        if (scaled := times_constant(x, y, np.divide)) is not None:
            return scaled
    if (found := tabulated(op, x, y)) is not None:
        return found
    raise NotQuantizable("the divisor is not a constant")


# Maxima, and functions of one number


def extreme(b: RegionBuilder, op: MaximumOp | MinimumOp, x: Operand, y: Operand) -> Quantity:
    """Take the maximum or minimum of integers of one scale, or of sums and constants."""
    if (found := tabulated(op, x, y)) is not None:
        return found
    for left, right in ((x, y), (y, x)):
        if isinstance(left, Affine) and left.is_sum:
            if (numbers := constant_numbers(right)) is not None:
                return limited(b, left, op.name.removeprefix("relax."), numbers)
    lhs, rhs = in_one_scale(b, op, [affine(x), affine(y)])
    return like(b.again(op, lhs.value, rhs.value)[0], lhs, rhs)


def limited(b: RegionBuilder, x: Affine, kind: str, numbers: Array) -> Affine:
    """Return the maximum or minimum of sums of products and constants."""
    # A constant beyond the numbers that the sums may be has the effect of the maximum of them.
    numbers = numbers.clip(-x.reach - x.error, x.reach + x.error)
    integers = np.rint(numbers / x.scale.astype(np.float64)).clip(-x.bound, x.bound)
    shape = shape_of(tensor_type(x.value))
    if np.isnan(integers).any() or shape is None or broadcast(integers.shape, shape) != shape:
        raise NotQuantizable("the constant is NaN, or broadcasts the sums")
    value = b.op(kind, x.value, b.constant(integers, i32))
    return replace(x, value=value, error=max(x.error, rounding_error(x, integers, numbers)))


def relu(b: RegionBuilder, op: activation.ReluOp, x: Operand) -> Quantity:
    """Take the maximum of integers and the zero point."""
    if isinstance(x, Table):
        return function_of_one(b, op, x)
    x = affine(x)
    # Exact: the zero point stands for 0.
    return replace(x, value=b.op("maximum", x.value, b.number(x.zero, x.element)))


def clipped(b: RegionBuilder, op: ClipOp, x: Operand) -> Quantity:
    """Clip sums of products; on 8-bit integers it becomes a table."""
    if isinstance(x, Affine) and x.is_sum:
        low = limited(b, x, "maximum", np.asarray(op.min))
        return limited(b, low, "minimum", np.asarray(op.max))
    return function_of_one(b, op, x)


def function_of_one(b: RegionBuilder, op: unary.UnaryOp, x: Operand) -> Quantity:
    """Tabulate an element-wise operation with one operand."""
    found = tabulated(op, x)
    if found is None:
        raise NotQuantizable("the operand is not an 8-bit integer with one scale")
    return found


def tabulated(op: Operation, *operands: Operand) -> Table | None:
    """Return the result of an element-wise operation as a function of one 8-bit integer; None
    unless its operands are functions of the same integer, or constant scalars."""
    # `x * sigmoid(x)` of one byte is a table of 256 numbers, computed by the semantics of its
    # operations; a function of two bytes would have 65536.
    sources = {operand.value for operand in operands if not isinstance(operand, SSAValue)}
    if len(sources) != 1:
        return None
    columns: list[Known] = []
    for operand in operands:
        if isinstance(operand, SSAValue):
            elements = known(operand)
            if elements is None or any(size != 1 for size in elements.shape):
                return None
            columns.append(Known(elements.array.reshape(()), ()))
            continue
        if isinstance(operand, Affine):
            # The table is exact for the integers as they are: a function may enlarge an error that
            # they have.
            if not operand.is_narrow or operand.error:
                return None
            operand = Table(operand.value, all_numbers(operand))
        columns.append(Known(operand.numbers, operand.numbers.shape))
    found = evaluate(op, *columns)
    return None if found is None else Table(sources.pop(), full(found).astype(np.float32))


def all_numbers(x: Affine) -> Array:
    """Return the numbers for all values of an 8-bit integer, from the minimum on."""
    low, high = bounds(x.element)
    return (np.arange(low, high + 1) - x.zero).astype(np.float32) * x.scale


def mean(b: RegionBuilder, op: Operation, x: Operand) -> Quantity:
    """Compute means of integers in f32, which are not rounded to integers before the end."""
    x = affine(x)
    check_one_scale(x)
    # f32 holds the sums of 2^16 bytes exactly, or of 2^8 integers of 16 bits, but not of 32 bits.
    if is_integer(x.element) and x.element.bitwidth > 16:
        raise NotQuantizable("the mean of sums of products is left in floats")
    value = b.cast(x.value, f32)
    if x.zero:
        value = b.op("subtract", value, b.number(x.zero, f32))
    return computed(b.again(op, value)[0], x.scale, x.bound, x.error)


# The end of a region


def requantized(b: RegionBuilder, x: Affine) -> SSAValue:
    """Return integers in the scale, zero point and type of the end."""
    scale, zero, element = b.end_parameters()
    # `quantize(dequantize(q))` of equal parameters is `q`.
    if (x.element, x.zero) == (element, zero) and np.array_equal(x.scale, scale):
        return x.value
    with np.errstate(all="ignore"):
        factor = np.asarray(x.scale / scale, np.float32)
    check_scale(factor)
    value = x.value if x.zero == 0 else b.centred(x, i32)
    points = b.number(zero, element)
    return b.op("requantize", value, b.constant(factor, f32), points)


LIMIT = 0.5
"""The error before the last rounding, in steps of the result, beyond which a region stays float.

Two numbers that differ by less than one step are rounded to the same step or to neighbours. The
half that is left covers the sums of f32, whose errors depend on the order of their terms.
"""


def check_error(b: RegionBuilder, x: Affine) -> None:
    """Raise Refused if the error before the last rounding may exceed `LIMIT` steps: the result
    could then be more than a step from that of floats."""
    scale, zero, element = b.end_parameters()
    if (x.element, x.zero, x.error) == (element, zero, 0) and np.array_equal(x.scale, scale):
        return  # elements that only move
    step = float(scale.min(initial=np.inf))
    low, high = bounds(element)
    # The second part is the rounding of the quotient in f32 before the last rounding.
    steps = x.error / step + (high - low) * ROUNDING
    if not steps <= LIMIT:  # NaN too
        raise NotQuantizable(f"its error may be {steps:.3g} steps of the result, more than {LIMIT}")


def quantized(b: RegionBuilder, x: Quantity) -> SSAValue:
    """Return the result of the `relax.quantize` that ends a region, given its operand."""
    if isinstance(x, Affine):
        check_error(b, x)
        return requantized(b, x)
    assert b.end is not None
    scale, zero, element = b.one_end_scale()
    column = Known(x.numbers, x.numbers.shape)
    results = evaluate(
        b.end, column, Known(scale, ()), Known(np.asarray(zero, dtype_of(element)), ())
    )
    assert results is not None
    source = tensor_type(x.value).element_type
    assert is_integer(source)
    # A table begins with the minimum value: for i8, element 0 is the result of -128.
    index = b.cast(x.value, i32)
    if (low := int(bounds(source)[0])) != 0:
        index = b.op("subtract", index, b.number(low, i32))
    table = b.constant(full(results), element)
    return b.op("take", table, index, axis=0, mode="fast")


_TABLE: Mapping[Rule, str] = {
    # Elements of the operand, chosen by place or by order.
    moved: """
        broadcast_to expand_dims flatten flip max min repeat reshape squeeze strided_slice tile
        nn.batch_flatten nn.depth_to_space nn.dropout nn.space_to_depth
        nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d nn.global_max_pool2d
        nn.max_pool1d nn.max_pool2d nn.max_pool3d
    """,
    joined: "concatenate stack",
    padded: "nn.pad",
    resized: "image.resize1d image.resize2d image.resize3d nn.upsampling",
    split: "split",
    taken: "take",
    transposed: "transpose",
    convolution: "nn.conv1d nn.conv2d nn.conv3d",
    dense: "nn.dense",
    matmul: "matmul",
    biased: "nn.bias_add",
    sum_of_two: "add subtract",
    product_of_two: "multiply",
    quotient: "divide",
    extreme: "maximum minimum",
    relu: "nn.relu",
    clipped: "clip",
    function_of_one: """
        abs erf exp negative sigmoid sqrt square tanh
        nn.gelu nn.gelu_tanh nn.leaky_relu nn.silu nn.softplus
    """,
    mean: """
        mean nn.global_avg_pool2d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d
        nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d
    """,
}

RULES = by_operation(_TABLE)
"""The rule of each operation, by name; that of `relax.split` returns a list of results."""

COMMUTING = (extreme, joined, moved, relu)
"""The rules of operations that may be computed after rounding: their results only move, or are
compared."""
