"""Facts about buffers: their types, sizes, storage scopes, views and uses."""

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
from xdsl.ir import Attribute, SSAValue, Use

from ....dialects.tir.ops import PrefetchOp
from ....passes.generic.analysis.buffers import View

__all__ = [
    "DOUBLE_BUFFER",
    "Access",
    "Buffer",
    "buffer_type",
    "byte_size",
    "element_bytes",
    "is_flat",
    "is_static",
    "mixed_shape",
    "scope_of",
    "uses_of",
]

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
        # As for LLVM on all 64-bit targets, whose pointers an index is as wide as.
        case IndexType():
            return 8
        case VectorType():
            lanes = prod(type.get_shape())
            element = element_bytes(type.element_type)
            # LLVM pads vectors to a power of 2; how is up to the target.
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
