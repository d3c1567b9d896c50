"""Layouts of buffers in one dimension, and the conditions under which accesses have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    ShapedType,
    VectorType,
    i64,
)
from xdsl.ir import Operation, SSAValue

from ....passes.generic.purity import View
from ....passmanager.releases.memref import offset_of
from ..arith.analyzer import Analyzer
from ..arith.linear_form import ONE, ZERO, LinearForm
from .buffers import Access, Buffer, buffer_type, is_static

# Layouts of buffers, and of views of them, in a buffer of one dimension.


@dataclass(frozen=True)
class FlatLayout:
    """A layout of a buffer of any rank in the flat buffer `buffer`.

    The element at indices `i` is `buffer[offset + i[0] * strides[0] + ...]`. `begin` is the offset
    of `buffer` in its own memory, or None if unknown. `owned` says that the memory is allocated in
    this function, so that all its uses can be rewritten.
    """

    buffer: SSAValue
    offset: LinearForm
    strides: tuple[LinearForm, ...]
    begin: int | None
    owned: bool

    @staticmethod
    def of(buffer: SSAValue) -> FlatLayout:
        """Return the layout of `buffer`, which has one dimension, in itself."""
        begin = 0 if isinstance(buffer_type(buffer).layout, NoneAttr) else None
        return FlatLayout(buffer, ZERO, (ONE,), begin, owned=False)


def flat_type(type: Buffer) -> Buffer:
    """Return the type of one dimension with the elements of `type`, a contiguous buffer."""
    size = 1
    for extent in type.get_shape():
        size *= extent
    length = size if is_static(type) else DYNAMIC_INDEX
    return MemRefType(type.element_type, [length], NoneAttr(), type.memory_space)


def static_strides(type: Buffer) -> Sequence[int] | None:
    """Return the strides of `type` if all are known and positive and its offset is known."""
    strides = None if isinstance(type.layout, NoneAttr) else type.layout.get_strides()
    if strides is None or offset_of(type) is None:
        return None
    known = [stride for stride in strides if stride is not None and stride > 0]
    return known if len(known) == len(strides) else None


def row_major_strides(
    sizes: Sequence[LinearForm], analyzer: Analyzer, last: LinearForm = ONE
) -> list[LinearForm]:
    """Return the row-major strides of a buffer of `sizes`; the last stride is `last`.

    The first size has no influence, and may be anything.
    """
    strides = [last]
    # Strides of sizes a, b, c are b*c, c, 1.
    for size in reversed(sizes[1:]):
        strides.append(analyzer.multiply(strides[-1], size))
    return strides[::-1] if sizes else []


def one_group(rank: int) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    """Return the reassociation of `memref.collapse_shape` that puts all dimensions in one group."""
    return ArrayAttr([ArrayAttr([IntegerAttr(axis, i64) for axis in range(rank)])])


def layout_of_view(op: View, source: FlatLayout, analyzer: Analyzer) -> FlatLayout | None:
    """Return the layout of the result of the view `op`, or None if unknown.

    `source` is the layout of its operand.
    """
    match op:
        case memref.CastOp() if isinstance(op.dest.type, MemRefType):
            return source
        case memref.SubviewOp():
            return _subview(op, source, analyzer)
        case memref.CollapseShapeOp():
            return replace(source, strides=_collapsed(op, source))
        case memref.ExpandShapeOp():
            return replace(source, strides=_expanded(op, source, analyzer))
        # The offset of a `reinterpret_cast` counts from the start of the allocation.
        case memref.ReinterpretCastOp() if source.begin is not None:
            (offset,) = _forms(op.static_offsets, op.offsets, analyzer)
            strides = _forms(op.static_strides, op.strides, analyzer)
            return replace(source, offset=offset - source.begin, strides=tuple(strides))
        case _:
            return None


def _forms(
    static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue], analyzer: Analyzer
) -> list[LinearForm]:
    """Return the linear forms of static numbers; the dynamic ones are taken from `dynamic`."""
    dynamic_values = iter(dynamic)
    forms: list[LinearForm] = []
    for number in static.get_values():
        if number == DYNAMIC_INDEX:
            value = next(dynamic_values)
            analyzer.make_available(value)
            forms.append(analyzer.linear(value))
        else:
            forms.append(LinearForm((), number))
    return forms


def _subview(op: memref.SubviewOp, source: FlatLayout, analyzer: Analyzer) -> FlatLayout:
    offset = source.offset
    strides: list[LinearForm] = []
    offsets = _forms(op.static_offsets, op.offsets, analyzer)
    steps = _forms(op.static_strides, op.strides, analyzer)
    # `subview %b[2, 4][...][1, 3]` of strides (64, 1): the offset 2*64 + 4, strides (64, 3).
    for start, step, stride in zip(offsets, steps, source.strides, strict=True):
        offset = analyzer.add(offset, analyzer.multiply(start, stride))
        strides.append(analyzer.multiply(step, stride))
    shape = buffer_type(op.result).get_shape()
    kept: list[LinearForm] = []
    # A rank-reducing subview drops any dimensions of size 1, whose index is 0.
    to_drop = len(strides) - len(shape)
    for size, stride in zip(op.static_sizes.get_values(), strides, strict=True):
        if to_drop and size == 1 and (len(kept) == len(shape) or shape[len(kept)] != 1):
            to_drop -= 1
        else:
            kept.append(stride)
    return replace(source, offset=offset, strides=tuple(kept))


def _groups(op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> list[list[int]]:
    """Return the reassociation of `op` as integers."""
    return [[int(axis.value.data) for axis in group] for group in op.reassociation]  # pyright: ignore


def _collapsed(op: memref.CollapseShapeOp, source: FlatLayout) -> tuple[LinearForm, ...]:
    """Return the strides of a collapsed view: for each group the stride of its last dimension.

    Dimensions of size 1 are skipped, as their stride may be anything.
    """
    shape = buffer_type(op.src).get_shape()
    strides: list[LinearForm] = []
    for group in _groups(op):
        extended = [axis for axis in group if shape[axis] != 1] or group
        strides.append(source.strides[extended[-1]])
    return tuple(strides)


def _expanded(
    op: memref.ExpandShapeOp, source: FlatLayout, analyzer: Analyzer
) -> tuple[LinearForm, ...]:
    """Return the strides of an expanded view: each group is row-major within its old stride."""
    sizes = _forms(op.static_output_shape, op.output_shape, analyzer)
    strides: list[LinearForm] = []
    groups = _groups(op) or [list(range(len(sizes)))]
    for group, stride in zip(groups, source.strides or (ONE,), strict=True):
        strides += row_major_strides([sizes[axis] for axis in group], analyzer, stride)
    return tuple(strides)


# Conditions under which buffers, and accesses to them, can be flattened to one dimension.


LayoutView: TypeAlias = (
    memref.CastOp
    | memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | memref.ReinterpretCastOp
    | memref.SubviewOp
)
"""A view whose layout in the buffer below can be computed."""


def rank_of(buffer: SSAValue) -> int:
    """Return the number of dimensions of `buffer`, 0 for a value that is not a buffer."""
    return buffer_type(buffer).get_num_dims() if isinstance(buffer.type, MemRefType) else 0


def can_flatten(buffer: SSAValue, *, owned: bool = False) -> bool:
    """Return whether `buffer` has several dimensions, and it or a view of it is accessed.

    `owned` says that its allocation will become flat. Otherwise, one-dimensional views of it serve
    as flat buffers already, and are not followed.
    """
    # One dimension is flat, and none has no index to flatten.
    if rank_of(buffer) < 2:
        return False
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, Access) or is_in_bounds_transfer(user):
                return True
            if (
                isinstance(user, LayoutView)
                and use.index == 0
                and (owned or not is_flat_view(user))
            ):
                pending.append(user.results[0])
    return False


def can_flatten_allocation(buffer: SSAValue) -> bool:
    """Return whether the operation that defines `buffer` can define a flat one instead."""
    return isinstance(buffer_type(buffer).layout, NoneAttr) and can_flatten(buffer, owned=True)


def is_flat_view(op: View) -> bool:
    """Return whether the result of `op` is a view of one dimension, made by a change of shape."""
    changes_shape = isinstance(op, memref.CollapseShapeOp | memref.ReinterpretCastOp)
    return changes_shape and rank_of(op.results[0]) == 1


def is_in_bounds_transfer(op: Operation) -> bool:
    """Return whether `op` is a transfer equal to a vector load or store.

    It has no mask, no permutation, and is in bounds: a transfer checks the bounds of each
    dimension, which a flat buffer does not have.
    """
    if not isinstance(op, vector.TransferReadOp | vector.TransferWriteOp):
        return False
    # With a permutation, lanes lie along another dimension than the last.
    is_plain = op.mask is None and op.permutation_map.data.is_minor_identity()
    in_bounds = all(dimension.value.data for dimension in op.in_bounds)
    value = op.result if isinstance(op, vector.TransferReadOp) else op.vector
    return is_plain and in_bounds and _has_one_dimension(value) and rank_of(op.source) > 0


def is_contiguous_access(op: Access, layout: FlatLayout) -> bool:
    """Return whether the elements that `op` accesses are neighbors in the flat buffer."""
    match op:
        case vector.LoadOp() | vector.MaskedLoadOp():
            value = op.result
        case vector.StoreOp():
            value = op.vector
        case vector.MaskedStoreOp():
            value = op.value_to_store
        case _:
            return True
    # In a buffer of vectors, a vector access is one element: strides say nothing about its lanes.
    if isinstance(buffer_type(layout.buffer).element_type, VectorType):
        return False
    # A vector of two dimensions is rows apart in the flat buffer.
    return _has_one_dimension(value) and bool(layout.strides) and layout.strides[-1] == ONE


def is_whole_buffer(layout: FlatLayout, type: Buffer, analyzer: Analyzer) -> bool:
    """Return whether a buffer of `type` is all of the flat one, in row-major order."""
    sizes = [LinearForm((), size) for size in type.get_shape()]
    has_all = buffer_type(layout.buffer).get_shape() == flat_type(type).get_shape()
    in_order = list(layout.strides) == row_major_strides(sizes, analyzer)
    return is_static(type) and has_all and in_order and layout.offset == ZERO


def _has_one_dimension(vector: SSAValue) -> bool:
    return isinstance(vector.type, ShapedType) and vector.type.get_num_dims() == 1
