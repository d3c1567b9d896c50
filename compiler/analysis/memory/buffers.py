"""Facts about buffers: types, sizes, storage scopes, views, uses; concatenations in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    MemRefType,
    NoneAttr,
    StringAttr,
    VectorType,
)
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.traits import ConstantLike, IsTerminator

from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.graph import TupleGetItemOp
from ....dialects.relax.shapes import normalize_axis
from ....dialects.relax.types import is_tensor, static_shape
from ....dialects.tir.ops import PrefetchOp
from ....passes.generic.purity import View
from .storage_plan import source_of, users_of

# Facts about buffers: their types, sizes, storage scopes, views and uses.


DOUBLE_BUFFER = "double_buffer_scope"
"""The attribute of an allocation that `tir-inject-double-buffer` doubles."""

Access: TypeAlias = (
    memref.AtomicRMWOp
    | memref.LoadOp
    | memref.StoreOp
    | vector.LoadOp
    | vector.MaskedLoadOp
    | vector.MaskedStoreOp
    | vector.StoreOp
    | PrefetchOp
)
"""An operation that reads or writes elements of a buffer; the indices follow the buffer operand."""

Buffer: TypeAlias = MemRefType[Attribute]
"""The type of a buffer."""


def buffer_type(value: SSAValue) -> Buffer:
    """Return the type of `value`, which is a buffer."""
    return cast(Buffer, value.type)


def is_static(type: Buffer) -> bool:
    """Return whether all dimensions of `type` have a static size."""
    # DYNAMIC_INDEX is the minimum i64, and the only negative size.
    return all(size >= 0 for size in type.get_shape())


def is_flat(type: Buffer) -> bool:
    """Return whether `type` has one dimension and the identity layout."""
    return type.get_num_dims() == 1 and isinstance(type.layout, NoneAttr)


def scope_of(type: Buffer) -> str:
    """Return the storage scope of `type`: its memory space, or "global" without one."""
    space = type.memory_space
    if isinstance(space, NoneAttr):
        return "global"
    return space.data if isinstance(space, StringAttr) else str(space)


def element_bytes(type: Attribute) -> int | None:
    """Return the distance in bytes of neighboring elements of a buffer, or None if unknown."""
    match type:
        # An index is as wide as a pointer, as for LLVM on all 64-bit targets.
        case IndexType():
            return 8
        case VectorType():
            lanes = prod(type.get_shape())
            element = element_bytes(type.element_type)
            # LLVM pads vectors to a power of 2; the target decides how.
            return lanes * element if element and lanes & (lanes - 1) == 0 else None
        case FixedBitwidthType() if type.bitwidth in (1, 8, 16, 32, 64):
            return -(-type.bitwidth // 8)
        case _:
            return None


def byte_size(type: Buffer) -> int | None:
    """Return the bytes that a contiguous buffer of `type` takes, or None if unknown."""
    element = element_bytes(type.element_type)
    # With strides a buffer may span more bytes than its elements take, or fewer (stride 0).
    if element is None or not is_static(type) or not isinstance(type.layout, NoneAttr):
        return None
    return prod(type.get_shape()) * element


def mixed_shape(type: Buffer, dynamic: Sequence[SSAValue]) -> list[SSAValue | int]:
    """Return the sizes of a buffer of `type`; the dynamic ones are taken from `dynamic`."""
    return get_dynamic_index_list(type.get_shape(), dynamic, DYNAMIC_INDEX)


def uses_of(buffer: SSAValue) -> Iterator[Use]:
    """Yield the uses of `buffer` and of all views of it; a view is a use of its source."""
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            yield use
            # Other operands of a view are sizes and offsets: numbers.
            if isinstance(use.operation, View) and use.index == 0:
                pending.append(use.operation.results[0])


# Concatenations whose operands can be computed where the result has them.


def is_contiguous(op: ConcatenateOp) -> bool:
    """Return whether each operand is contiguous in the result: sizes before the axis are 1."""
    type = op.result.type
    if (shape := static_shape(type)) is None or not is_tensor(type):
        return False
    if any(static_shape(operand.type) is None for operand in op.tensors):
        return False
    axis = normalize_axis(op.axis, len(shape))
    return isinstance(type.element_type, FixedBitwidthType) and all(n == 1 for n in shape[:axis])


def is_in_place(op: ConcatenateOp) -> bool:
    """Return whether `op` needs no kernel: `plan-memory` has each operand computed in its part of
    the result.

    This requires that each operand is computed in the block of `op`, and is part of no other
    contiguous concatenation. The result must not be returned, as its buffer would belong to the
    caller.
    """
    sources = [source_of(operand) for operand in op.tensors]
    return (
        is_contiguous(op)
        and len(op.tensors) > 1
        # A value that is concatenated twice can be computed in one place only.
        and len({*sources}) == len(sources)
        and all(_is_computed_for(source, op) for source in sources)
        and not any(map(_is_terminator, users_of(op.result)))
    )


def _is_computed_for(source: SSAValue, op: ConcatenateOp) -> bool:
    """Return whether `source` is computed in the block of `op`, and only `op` concatenates it."""
    owner = source.owner
    if not isinstance(owner, Operation) or owner.parent is not op.parent:
        return False
    if isinstance(owner, TupleGetItemOp) or owner.has_trait(
        ConstantLike, value_if_unregistered=False
    ):
        return False
    return not any(
        _is_terminator(user)
        or (user is not op and isinstance(user, ConcatenateOp) and is_contiguous(user))
        for user in users_of(source)
    )


def _is_terminator(op: Operation) -> bool:
    return op.has_trait(IsTerminator, value_if_unregistered=True)
