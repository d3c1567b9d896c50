"""Rewrite patterns of reshapes, transpositions, layout changes and conversions, for
`simplify-expr`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import VerifyException

from ....dialects.relax.data.permutation import LayoutTransformOp, TransposeOp
from ....dialects.relax.data.reshape import ReshapeOp
from ....dialects.relax.elementwise.elementwise import AstypeOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import Float, is_integer, is_ranked, shape_of, tensor_type

__all__ = [
    "MergeAstypes",
    "MergeLayoutTransforms",
    "MergeReshapes",
    "MergeTransposes",
    "MergeViewedTransposes",
]


class MergeReshapes(RewritePattern):
    """Merge successive views (reshape, flatten, squeeze, expand_dims) into one reshape, and remove
    a view that does not change the shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: View, rewriter: PatternRewriter, /) -> None:
        # Through the whole chain at once, and not one view after the other.
        value = op.operands[0]
        while isinstance(value.owner, View):
            value = value.owner.operands[0]
        type = op.results[0].type
        if not is_ranked(type) or not _is_determined_by_size(shape := type.get_shape()):
            return
        if value.type == type:
            rewriter.replace(op, (), [value])
        elif value is not op.operands[0]:
            newshape = [-1 if size == DYNAMIC_INDEX else size for size in shape]
            reshape = ReshapeOp(value, newshape=newshape, allowzero=0 in shape, result_types=[type])
            rewriter.replace(op, reshape)


def _is_determined_by_size(shape: Shape) -> bool:
    """Return whether the number of elements determines the unknown sizes of `shape`."""
    unknown = shape.count(DYNAMIC_INDEX)
    return unknown == 0 or (unknown == 1 and 0 not in shape)


class MergeTransposes(RewritePattern):
    """Merge successive transpositions, and remove one that is the identity."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /) -> None:
        if (axes := op.order()) is None:
            return
        value = op.data
        while (
            isinstance(inner := value.owner, TransposeOp) and (first := inner.order()) is not None
        ):
            value, axes = inner.data, [first[axis] for axis in axes]
        # Axis i of the result is axis `first[axes[i]]` of the first operand.
        if axes == [*range(len(axes))]:
            if value.type == op.result.type:
                rewriter.replace(op, (), [value])
        elif value is not op.data:
            new = TransposeOp(value, axes=axes, result_types=op.result_types)
            rewriter.replace(op, new)


class MergeViewedTransposes(RewritePattern):
    """Replace a transposition of dimensions that one view merges and the next one splits: they are
    transposed as the second one has them."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: View, rewriter: PatternRewriter, /) -> None:
        transpose = op.operands[0].owner
        if not isinstance(transpose, TransposeOp) or not isinstance(transpose.data.owner, View):
            return
        value = transpose.data.owner.operands[0]
        values = value, transpose.result, op.results[0]
        given, transposed, shape = (shape_of(tensor_type(v)) or () for v in values)
        if len(given) <= len(transposed) or 0 in shape or DYNAMIC_INDEX in shape:
            return
        axes, parts = transpose.order(), _parts(shape, transposed)
        if axes is None or parts is None:
            return
        # The dimensions of the result in the order from before the transposition.
        order = [axis for number in _inverse(axes) for axis in parts[number]]
        sizes = [shape[axis] for axis in order]
        if given != (*sizes,):
            value = rewriter.insert(ReshapeOp(value, newshape=sizes)).result
        rewriter.replace(op, TransposeOp(value, axes=_inverse(order)))


def _inverse(axes: Sequence[int]) -> list[int]:
    """Return the inverse of a permutation."""
    return sorted(range(len(axes)), key=axes.__getitem__)


def _parts(shape: Shape, merged: Shape) -> list[list[int]] | None:
    """Return the dimensions of `shape` that each dimension of `merged` is the product of; None if
    it is not."""
    parts, axis = list[list[int]](), 0
    for size, following in zip(merged, (*merged[1:], 0), strict=True):
        part, product = list[int](), 1
        # A dimension of size 1 belongs to the one before, unless there is one of its own.
        while axis < len(shape) and (
            product < size or (shape[axis] == 1 and (not part or following != 1))
        ):
            product *= shape[axis]
            part.append(axis)
            axis += 1
        if product != size:
            return None
        parts.append(part)
    return parts if axis == len(shape) else None


class MergeLayoutTransforms(RewritePattern):
    """Merge successive layout changes, and remove them if the first layout is the last."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayoutTransformOp, rewriter: PatternRewriter, /) -> None:
        value, src = op.input, op.src_layout
        while isinstance(inner := value.owner, LayoutTransformOp) and inner.dst_layout == src:
            value, src = inner.input, inner.src_layout
        if src == op.dst_layout:
            if value.type == op.result.type:
                rewriter.replace(op, (), [value])
        elif value is not op.input:
            try:
                new = LayoutTransformOp(value, src_layout=src, dst_layout=op.dst_layout)
            except VerifyException:
                return
            if new.result.type == op.result.type:
                rewriter.replace(op, new)


class MergeAstypes(RewritePattern):
    """Remove a lossless conversion before another one, and a conversion to the same type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AstypeOp, rewriter: PatternRewriter, /) -> None:
        value = op.input
        while isinstance(inner := value.owner, AstypeOp) and _is_lossless(inner):
            if not _wraps_alike(inner, op.dtype):
                break
            value = inner.input
        if value.type == op.result.type:
            rewriter.replace(op, (), [value])
        elif value is not op.input:
            new = AstypeOp(value, dtype=op.dtype, result_types=op.result_types)
            rewriter.replace(op, new)


def _is_lossless(op: AstypeOp) -> bool:
    """Return whether the conversion `op` keeps every number of the operand's element type."""
    old, new = tensor_type(op.input).element_type, op.dtype
    if is_integer(old):
        low, high = _range(old)
        if is_integer(new):
            minimum, maximum = _range(new)
            return minimum <= low and high <= maximum
        # All integers up to 2^digits are exact: i8 in bf16, whose significand has 8 bits.
        return isinstance(new, Float) and max(-low, high) <= 1 << _digits(new)
    if not isinstance(old, Float) or not isinstance(new, Float):
        return False
    # A wider float holds all numbers of a narrower one. f16 has the longer mantissa, bf16 the
    # longer exponent: neither holds all numbers of the other.
    return old == new or old.bitwidth < new.bitwidth


def _wraps_alike(op: AstypeOp, new: Attribute) -> bool:
    """Return whether numbers out of the range of `new` become the same without the conversion `op`.

    A float out of range becomes the nearest integer, an integer wraps around.
    """
    old = tensor_type(op.input).element_type
    if not (is_integer(old) and isinstance(op.dtype, Float) and is_integer(new)) or new == i1:
        return True
    (low, high), (minimum, maximum) = _range(old), _range(new)
    return minimum <= low and high <= maximum


def _range(type: IntegerType) -> tuple[int, int]:
    """Return the minimum and the maximum integer of `type`; those of i1 are 0 and 1."""
    if type.signedness.data is Signedness.UNSIGNED or type == i1:
        return 0, (1 << type.bitwidth) - 1
    return -1 << type.bitwidth - 1, (1 << type.bitwidth - 1) - 1


def _digits(type: Float) -> int:
    """Return the number of binary digits of the significand of `type`."""
    match type:
        case BFloat16Type():
            return 8
        case Float16Type():
            return 11
        case Float32Type():
            return 24
        case Float64Type():
            return 53
