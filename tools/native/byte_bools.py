"""Storage of booleans as bytes: buffers of i1 become buffers of i8.

MLIR loads and stores single elements of such buffers as bytes, but LLVM does not vectorize loads
and stores of i1.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    i1,
    i8,
)
from xdsl.ir import Attribute
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ...passmanager.ir.types import convert_types
from ...passmanager.ir.walk import walk

__all__ = ["store_bools_as_bytes"]


def store_bools_as_bytes(module: ModuleOp) -> None:
    """Replace i1 by i8 in the types of all buffers, and convert the elements that are loaded and
    stored."""
    for op in [*walk(module)]:
        match op:
            case memref.LoadOp() if op.res.type == i1:
                load = memref.LoadOp.build(
                    operands=[op.memref, op.indices], result_types=[i8], properties=op.properties
                )
                value = arith.TruncIOp(load.res, i1)
                load.location = value.location = op.location
                Rewriter.replace_op(op, [load, value])
            case memref.StoreOp() if op.value.type == i1:
                value = arith.ExtUIOp(op.value, i8)
                value.location = op.location
                Rewriter.insert_op(value, InsertPoint.before(op))
                op.operands[0] = value.result
            case memref.GlobalOp() if isa(value := op.initial_value, DenseIntOrFPElementsAttr):
                if value.get_element_type() == i1:
                    op.initial_value = bytes_of(value)
            case _:
                pass
    convert_types(module, as_bytes)


def as_bytes(type: Attribute) -> Attribute:
    """Return `type`, with i8 in place of i1 if it is the type of a buffer."""
    if isa(type, MemRefType) and type.element_type == i1:
        return MemRefType(i8, type.shape, type.layout, type.memory_space)
    return type


def bytes_of(value: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Return a constant of i1 as one of i8, with 1 for true."""
    import numpy as np

    from ...interpreters.arrays import array_of

    data = array_of(value).astype(np.int8).tobytes()
    return DenseIntOrFPElementsAttr(TensorType(i8, value.get_shape()), BytesAttr(data))
