"""The rules by which operations on dequantized tensors become integer arithmetic, as a table.

A rule takes a `RegionBuilder`, the operation, and its operands: a `Quantity` for each tensor that
is dequantized or computed in the region, the SSA value of any other, such as a constant. It builds
the integer arithmetic and returns its result, or raises `NotQuantizable`. In the docstrings,
*numbers* are what the floats of the program are, *integers* what stands for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType, Signedness, f32, i8, i16, i32
from xdsl.ir import Operation, SSAValue

from ....compiler.interpreters.arrays import Array, bounds, dtype_of
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.contraction.convolution import (
    Conv1dOp,
    Conv2dOp,
    Conv3dOp,
    ForwardConvolutionOp,
)
from ....dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from ....dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ....dialects.relax.data.gather import TakeOp
from ....dialects.relax.data.image import (
    DepthToSpaceOp,
    Resize1dOp,
    Resize2dOp,
    Resize3dOp,
    ResizeOp,
    SpaceToDepthOp,
    UpsamplingOp,
)
from ....dialects.relax.data.permutation import FlipOp, TransposeOp
from ....dialects.relax.data.reshape import ExpandDimsOp, FlattenOp, ReshapeOp, SqueezeOp
from ....dialects.relax.data.split import SplitOp
from ....dialects.relax.data.strided_slice import StridedSliceOp
from ....dialects.relax.elementwise.activation import (
    GeluOp,
    GeluTanhOp,
    LeakyReluOp,
    ReluOp,
    SiluOp,
    SoftplusOp,
)
from ....dialects.relax.elementwise.binary import (
    AddOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    SubtractOp,
)
from ....dialects.relax.elementwise.broadcast import BroadcastToOp, RepeatOp, TileOp
from ....dialects.relax.elementwise.elementwise import AstypeOp, ClipOp
from ....dialects.relax.elementwise.quantization import QuantizeOp, RequantizeOp
from ....dialects.relax.elementwise.unary import (
    AbsOp,
    ErfOp,
    ExpOp,
    NegativeOp,
    RoundOp,
    SigmoidOp,
    SqrtOp,
    SquareOp,
    TanhOp,
    UnaryOp,
)
from ....dialects.relax.interfaces import View
from ....dialects.relax.layout import Layout
from ....dialects.relax.reduction.nn import BatchFlattenOp, BiasAddOp, DropoutOp, PadOp
from ....dialects.relax.reduction.reduction import MaxOp, MeanOp, MinOp
from ....dialects.relax.shapes import broadcast
from ....dialects.relax.types import (
    Element,
    is_integer,
    shape_of,
    static_shape,
    tensor_type,
    with_element,
)
from ....dialects.relax.windows import pooling
from ...constants.arrays import Known, constant_of, evaluate, known
from ...constants.float_rounding import keeps_rounding
from .quantities import (
    I32,
    ROUNDING,
    Affine,
    NotQuantizable,
    Quantity,
    Table,
    computed,
    element_of_value,
)

__all__ = ["MOVES", "RULES", "RegionBuilder", "Rule", "quantized"]

Operand: TypeAlias = Quantity | SSAValue

Rule: TypeAlias = Callable[..., Quantity | Sequence[Quantity]]


class RegionBuilder:
    """A builder of the integer arithmetic of one region, which ends in a `relax.quantize`, or in a
    float if `end` is None."""

    def __init__(
        self,
        before: Operation,
        end: QuantizeOp | None,
        commutes: set[Operation],
        *,
        unsigned: bool = False,
    ) -> None:
        self.before = before
        self.end = end
        self.commutes = commutes
        """The operations that may be computed after rounding to the scale of the end
        (`Region.commuting`)."""
        self.unsigned = unsigned
        """Whether the data of products (the operand that is no weight) are to be unsigned bytes."""
        self.created: list[Operation] = []

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operation before the end; return its result."""
        block = self.before.parent
        assert block is not None
        op.location = self.before.location
        block.insert_op_before(op, self.before)
        self.created.append(op)
        return op.results[0]

    def undo(self) -> None:
        """Erase all operations that were inserted."""
        for op in reversed(self.created):
            op.detach()
            op.erase()

    def constant(self, array: Array, element: Element) -> SSAValue:
        """Return a constant with these elements, which are exact in their type."""
        return self.insert(
            constant_of(Known(array.astype(dtype_of(element)), array.shape), element)
        )

    def number(self, number: float, element: Element) -> SSAValue:
        return self.constant(np.asarray(number), element)

    def cast(self, value: SSAValue, element: Element) -> SSAValue:
        if tensor_type(value).element_type == element:
            return value
        return self.insert(AstypeOp(value, dtype=element))

    def centred(self, x: Affine, element: Element) -> SSAValue:
        """Return the value less its zero point, in a type that has all differences."""
        # Cast first: 0 - 128 does not fit in a byte.
        value = self.cast(x.value, element)
        if x.zero == 0:
            return value
        return self.insert(SubtractOp(value, self.number(x.zero, element)))

    def end_parameters(self) -> tuple[Array, int, IntegerType]:
        """Return the scale, the zero point and the element type of the `relax.quantize` that ends
        the region. Refused if none does."""
        if self.end is None:
            raise NotQuantizable("no 'relax.quantize' ends the region")
        return parameters(self.end.scale, self.end.zero_point)


