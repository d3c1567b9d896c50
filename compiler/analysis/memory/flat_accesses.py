"""Conditions under which buffers, and accesses to them, can be flattened to one dimension."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import MemRefType, NoneAttr, ShapedType, VectorType
from xdsl.ir import Operation, SSAValue

from ....passes.generic.analysis.buffers import View
from ..arith.analyzer import Analyzer
from ..arith.linear_form import ONE, ZERO, LinearForm
from .buffers import Access, Buffer, buffer_type, is_static
from .flat_layout import FlatLayout, flat_type, row_major_strides

__all__ = [
    "can_flatten",
    "can_flatten_allocation",
    "is_contiguous_access",
    "is_flat_view",
    "is_in_bounds_transfer",
    "is_whole_buffer",
    "rank_of",
]

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
    # Of a buffer of vectors, a vector access is one element: strides say nothing about its lanes.
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
