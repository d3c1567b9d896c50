"""Storage of booleans and integers of less than 8 bits as bytes: their buffers become those of i8.

MLIR loads and stores single elements of such buffers as bytes, but LLVM does not vectorize loads
and stores of i1, and takes for granted that the other bits of a byte in memory are 0. The bytes of
signed and signless integers are their numbers in i8, as numpy has them, so that negative ones have
other bits.
"""

from __future__ import annotations

from typing_extensions import TypeIs
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
    TensorType,
    UnrealizedConversionCastOp,
    i1,
    i8,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ....dialects.vector_types import element_of, with_element
from ....passmanager.ir.types import convert_types
from ....passmanager.ir.walk import ops_of

__all__ = ["store_as_bytes"]

_ACCESSES = (
    memref.GlobalOp,
    memref.LoadOp,
    memref.StoreOp,
    vector.LoadOp,
    vector.MaskedLoadOp,
    vector.MaskedStoreOp,
    vector.StoreOp,
)


def store_as_bytes(module: ModuleOp) -> None:
    """Replace integers of less than 8 bits by i8 in the types of all buffers, and convert the
    elements, or the vectors of elements, that are loaded and stored."""
    for op in ops_of(module, *_ACCESSES):
        match op:
            case memref.LoadOp() | vector.LoadOp() | vector.MaskedLoadOp():
                if is_narrow(element_of((result := op.results[0]).type)):
                    convert_result(op, result)
            case memref.StoreOp():
                convert_operand(op, op.value)
            case vector.StoreOp():
                convert_operand(op, op.vector)
            case vector.MaskedStoreOp():
                convert_operand(op, op.value_to_store)
            case memref.GlobalOp() if isa(value := op.initial_value, DenseIntOrFPElementsAttr):
                if is_narrow(value.get_element_type()):
                    op.initial_value = bytes_of(value)
            case _:
                pass
    convert_types(module, as_bytes)


def is_narrow(element: Attribute) -> TypeIs[IntegerType]:
    """Return whether an element type has less than 8 bits."""
    return isinstance(element, IntegerType) and element.bitwidth < 8


def signless(type: Attribute) -> Attribute:
    """Return `type` with signless elements of the same width."""
    element = element_of(type)
    assert isinstance(element, IntegerType)
    return with_element(type, IntegerType(element.bitwidth))


def convert_result(op: Operation, result: OpResult) -> None:
    """Load bytes, and truncate them."""
    if isinstance(op, vector.MaskedLoadOp):
        convert_operand(op, op.pass_thru)
    type = result.type
    loaded = Rewriter.replace_value_with_new_type(result, with_element(type, i8))
    first = arith.TruncIOp.create(
        operands=[loaded], result_types=[signless(type)], location=op.location
    )
    Rewriter.insert_op(first, InsertPoint.after(op))
    value = first.results[0]
    if value.type != type:
        signed = UnrealizedConversionCastOp.create(
            operands=[value], result_types=[type], location=op.location
        )
        Rewriter.insert_op(signed, InsertPoint.after(first))
        value = signed.results[0]
    loaded.replace_uses_with_if(value, lambda use: use.operation is not first)


def convert_operand(op: Operation, operand: SSAValue) -> None:
    """Let `op` take bytes for its operand of narrow integers."""
    element = element_of(operand.type)
    if not is_narrow(element):
        return
    value = operand
    if (plain := signless(operand.type)) != operand.type:
        cast = UnrealizedConversionCastOp.create(
            operands=[operand], result_types=[plain], location=op.location
        )
        Rewriter.insert_op(cast, InsertPoint.before(op))
        value = cast.results[0]
    is_signed = element != i1 and element.signedness.data is not Signedness.UNSIGNED
    wide = (arith.ExtSIOp if is_signed else arith.ExtUIOp).create(
        operands=[value], result_types=[with_element(operand.type, i8)], location=op.location
    )
    Rewriter.insert_op(wide, InsertPoint.before(op))
    number = [i for i, other in enumerate(op.operands) if other is operand]
    # A masked operation may also use the vector as its mask, which stays.
    op.operands[number[-1]] = wide.results[0]


def as_bytes(type: Attribute) -> Attribute:
    """Return `type`, with i8 in place of a narrow integer if it is the type of a buffer."""
    if isa(type, MemRefType) and is_narrow(type.element_type):
        return MemRefType(i8, type.shape, type.layout, type.memory_space)
    return type


def bytes_of(value: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Return a constant of narrow integers as one of i8, with 1 for true."""
    import numpy as np

    from ...interpreters.arrays import array_of

    data = array_of(value).astype(np.int8).tobytes()
    return DenseIntOrFPElementsAttr(TensorType(i8, value.get_shape()), BytesAttr(data))