def parameters(scale: SSAValue, zero_point: SSAValue) -> tuple[Array, int, IntegerType]:
    """Return the scale, the zero point and its type; Refused unless they are usable constants."""
    scales, zeros = known(scale), known(zero_point)
    if scales is None:
        raise NotQuantizable("the scale is not a constant")
    if zeros is None:
        raise NotQuantizable("the zero point is not a constant")
    if not isinstance(tensor_type(scale).element_type, Float32Type):
        raise NotQuantizable("the scale is not f32")
    check_scale(scales.array)
    if zeros.array.size == 0 or (zeros.array != zeros.array.flat[0]).any():
        raise NotQuantizable("the zero points of the channels differ")
    element = tensor_type(zero_point).element_type
    assert is_integer(element)
    return least_rank(full(scales)), int(zeros.array.flat[0]), element


def check_scale(scale: Array) -> None:
    """Raise Refused unless all scales are positive normal numbers."""
    if not (np.isfinite(scale) & (scale >= np.finfo(np.float32).tiny)).all():
        raise NotQuantizable("a scale is not a positive normal number")


def full(elements: Known) -> Array:
    """Return all elements of a constant."""
    return np.broadcast_to(elements.array, elements.shape)


def least_rank(scale: Array) -> Array:
    """Return scales that are all equal as an array of rank 0; others as they are."""
    if scale.size and (scale == scale.flat[0]).all():
        return np.asarray(scale.flat[0])
    return scale


def check_one_scale(*operands: Affine) -> None:
    """Raise Refused unless each operand has one scale for all elements."""
    if any(x.scale.ndim for x in operands):
        raise NotQuantizable("an operand has a scale for each channel")


def affine(x: Operand) -> Affine:
    """Return an operand that is integers with a scale; Refused for any other."""
    if not isinstance(x, Affine):
        raise NotQuantizable("an operand is not a dequantized tensor")
    return x


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
    result = with_element(tensor_type(op.results[0]), tensor_type(value).element_type)
    new = op.create(
        operands=[value, *others], result_types=[result], properties=op.properties.copy()
    )
    if isinstance(value.owner, ConstantOp | FullOp) and not others:
        elements, shape = known(value), static_shape(result)
        assert elements is not None
        found = None if shape is None else evaluate(new, Known(full(elements), elements.shape))
        new.drop_all_references()
        if found is None:
            raise NotQuantizable("its shape is not known")
        return b.constant(found.array, element_of_value(value))
    return b.insert(new)


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
    padded = type(op)(x.value, pad_width=op.pad_width, pad_value=value, pad_mode=op.pad_mode)
    return replace(x, value=b.insert(padded))


def resized(b: RegionBuilder, op: ResizeOp | UpsamplingOp, x: Operand) -> Quantity:
    """Resize integers, if each element of the result is one of the operand."""
    if op.method != "nearest_neighbor":
        raise NotQuantizable(f"method {op.method} computes new numbers")
    if isinstance(op, ResizeOp) and op.coordinate_transformation_mode == "tf_crop_and_resize":
        raise NotQuantizable("elements outside of the roi are no quantized numbers")
    return moved(b, op, x)


def split(b: RegionBuilder, op: SplitOp, x: Operand) -> Sequence[Quantity]:
    """Split integers; return each part."""
    x = affine(x)
    check_one_scale(x)
    element = tensor_type(x.value).element_type
    types = [with_element(tensor_type(part), element) for part in op.results]
    new = op.create(operands=[x.value], result_types=types, properties=op.properties.copy())
    b.insert(new)
    return [replace(x, value=part) for part in new.results]


