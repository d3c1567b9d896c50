"""The rules of convolutions and matrix products: sums of products of integers, in i32."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType, Signedness, i8, i16, i32
from xdsl.ir import SSAValue

from ...compiler.interpreters.arrays import Array
from ...dialects.relax.contraction.convolution import ForwardConvolutionOp
from ...dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from ...dialects.relax.layout import Layout
from ...dialects.relax.types import is_integer, shape_of, tensor_type
from ..arrays import known
from .quantities import (
    I32,
    Affine,
    NotQuantizable,
    Operand,
    Quantity,
    RegionBuilder,
    affine,
    check_one_scale,
    check_scale,
    computed,
    full,
)

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
    shifted = b.op("add", data.value, b.number(-128, i8))
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
        value = b.op("nn.pad", value, pad_width=widths, pad_value=float(data.zero))
        padding = (0,) * spatial
    properties = {**op.properties, "padding": padding, "out_dtype": i32}
    total = b.op(op.name.removeprefix("relax."), value, weight.value, **properties)
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
    maximum = int(np.abs(rows).sum(axis=1).max(initial=0)) * (data.bound + abs(data.zero))
    if maximum >= I32:
        raise NotQuantizable(f"the sums of products may reach {maximum}, which exceeds an i32")


def minus_zero_point(b: RegionBuilder, total: SSAValue, data: Affine, sums: Array) -> SSAValue:
    """Subtract the zero point of the data times `sums`, the sums of the weights of each output."""
    if not data.zero or not sums.any():
        return total
    return b.op("subtract", total, b.constant(sums * data.zero, i32))


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
    total = b.op("nn.dense", data.value, weight.value, out_dtype=i32)
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
    total = b.op("matmul", lhs.value, rhs.value, out_dtype=i32)
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
    total = b.op("matmul", *operands, out_dtype=i32)
    scale = np.asarray(np.float32(lhs.scale) * np.float32(rhs.scale))
    check_scale(scale)
    return computed(total, scale, bound, terms * error_of_product(lhs, rhs))


def error_of_product(x: Affine, y: Affine) -> float:
    """Return the maximum error of the product of a number of `x` and one of `y`, where x * y less
    x' * y' is (x - x') * y' + (y - y') * x."""
    return x.error * (y.reach + y.error) + y.error * x.reach
