"""Conversions of floats of 4 and 8 bits, which are stored as their codes in bytes, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrealizedConversionCastOp,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ....dialects.arith_types import element_of, with_element
from ....dialects.relax.types import SmallFloat
from ....passmanager.ir.types import convert_types
from ....passmanager.ir.walk import ops_of
from ...interpreters.arrays import format_of
from ...kernels.approximations.arithmetic import Lanes
from ...kernels.approximations.small_codes import integer, special


class SmallFloats:
    """The tables of small floats in a module, and conversions that read them."""

    def __init__(self, module: ModuleOp, prefix: str) -> None:
        """The names of the tables begin with `prefix`."""
        self._module = module
        self._prefix = prefix
        self._tables: dict[str, memref.GlobalOp] = {}

    def extend(self, code: Lanes, element: SmallFloat) -> Lanes:
        """Return the number in f32 of a code in i8."""
        numbers = format_of(element).decoded
        index = code.convert(arith.ExtUIOp, i64)
        index = index & len(numbers) - 1
        return self._element(f"{element.name}.numbers", numbers.tolist(), f32, index)

    def truncate(self, x: Lanes, element: SmallFloat) -> Lanes:
        """Return the code in i8 of f32 or f64, rounded as `interpreters.small_floats` does: a
        binary search among the limits between one magnitude and the next."""
        form = format_of(element)
        if x.type != f64:
            x = x.convert(arith.ExtFOp, f64)
        size, last = abs(x), len(form.middles) - 1
        length = 1 << len(form.middles).bit_length()
        limits = [*form.middles.tolist(), *[float("inf")] * (length - last - 1)]

        def limit(index: Lanes) -> Lanes:
            return self._element(f"{element.name}.limits", limits, f64, index)

        code = integer(x, 0)
        step = length // 2
        while step:
            above = limit(code + (step - 1)).compare("olt", size)
            code = above.select(code + step, code)
            step //= 2
        tie = limit(code).compare("oeq", size)
        tie = tie & code.compare("sle", last)
        up = code & 1 if form.signed else integer(x, 1)
        code = tie.select(code + up, code)
        return special(form, code, x, element.bitwidth).convert(arith.TruncIOp, i8)

    def _element(
        self,
        name: str,
        numbers: Sequence[float],
        element: Float32Type | Float64Type,
        index: Lanes,
    ) -> Lanes:
        """Return an element of the table `name`, which is added to the module if it is new."""
        type = MemRefType(element, [len(numbers)])
        if (table := self._tables.get(name)) is None:
            dtype = np.float32 if element == f32 else np.float64
            data = BytesAttr(np.array(numbers, dtype).tobytes())
            table = self._tables[name] = memref.GlobalOp.get(
                StringAttr(f"{self._prefix}{name}"),
                type,
                DenseIntOrFPElementsAttr(TensorType(element, [len(numbers)]), data),
                StringAttr("private"),
                UnitAttr(),
            )
            self._module.body.block.add_op(table)
        buffer = index.insert(memref.GetGlobalOp(SymbolRefAttr(table.sym_name), type))
        place = index.insert(arith.IndexCastOp(index.value, IndexType()))
        return index.insert(memref.LoadOp.get(buffer.value, [place.value]))


# Storage of booleans and integers of less than 8 bits as bytes: their buffers become those of i8.
#
# MLIR loads and stores single elements of such buffers as bytes, but LLVM does not vectorize loads
# and stores of i1, and takes for granted that the other bits of a byte in memory are 0. The bytes
# of signed and signless integers are their numbers in i8, as numpy has them, so that negative ones
# have other bits.


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