def taken(b: RegionBuilder, op: TakeOp, x: Operand, indices: Operand) -> Quantity:
    """Take slices of the integers."""
    if not isinstance(indices, SSAValue):
        raise NotQuantizable("the indices are dequantized")
    return moved(b, op, x, indices)


def joined(b: RegionBuilder, op: ConcatenateOp | StackOp, *operands: Operand) -> Quantity:
    """Concatenate integers of one scale and zero point; others are rounded to the scale of the end
    first, if nothing is computed after the concatenation."""
    parts = in_one_scale(b, op, [affine(x) for x in operands])
    first = parts[0]
    result = with_element(tensor_type(op.results[0]), first.element)
    new = op.create(
        operands=[x.value for x in parts], result_types=[result], properties=op.properties.copy()
    )
    return like(b.insert(new), *parts)


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
    scale, zero, element = b.end_parameters()
    if scale.ndim:
        raise NotQuantizable("the result has a scale for each channel")
    low, high = bounds(element)
    bound = int(max(high - zero, zero - low))
    return [Affine(requantized(b, x), scale, zero, bound, x.error) for x in parts]


def like(value: SSAValue, *parts: Affine) -> Affine:
    """Return `value`, each element of which is one of the parts, with their common scale and zero
    point and their greatest bound and error."""
    bound, error = max(x.bound for x in parts), max(x.error for x in parts)
    return Affine(value, parts[0].scale, parts[0].zero, bound, error)


# Sums and products

ui8 = IntegerType(8, Signedness.UNSIGNED)


def data_of_product(b: RegionBuilder, x: Operand) -> Affine:
    """Return the data of a product, of one scale; signed bytes as unsigned ones, with a zero point
    that is 128 more, if the processor multiplies those."""
    data = affine(x)
    check_one_scale(data)
    if not b.unsigned or data.element != i8:
        return data
    # The sum with -128 wraps around, and as an unsigned byte it is 128 more than the signed one:
    # -128 + -128 is 0, and 127 + -128 is -1, which is 255.
    shifted = b.insert(AddOp(data.value, b.number(-128, i8)))
    return replace(data, value=b.cast(shifted, ui8), zero=data.zero + 128)


def convolution(b: RegionBuilder, op: ForwardConvolutionOp, x: Operand, w: Operand) -> Quantity:
    """Convolve integers, with sums in i32. The data is padded with its zero point, and the zero
    point times the sums of the weights is subtracted from the sums of products."""
    data, weight = data_of_product(b, x), affine(w)
    plain = Layout.parse("NC" + op.SPATIAL), Layout.parse("OI" + op.SPATIAL)
    if op.layouts() != (*plain, plain[0]):
        raise NotQuantizable(
            f"its layouts are not {plain[0].text}, {plain[1].text} and {plain[0].text}"
        )
    rows = rows_of(weight, axis=0)
    check_sum(data, rows, op.out_dtype)
    value, padding = data.value, op.padding
    # The convolution would pad with the integer 0, which stands for the number `-zero * scale`.
    if data.zero and any(padding):
        spatial = len(op.SPATIAL)
        pairs = zip(padding[:spatial], padding[-spatial:], strict=True)
        widths = [0, 0, 0, 0, *(width for pair in pairs for width in pair)]
        value = b.insert(PadOp(value, pad_width=widths, pad_value=float(data.zero)))
        padding = (0,) * spatial
    total = b.insert(
        type(op)(
            value,
            weight.value,
            strides=op.strides,
            padding=padding,
            dilation=op.dilation,
            groups=op.groups,
            data_layout=op.data_layout,
            kernel_layout=op.kernel_layout,
            out_layout=op.out_layout,
            out_dtype=i32,
        )
    )
    after = (1,) * len(op.SPATIAL)
    # sum((q - z) * w) is sum(q * w) - z * sum(w), whose second part is a constant for each output.
    total = minus_zero_point(b, total, data, rows.sum(axis=1).reshape(-1, *after))
    scale = weight.scale.reshape(-1, *after) if weight.scale.ndim else weight.scale
    return product(total, data, replace(weight, scale=scale), rows)


