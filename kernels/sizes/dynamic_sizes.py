"""Rules for sizes of results of operations whose parameters are operands, from their elements.

Sizes that would be negative are 0: the kernels assert that the parameters are valid.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ...analysis.constants import integer_constant
from ...dialects.relax.data.reshape import ReshapeOp
from ...dialects.relax.dynamic.computation import (
    DynamicFullOp,
    DynamicOneHotOp,
    DynamicPadOp,
    DynamicReduceOp,
    DynamicResizeOp,
    DynamicScanOp,
    DynamicTopkOp,
)
from ...dialects.relax.dynamic.manipulation import (
    DynamicBroadcastToOp,
    DynamicExpandDimsOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSplitOp,
    DynamicSqueezeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
)
from ...dialects.relax.shapes import normalize_axis
from .arithmetic import Rule, Scope, SizeOf, rank_of, vector_length

__all__ = ["DYNAMIC_RULES", "dynamic_split", "reshape", "scaled"]


def dynamic_slice(op: DynamicStridedSliceOp, axis: int, scope: Scope) -> SSAValue:
    """Return the number of elements of the slice along the axis."""
    sizes, rank, size = SizeOf(scope), rank_of(op.data), scope.size(op.data, axis)
    result = size
    for i in range(vector_length(op.axes)):
        begin, end, step, place = (
            scope.element(value, i) for value in (op.begin, op.end, op.strides, op.axes)
        )
        known = integer_constant(place), integer_constant(step)
        if known[0] is not None and known[0] % rank != axis:
            continue
        length = sizes.slice_length(size, begin, end, step if known[1] is None else known[1])
        if known[0] is None:
            length = sizes.select(sizes.is_axis(place, axis, rank), length, result)
        result = length
    return result


def dynamic_full(op: DynamicFullOp, axis: int, scope: Scope) -> SSAValue:
    return SizeOf(scope).of(arith.MaxSIOp, scope.element(op.shape, axis), 0)


def dynamic_broadcast(
    op: DynamicBroadcastToOp | DynamicExpandOp, axis: int, scope: Scope
) -> SSAValue:
    """Return the size that is given, or that of the data where it is not 1: the kernel checks that
    both fit."""
    length = rank_of(op.result) - vector_length(op.shape)
    sizes = SizeOf(scope)
    given = 1 if axis < length else scope.element(op.shape, axis - length)
    given = sizes.of(arith.MaxSIOp, given, 0)
    place = axis - rank_of(op.result) + rank_of(op.data)
    if place < 0:
        return given
    return sizes.select(sizes.compare(given, "eq", 1), scope.size(op.data, place), given)


def reshape(op: ReshapeOp | DynamicReshapeOp, axis: int, scope: Scope) -> SSAValue:
    """Return a size that is given, copied from the data, or what the other sizes leave of it."""
    sizes, rank = SizeOf(scope), rank_of(op.data)
    row: list[SSAValue] = []
    for i in range(rank_of(op.result)):
        if isinstance(op, ReshapeOp):
            size = scope.constant(op.newshape[i])
        else:
            size = scope.element(op.newshape, i)
        if not op.allowzero and i < rank:
            size = sizes.select(sizes.compare(size, "eq", 0), scope.size(op.data, i), size)
        row.append(size)
    is_rest = sizes.compare(row[axis], "eq", -1)
    total, others = scope.constant(1), scope.constant(1)
    for i in range(rank):
        total = sizes.of(arith.MuliOp, total, scope.size(op.data, i))
    for size in row:
        known = sizes.select(sizes.compare(size, "eq", -1), 1, size)
        others = sizes.of(arith.MuliOp, others, known)
    rest = sizes.of(arith.DivSIOp, total, sizes.of(arith.MaxSIOp, others, 1))
    return sizes.of(arith.MaxSIOp, sizes.select(is_rest, rest, row[axis]), 0)


def tile(op: DynamicTileOp, axis: int, scope: Scope) -> SSAValue:
    """Return the product of a size and the number of repetitions."""
    rank, sizes = rank_of(op.result), SizeOf(scope)
    place = axis - rank + vector_length(op.reps)
    number = scope.constant(1) if place < 0 else scope.element(op.reps, place)
    if (place := axis - rank + rank_of(op.data)) >= 0:
        number = sizes.of(arith.MuliOp, number, scope.size(op.data, place))
    return sizes.positive(number)


def one_hot(op: DynamicOneHotOp, axis: int, scope: Scope) -> SSAValue:
    """Return the depth, or a size of the indices."""
    new = normalize_axis(op.axis, rank_of(op.result))
    if axis == new:
        return SizeOf(scope).positive(scope.element(op.depth, 0))
    return scope.size(op.indices, axis - (axis > new))


def pad(op: DynamicPadOp, axis: int, scope: Scope) -> SSAValue:
    """Return the size with the widths of the padding along the axis."""
    sizes, rank, count = SizeOf(scope), rank_of(op.data), vector_length(op.axes)
    size = scope.size(op.data, axis)
    for i in range(count):
        widths = (scope.element(op.pad_width, place) for place in (i, i + count))
        is_along = sizes.is_axis(scope.element(op.axes, i), axis, rank)
        width = sizes.select(is_along, sizes.of(arith.AddiOp, *widths), 0)
        size = sizes.of(arith.AddiOp, size, width)
    return sizes.positive(size)


def resize(op: DynamicResizeOp, axis: int, scope: Scope) -> SSAValue:
    """Return the size that is given, or for -1 the product of the scale and the size."""
    size, letter = scope.size(op.data, axis), op.data_layout().axes[axis]
    if letter not in (spatial := op.spatial()):
        return size
    sizes, number = SizeOf(scope), spatial.index(letter)
    given = scope.element(op.size, number)
    if op.scales is not None:
        by_scale = scaled(size, op.scales[number], scope)
        given = sizes.select(sizes.compare(given, "eq", -1), by_scale, given)
    return sizes.positive(given)


def scaled(size: SSAValue, scale: float, scope: Scope) -> SSAValue:
    """Return the product of a size and a scale, rounded down."""
    number = scope.insert(arith.SIToFPOp(scope.insert(arith.IndexCastOp(size, i64)), f64))
    factor = scope.insert(arith.ConstantOp(FloatAttr(scale, f64)))
    number = scope.insert(arith.FPToSIOp(scope.insert(arith.MulfOp(number, factor)), i64))
    return scope.insert(arith.IndexCastOp(number, IndexType()))


def topk(op: DynamicTopkOp, axis: int, scope: Scope) -> SSAValue:
    """Return the number of elements that are selected: all if that is less than 1."""
    sizes, size = SizeOf(scope), scope.size(op.data, axis)
    if axis != normalize_axis(op.axis, rank_of(op.data)):
        return size
    number = scope.element(op.k, 0)
    selected = sizes.of(arith.MinSIOp, number, size)  # the kernel asserts that there are as many
    return sizes.select(sizes.compare(number, "slt", 1), size, selected)


def reduce(op: DynamicReduceOp, axis: int, scope: Scope) -> SSAValue:
    """Return the size of a dimension that is kept, or 1."""
    sizes, rank = SizeOf(scope), rank_of(op.data)
    is_reduced = along_axes(op.axes, rank, sizes, all_if_empty=not op.noop_with_empty_axes)
    if op.keepdims:
        return sizes.select(is_reduced[axis], 1, scope.size(op.data, axis))
    return size_of_kept(op.data, is_reduced, axis, scope)


def squeeze(op: DynamicSqueezeOp, axis: int, scope: Scope) -> SSAValue:
    """Return the size of a dimension that is kept."""
    gone = along_axes(op.axis, rank_of(op.data), SizeOf(scope))
    return size_of_kept(op.data, gone, axis, scope)


def along_axes(
    axes: SSAValue, rank: int, sizes: SizeOf, *, all_if_empty: bool = False
) -> list[SSAValue]:
    """Return for each of `rank` dimensions whether it is one of `axes`."""
    scope = sizes.scope
    elements = [scope.element(axes, i) for i in range(vector_length(axes))]
    default = all_if_empty and not elements
    rows: list[SSAValue] = []
    for axis in range(rank):
        found = sizes.compare(int(default), "eq", 1)
        for element in elements:
            found = sizes.of(arith.OrIOp, found, sizes.is_axis(element, axis, rank))
        rows.append(found)
    return rows


def size_of_kept(data: SSAValue, gone: Sequence[SSAValue], axis: int, scope: Scope) -> SSAValue:
    """Return the size of dimension `axis` of those of `data` that are not `gone`."""
    sizes = SizeOf(scope)
    result, place = scope.constant(1), scope.constant(0)
    for number, is_gone in enumerate(gone):
        here = sizes.select(is_gone, -1, place)
        is_here = sizes.compare(here, "eq", axis)
        result = sizes.select(is_here, scope.size(data, number), result)
        place = sizes.of(arith.AddiOp, place, sizes.select(is_gone, 0, 1))
    return result


def expand_dims(op: DynamicExpandDimsOp, axis: int, scope: Scope) -> SSAValue:
    """Return 1, or the size of a dimension of the data."""
    sizes = SizeOf(scope)
    is_new = along_axes(op.axis, rank_of(op.result), sizes)
    place = scope.constant(0)
    for new in is_new[:axis]:
        place = sizes.of(arith.AddiOp, place, sizes.select(new, 0, 1))
    result = scope.constant(1)
    for number in range(rank_of(op.data)):
        is_here = sizes.compare(place, "eq", number)
        result = sizes.select(is_here, scope.size(op.data, number), result)
    return sizes.select(is_new[axis], 1, result)


def same(op: DynamicScanOp, axis: int, scope: Scope) -> SSAValue:
    return scope.size(op.data, axis)


def dynamic_split(op: DynamicSplitOp, number: int, axis: int, scope: Scope) -> SSAValue:
    """Return the size of a part, or of a dimension that is not split."""
    if axis != normalize_axis(op.axis, rank_of(op.data)):
        return scope.size(op.data, axis)
    return SizeOf(scope).positive(scope.element(op.sizes, number))


DYNAMIC_RULES: dict[type[Operation], Rule] = {
    DynamicBroadcastToOp: dynamic_broadcast,
    DynamicExpandOp: dynamic_broadcast,
    DynamicExpandDimsOp: expand_dims,
    DynamicFullOp: dynamic_full,
    DynamicOneHotOp: one_hot,
    DynamicPadOp: pad,
    DynamicReduceOp: reduce,
    DynamicReshapeOp: reshape,
    DynamicResizeOp: resize,
    DynamicScanOp: same,
    DynamicSqueezeOp: squeeze,
    DynamicStridedSliceOp: dynamic_slice,
    DynamicTileOp: tile,
    DynamicTopkOp: topk,
}
