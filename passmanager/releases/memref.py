"""Operations on buffers and tensors, and the layouts of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    IndexType,
    MemRefType,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue

__all__ = ["AssumeAlignmentOp", "dim_op", "from_elements", "offset_of", "strides_of"]


if TYPE_CHECKING:
    from xdsl.dialects.memref import AssumeAlignmentOp
else:
    try:
        from xdsl.dialects.memref import AssumeAlignmentOp
    except ImportError:  # until xDSL 0.70: no IR has such an op

        class AssumeAlignmentOp(Operation):
            name = "memref.assume_alignment"
            traits = OpTraits(lambda: ())


def dim_op(buffer: SSAValue, axis: SSAValue | Operation) -> memref.DimOp:
    """Return an op that reads a size of a buffer; its class has a constructor since xDSL 0.67."""
    return memref.DimOp.build(operands=[buffer, axis], result_types=[IndexType()])


def offset_of(type: MemRefType[Attribute]) -> int | None:
    """Return the offset of a buffer, None if it is not known; a method of the type since
    xDSL 0.71.
    """
    layout = type.layout
    if isinstance(layout, NoneAttr):
        return 0
    return None if isinstance(layout, AffineMapAttr) else layout.get_offset()


def strides_of(type: MemRefType[Attribute]) -> list[int | None] | None:
    """Return the strides of a buffer, None for each that the type leaves open or that follows from
    an unknown size; None if the layout is not strided.

    xDSL before 0.65 takes an unknown size for a number.
    """
    if not isinstance(type.layout, NoneAttr):
        found = type.layout.get_strides()
        return None if found is None else [*found]
    strides: list[int | None] = []
    stride: int | None = 1
    for size in reversed(type.get_shape()):
        strides.append(stride)
        stride = None if stride is None or size == DYNAMIC_INDEX else stride * size
    return strides[::-1]


def from_elements(elements: Sequence[SSAValue]) -> tensor.FromElementsOp:
    """Return an op that makes a vector of scalars; its class has a constructor since xDSL 0.63."""
    type = TensorType(elements[0].type, [len(elements)])
    return tensor.FromElementsOp.build(operands=[elements], result_types=[type])