def rows_of(weight: Affine, axis: int) -> Array:
    """Return the integers of a constant weight, less the zero point, as a matrix whose rows are the
    outputs, which run along `axis` of the weight. Refused for a weight that is not constant, or has
    scales along other axes."""
    elements = known(weight.value)
    if elements is None:
        raise NotQuantizable("the weight is not a constant")
    rank = len(elements.shape)
    sizes = (1,) * (rank - weight.scale.ndim) + weight.scale.shape
    if any(size != 1 for i, size in enumerate(sizes) if i != axis % rank):
        raise NotQuantizable("the scales of the weight are not those of its outputs")
    # `integers` has subtracted the zero points of constants already.
    if weight.zero:
        raise NotQuantizable("the zero point of the weight is not 0")
    array = np.moveaxis(full(elements).astype(np.int64), axis, 0)
    return array.reshape(len(array), prod(array.shape[1:]))


def check_sum(data: Affine, rows: Array, out_dtype: object) -> None:
    """Raise Refused unless the sums of products fit in an i32, before the zero point of the data is
    subtracted from them and after that."""
    if not is_integer(data.element) or data.element.bitwidth > 16:
        raise NotQuantizable(f"the data is {data.element}, expected integers of at most 16 bits")
    if out_dtype is not None and not isinstance(out_dtype, Float32Type):
        raise NotQuantizable(f"out_dtype is {out_dtype}")
    # The bound is that of these weights, not of their type: sums over thousands of bytes nearly
    # always fit. The data themselves, whose zero point is not subtracted yet, reach up to |zero|
    # further than `bound`.
    greatest = int(np.abs(rows).sum(axis=1).max(initial=0)) * (data.bound + abs(data.zero))
    if greatest >= I32:
        raise NotQuantizable(f"the sums of products may reach {greatest}, which exceeds an i32")


def minus_zero_point(b: RegionBuilder, total: SSAValue, data: Affine, sums: Array) -> SSAValue:
    """Subtract the zero point of the data times `sums`, the sums of the weights of each output."""
    if not data.zero or not sums.any():
        return total
    return b.insert(SubtractOp(total, b.constant(sums * data.zero, i32)))


def product(total: SSAValue, data: Affine, weight: Affine, rows: Array) -> Affine:
    """Return the sums of products `total` with their scale, bound and error; `rows` are the weights
    of each output."""
    scale = np.asarray(np.float32(data.scale) * weight.scale, np.float32)
    check_scale(scale)
    weights = int(np.abs(rows).sum(axis=1).max(initial=0))
    # The errors of the data are multiplied by the weights, and added up.
    error = data.error * weights * float(weight.scale.max(initial=0))
    return computed(total, scale, weights * data.bound, error)


def dense(b: RegionBuilder, op: DenseOp, x: Operand, w: Operand) -> Quantity:
    """Multiply integers by a constant weight, with sums in i32."""
    data, weight = data_of_product(b, x), affine(w)
    rows = rows_of(weight, axis=0)
    check_sum(data, rows, op.out_dtype)
    total = b.insert(DenseOp(data.value, weight.value, out_dtype=i32))
    total = minus_zero_point(b, total, data, rows.sum(axis=1))
    scale = weight.scale.reshape(-1) if weight.scale.ndim else weight.scale
    return product(total, data, replace(weight, scale=scale), rows)


