"""Storage of booleans as bytes: buffers of i1 become buffers of i8.

MLIR loads and stores single elements of such buffers as bytes, but LLVM does not vectorize loads
and stores of i1.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    i1,
    i8,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ...passmanager.ir.types import convert_types
from ...passmanager.ir.walk import walk
from .arithmetic import element_of, with_element

__all__ = ["store_bools_as_bytes"]


def store_bools_as_bytes(module: ModuleOp) -> None:
    """Replace i1 by i8 in the types of all buffers, and convert the elements, or the vectors of
    elements, that are loaded and stored."""
    for op in [*walk(module)]:
        match op:
            case memref.LoadOp() | vector.LoadOp() | vector.MaskedLoadOp():
                if element_of((result := op.results[0]).type) == i1:
                    convert_result(op, result)
            case memref.StoreOp():
                convert_operand(op, op.value)
            case vector.StoreOp():
                convert_operand(op, op.vector)
            case vector.MaskedStoreOp():
                convert_operand(op, op.value_to_store)
            case memref.GlobalOp() if isa(value := op.initial_value, DenseIntOrFPElementsAttr):
                if value.get_element_type() == i1:
                    op.initial_value = bytes_of(value)
            case _:
                pass
    convert_types(module, as_bytes)


def convert_result(op: Operation, result: OpResult) -> None:
    """Load bytes, and truncate them."""
    if isinstance(op, vector.MaskedLoadOp):
        convert_operand(op, op.pass_thru)
    type = result.type
    loaded = Rewriter.replace_value_with_new_type(result, with_element(type, i8))
    value = arith.TruncIOp.create(operands=[loaded], result_types=[type], location=op.location)
    Rewriter.insert_op(value, InsertPoint.after(op))
    loaded.replace_uses_with_if(value.results[0], lambda use: use.operation is not value)


def convert_operand(op: Operation, operand: SSAValue) -> None:
    """Let `op` take bytes for its operand of i1."""
    if element_of(operand.type) != i1:
        return
    wide = with_element(operand.type, i8)
    value = arith.ExtUIOp.create(operands=[operand], result_types=[wide], location=op.location)
    Rewriter.insert_op(value, InsertPoint.before(op))
    number = [i for i, other in enumerate(op.operands) if other is operand]
    # A masked operation may also use the vector as its mask, which stays.
    op.operands[number[-1]] = value.results[0]


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
