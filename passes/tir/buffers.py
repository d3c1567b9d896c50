"""What passes ask of buffers: where they come from, how large they are, who uses them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IndexType,
    MemRefType,
    NoneAttr,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use

__all__ = [
    "Allocation",
    "Buffer",
    "View",
    "buffer_type",
    "byte_size",
    "element_bytes",
    "is_flat",
    "is_static",
    "scope_of",
    "uses_of",
    "viewed",
]

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


def viewed(op: Operation) -> SSAValue | None:
    """What an operation gives a view of; None if it is no view."""
    return op.operands[0] if isinstance(op, View) else None


def uses_of(buffer: SSAValue) -> Iterator[Use]:
    """The uses of a buffer and of its views, the views among them."""
    pending = [buffer]
    while pending:
        for use in pending.pop().uses:
            yield use
            if isinstance(use.operation, View) and use.index == 0:
                pending.append(use.operation.results[0])