def matmul(b: RegionBuilder, op: MatmulOp, x: Operand, w: Operand) -> Quantity:
    """Multiply integers, with sums in i32, by a constant weight or by other integers."""
    lhs, rhs = affine(x), affine(w)
    check_one_scale(lhs)
    shapes = [shape_of(tensor_type(operand)) for operand in op.operands]
    if any(shape is None or len(shape) < 2 for shape in shapes):
        raise NotQuantizable("an operand is no matrix")
    if (elements := known(rhs.value)) is None:
        return matmul_of_activations(b, op, lhs, rhs)
    lhs = data_of_product(b, lhs)
    rows = rows_of(rhs, axis=-1)
    terms = shapes[1][-2] if shapes[1] is not None else -1
    # Of a batch of matrices, each has its own sums: a row for each column of each matrix.
    rows = rows.reshape(rows.size // max(terms, 1), max(terms, 1))
    check_sum(lhs, rows, op.out_dtype)
    total = b.insert(MatmulOp(lhs.value, rhs.value, out_dtype=i32))
    sums = full(elements).astype(np.int64).sum(axis=-2, keepdims=True)
    if sums.ndim == 2:
        sums = sums[0]
    total = minus_zero_point(b, total, lhs, sums)
    scale = rhs.scale.reshape(-1) if rhs.scale.ndim else rhs.scale
    return product(total, lhs, replace(rhs, scale=scale), rows)


def matmul_of_activations(b: RegionBuilder, op: MatmulOp, lhs: Affine, rhs: Affine) -> Quantity:
    """Multiply two matrices that are not constant, each less its zero point."""
    check_one_scale(rhs)
    shape = shape_of(tensor_type(op.lhs))
    assert shape is not None
    if (terms := shape[-1]) < 0:
        raise NotQuantizable("the number of products in a sum is not known")
    bound = terms * lhs.bound * rhs.bound
    for x in (lhs, rhs):
        if not is_integer(x.element) or x.element.bitwidth > 8:
            raise NotQuantizable(f"an operand is {x.element}, expected integers of 8 bits")
    if bound >= I32:
        raise NotQuantizable(f"the sums of products may reach {bound}, which exceeds an i32")
    # Differences of two bytes have 9 bits. To subtract the zero points from the product, as with
    # weights (`minus_zero_point`), the sums of all rows and columns would be needed at run time.
    operands = [x.value if x.zero == 0 else b.centred(x, i16) for x in (lhs, rhs)]
    total = b.insert(MatmulOp(*operands, out_dtype=i32))
    scale = np.asarray(np.float32(lhs.scale) * np.float32(rhs.scale))
    check_scale(scale)
    return computed(total, scale, bound, terms * error_of_product(lhs, rhs))


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
    total = b.insert(AddOp(x.value, b.constant(integers, i32)))
    return computed(total, x.scale, bound, x.error + rounding_error(x, integers, numbers))


def rounding_error(x: Affine, integers: Array, numbers: Array) -> float:
    """Return the greatest difference between `numbers` and the integers that stand for them in the
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
        total = b.insert(type(op)(b.centred(lhs, i32), b.centred(rhs, i32)))
        return computed(total, lhs.scale, bound, lhs.error + rhs.error)
    # 22 bits leave room for the sum of two, as f32, in which the factor is applied, has 24.
    scale = np.asarray(max(lhs.reach, rhs.reach) / 2**22, np.float32)
    check_scale(scale)
    total = b.insert(type(op)(*(rescaled(b, v, scale) for v in (lhs, rhs))))
    # The error of each operand is up to half a step of `scale` by its rounding, and as much by its
    # conversion to f32 and its factor.
    return computed(total, scale, 1 << 24, lhs.error + rhs.error + 2 * float(scale))


def rescaled(b: RegionBuilder, x: Affine, scale: Array) -> SSAValue:
    """Return the numbers as i32 in the scale `scale`, rounded."""
    value = b.cast(b.centred(x, x.element if x.element == f32 else i32), f32)
    factor = np.asarray(x.scale / scale, np.float32)
    value = b.insert(MultiplyOp(value, b.constant(factor, f32)))
    return b.cast(b.insert(RoundOp(value)), i32)


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
    value = b.insert(MultiplyOp(b.centred(lhs, i32), b.centred(rhs, i32)))
    scale = np.asarray(np.float32(lhs.scale) * np.float32(rhs.scale))
    check_scale(scale)
    return computed(value, scale, bound, error_of_product(lhs, rhs))


def error_of_product(x: Affine, y: Affine) -> float:
    """Return the greatest error of the product of a number of `x` and one of `y`, where x * y less
    x' * y' is (x - x') * y' + (y - y') * x."""
    return x.error * (y.reach + y.error) + y.error * x.reach


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
                return limited(b, left, type(op), numbers)
    lhs, rhs = in_one_scale(b, op, [affine(x), affine(y)])
    return like(b.insert(type(op)(lhs.value, rhs.value)), lhs, rhs)


def limited(
    b: RegionBuilder, x: Affine, kind: type[MaximumOp | MinimumOp], numbers: Array
) -> Affine:
    """Return the maximum or minimum of sums of products and constants."""
    # A constant beyond the numbers that the sums may be has the effect of the greatest of them.
    numbers = numbers.clip(-x.reach - x.error, x.reach + x.error)
    integers = np.rint(numbers / x.scale.astype(np.float64)).clip(-x.bound, x.bound)
    shape = shape_of(tensor_type(x.value))
    if np.isnan(integers).any() or shape is None or broadcast(integers.shape, shape) != shape:
        raise NotQuantizable("the constant is NaN, or broadcasts the sums")
    value = b.insert(kind(x.value, b.constant(integers, i32)))
    return replace(x, value=value, error=max(x.error, rounding_error(x, integers, numbers)))


def relu(b: RegionBuilder, op: ReluOp, x: Operand) -> Quantity:
    """Take the maximum of integers and the zero point."""
    if isinstance(x, Table):
        return unary(b, op, x)
    x = affine(x)
    # Exact: the zero point stands for 0.
    return replace(x, value=b.insert(MaximumOp(x.value, b.number(x.zero, x.element))))


def clipped(b: RegionBuilder, op: ClipOp, x: Operand) -> Quantity:
    """Clip sums of products; on 8-bit integers it becomes a table."""
    if isinstance(x, Affine) and x.is_sum:
        low = limited(b, x, MaximumOp, np.asarray(op.min))
        return limited(b, low, MinimumOp, np.asarray(op.max))
    return unary(b, op, x)


def unary(b: RegionBuilder, op: UnaryOp, x: Operand) -> Quantity:
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
    """Return the numbers for all values of an 8-bit integer, from the least on."""
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
        value = b.insert(SubtractOp(value, b.number(x.zero, f32)))
    result = with_element(tensor_type(op.results[0]), f32)
    new = op.create(operands=[value], result_types=[result], properties=op.properties.copy())
    return computed(b.insert(new), x.scale, x.bound, x.error)


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
    return b.insert(RequantizeOp(value, b.constant(factor, f32), points))


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
    scale, zero, element = b.end_parameters()
    if scale.ndim:
        raise NotQuantizable("the result has a scale for each channel")
    column = Known(x.numbers, x.numbers.shape)
    results = evaluate(
        b.end, column, Known(scale, ()), Known(np.asarray(zero, dtype_of(element)), ())
    )
    assert results is not None
    source = tensor_type(x.value).element_type
    assert is_integer(source)
    # A table begins with the least value: for i8, element 0 is the result of -128.
    index = b.cast(x.value, i32)
    if (low := int(bounds(source)[0])) != 0:
        index = b.insert(SubtractOp(index, b.number(low, i32)))
    table = b.constant(full(results), element)
    return b.insert(TakeOp(table, index, axis=0, mode="fast"))


MOVES = (
    BatchFlattenOp,
    BroadcastToOp,
    DepthToSpaceOp,
    DropoutOp,
    ExpandDimsOp,
    FlattenOp,
    FlipOp,
    pooling.AdaptiveMaxPool1dOp,
    pooling.AdaptiveMaxPool2dOp,
    pooling.AdaptiveMaxPool3dOp,
    pooling.GlobalMaxPool2dOp,
    pooling.MaxPool1dOp,
    pooling.MaxPool2dOp,
    pooling.MaxPool3dOp,
    MaxOp,
    MinOp,
    RepeatOp,
    ReshapeOp,
    SpaceToDepthOp,
    SqueezeOp,
    StridedSliceOp,
    TileOp,
)
"""Operations whose results are elements of their operand, chosen by place or by order."""

RULES: dict[type[Operation], Rule] = {
    **dict.fromkeys(MOVES, moved),
    **dict.fromkeys(
        (
            AbsOp,
            ErfOp,
            ExpOp,
            GeluOp,
            GeluTanhOp,
            LeakyReluOp,
            NegativeOp,
            SigmoidOp,
            SiluOp,
            SoftplusOp,
            SqrtOp,
            SquareOp,
            TanhOp,
        ),
        unary,
    ),
    **dict.fromkeys(
        (
            pooling.AdaptiveAvgPool1dOp,
            pooling.AdaptiveAvgPool2dOp,
            pooling.AdaptiveAvgPool3dOp,
            pooling.AvgPool1dOp,
            pooling.AvgPool2dOp,
            pooling.AvgPool3dOp,
            pooling.GlobalAvgPool2dOp,
            MeanOp,
        ),
        mean,
    ),
    AddOp: sum_of_two,
    BiasAddOp: biased,
    ClipOp: clipped,
    ConcatenateOp: joined,
    Conv1dOp: convolution,
    Conv2dOp: convolution,
    Conv3dOp: convolution,
    DenseOp: dense,
    DivideOp: quotient,
    MatmulOp: matmul,
    MaximumOp: extreme,
    MinimumOp: extreme,
    MultiplyOp: product_of_two,
    PadOp: padded,
    ReluOp: relu,
    Resize1dOp: resized,
    Resize2dOp: resized,
    Resize3dOp: resized,
    SplitOp: split,
    StackOp: joined,
    SubtractOp: sum_of_two,
    TakeOp: taken,
    TransposeOp: transposed,
    UpsamplingOp: resized,
}
"""The rule of each operation; that of `relax.split` returns a list of results."""
