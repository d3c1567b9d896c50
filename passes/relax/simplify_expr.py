"""SimplifyExpr: algebraic simplification of neighboring operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    Signedness,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.attributes import properties_of
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.convolution import ForwardConvolutionOp
from ...dialects.relax.data.manipulation import LayoutTransformOp, ReshapeOp, TransposeOp
from ...dialects.relax.elementwise.binary import AddOp, BinaryOp
from ...dialects.relax.elementwise.elementwise import AstypeOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import (
    Float,
    is_element,
    is_integer,
    is_ranked,
    shape_of,
    static_shape,
    tensor_type,
)
from ...dialects.relax.windows import Window
from ...passmanager.fast.pattern_driver import actions_of
from ...passmanager.ir.per_class import OpClasses, has_any
from ...passmanager.names import Rounding
from ...passmanager.rewriting import PatternPass
from ..evaluation_code import load_constants, load_semantics
from .arithmetic_patterns import (
    MergeConstants,
    MultiplyFirst,
    ReciprocalRoot,
    RemoveNeutral,
    SubtractToAdd,
)

# Rewrite patterns of reshapes, transpositions, layout changes and conversions, for
# `simplify-expr`.


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


# Rewrite patterns of operations on windows, for `simplify-expr`.


class RemoveTaps(RewritePattern):
    """Remove the first and the last taps of a convolution if they read padding alone, at all
    positions of the window.

    Over 16 columns, the 3 taps of a window with dilation 36 and padding 36 read columns -36 to -21,
    0 to 15 and 36 to 51: only the one in the middle is kept, and no padding.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForwardConvolutionOp, rewriter: PatternRewriter, /) -> None:
        shape, weight = static_shape(op.data.type), static_shape(op.weight.type)
        if shape is None or weight is None:
            return
        data_layout, kernel_layout, _ = op.layouts()
        extents, sizes = data_layout.extents(shape), kernel_layout.extents(weight)
        windows = op.windows([sizes[axis] for axis in op.SPATIAL])
        ranges = [read_taps(window, extents[window.axis]) for window in windows]
        kept = [reduced(w, taps) for w, taps in zip(windows, ranges, strict=True)]
        # A single window of 2 taps with dilation 3, after 2 elements of padding, reads elements -2
        # and 1. With its last tap alone it would need a padding of -1.
        if any(window.before < 0 or window.after < 0 for window in kept) or kept == windows:
            return
        axes = [kernel_layout.axes.index(axis) for axis in op.SPATIAL]
        part = finite_part(op.weight, dict(zip(axes, ranges, strict=True)))
        if part is None:
            return
        actions_of(rewriter).passed(op, "Removed", "taps that read padding alone are removed")
        padding = [*(w.before for w in kept), *(w.after for w in kept)]
        new = type(op).create(
            operands=[op.data, part.results[0]],
            result_types=op.result_types,
            properties=op.properties | properties_of(type(op), {"padding": padding}),
            attributes=op.attributes,
        )
        rewriter.replace(op, [part, new])


def finite_part(value: SSAValue, ranges: Mapping[int, range]) -> Operation | None:
    """Return a constant with the elements of `value` in the ranges of some of its dimensions.

    None if `value` is not a constant of finite numbers: a removed tap would have made NaN of
    padding times infinity.
    """
    import numpy as np

    from ..arrays import Known, constant_of, known

    if (given := known(value)) is None or not np.isfinite(given.array).all():
        return None
    places = [ranges.get(axis, range(n)) for axis, n in enumerate(given.shape)]
    array = given.array
    if array.ndim:  # a fill has rank 0
        array = array[tuple(slice(place.start, place.stop) for place in places)]
    element = tensor_type(value).element_type
    assert is_element(element)
    return constant_of(Known(array, tuple(map(len, places))), element)


def read_taps(window: Window, extent: int) -> range:
    """Return the taps from the first to the last one that reads an element of a dimension; all of
    them if none does."""
    count = window.count(extent)
    taps = [tap for tap in range(window.size) if reads_element(window, tap, count, extent)]
    return range(taps[0], taps[-1] + 1) if taps else range(window.size)


def reads_element(window: Window, tap: int, count: int, extent: int) -> bool:
    """Return whether one of `count` windows reads an element of the dimension at a tap."""
    first = tap * window.dilation - window.before
    steps = max(0, -(first // window.stride))  # to the first place that is not before the elements
    return steps < count and first + steps * window.stride < extent


def reduced(window: Window, taps: range) -> Window:
    """Return a window of some of the taps, at the same places."""
    before = window.before - taps.start * window.dilation
    after = window.after - (window.size - taps.stop) * window.dilation
    return replace(window, size=len(taps), before=before, after=after)


@dataclass(frozen=True)
class SimplifyExpr(PatternPass):
    """Merge neighboring operations, and remove operations without effect on their operand.

    Merged are sums and products with constants, reshapes, transpositions, layout changes and
    conversions. Sums and products of floats are reassociated, which changes their rounding.
    Taps of convolutions that read padding alone are removed. Source: `relay.SimplifyExpr`.

    Before:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
          %c = relax.constant dense<2.0> : tensor<f32>
          %0 = relax.multiply %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %1 = relax.multiply %0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %2 = relax.reshape %1 {newshape = [3, 2]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
          %3 = relax.reshape %2 {newshape = [6]} : (tensor<3x2xf32>) -> tensor<6xf32>
          func.return %3 : tensor<6xf32>
        }

    After:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
          %0 = relax.full 4.0 : tensor<f32>
          %1 = relax.multiply %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
          %2 = relax.reshape %1 {newshape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
          func.return %2 : tensor<6xf32>
        }
    """

    name = "simplify-expr"
    opt_level = 2
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become finite",
            "infinite may become NaN",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_constants(ops)
        if has_any(ops, ConstantOp, FullOp) and has_any(ops, BinaryOp):
            load_semantics([AddOp])  # computes the merged constants
            import_module("..float_rounding", __package__)

    def patterns(self) -> Sequence[RewritePattern]:
        return (
            RemoveNeutral(),
            SubtractToAdd(),
            MergeConstants(),
            MultiplyFirst(),
            ReciprocalRoot(),
            MergeReshapes(),
            MergeTransposes(),
            MergeViewedTransposes(),
            MergeLayoutTransforms(),
            MergeAstypes(),
            RemoveTaps(),
        )
