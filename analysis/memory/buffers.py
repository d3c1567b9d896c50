"""What passes ask of buffers: where they come from, how large they are, who uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    VectorType,
)
from xdsl.dialects.utils import get_dynamic_index_list
from xdsl.ir import Attribute, SSAValue, Use

__all__ = [
    "DOUBLE_BUFFER",
    "Access",
    "Allocation",
    "Buffer",
    "View",
    "buffer_type",
    "byte_size",
    "constant_of",
    "element_bytes",
    "is_flat",
    "is_static",
    "mixed_shape",
    "scope_of",
    "uses_of",
]

DOUBLE_BUFFER = "double_buffer_scope"
"""The attribute of an allocation of which there are to be two."""

Allocation: TypeAlias = memref.AllocOp | memref.AllocaOp

View: TypeAlias = (
    memref.AssumeAlignmentOp
    | memref.CastOp
    | memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | memref.MemorySpaceCastOp
    | memref.ReinterpretCastOp
    | memref.SubviewOp
    | memref.ViewOp
)
"""An operation whose result is the memory of its first operand, or part of it."""

Access: TypeAlias = (
    memref.AtomicRMWOp
    | memref.LoadOp
    | memref.StoreOp
    | vector.LoadOp
    | vector.MaskedLoadOp
    | vector.MaskedStoreOp
    | vector.StoreOp
)
"""An operation on elements of a buffer; their indices follow the buffer."""

Buffer: TypeAlias = MemRefType[Attribute]


def buffer_type(value: SSAValue) -> Buffer:
    """The type of a value that is a buffer."""
    return cast(Buffer, value.type)


def is_static(type: Buffer) -> bool:
    """Whether all sizes are known."""
    return all(size >= 0 for size in type.get_shape())


def is_flat(type: Buffer) -> bool:
    """Whether it has one dimension, its elements one after the other from the first on."""
    return type.get_num_dims() == 1 and isinstance(type.layout, NoneAttr)


def scope_of(type: Buffer) -> str:
    """The storage scope: the memory space, `global` if there is none."""
    space = type.memory_space
    if isinstance(space, NoneAttr):
        return "global"
    return space.data if isinstance(space, StringAttr) else str(space)


def element_bytes(type: Attribute) -> int | None:
    """How far apart two elements of a buffer are; None if that is not known."""
    match type:
        case IndexType():
            return 8
        case VectorType():
            lanes = prod(type.get_shape())
            element = element_bytes(type.element_type)
            # A vector of another number of lanes is padded.
            return lanes * element if element and lanes & (lanes - 1) == 0 else None
        case FixedBitwidthType() if type.bitwidth in (1, 8, 16, 32, 64):
            return -(-type.bitwidth // 8)
        case _:
            return None


def byte_size(type: Buffer) -> int | None:
    """How many bytes a buffer without layout takes; None if that is not known."""
    element = element_bytes(type.element_type)
    if element is None or not is_static(type) or not isinstance(type.layout, NoneAttr):
        return None
    return prod(type.get_shape()) * element


def mixed_shape(type: Buffer, dynamic: Sequence[SSAValue]) -> list[SSAValue | int]:
    """The sizes of a buffer, those left open from values."""
    return get_dynamic_index_list(type.get_shape(), dynamic, DYNAMIC_INDEX)


def constant_of(value: SSAValue) -> int | None:
    """The integer that a value is; None if that is not known."""
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def uses_of(buffer: SSAValue) -> Iterator[Use]:
    """The uses of a buffer and of its views, the views among them."""
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            yield use
            if isinstance(use.operation, View) and use.index == 0:
                pending.append(use.operation.results[0])
