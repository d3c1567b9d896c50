"""The interface of functions for callers in C, with MLIR's descriptors of buffers.

A descriptor is a structure: the allocated pointer, the pointer to the elements, the offset, the
sizes and the strides. A caller passes pointers to descriptors, and first of all, if there are
results, a pointer to where the descriptors of these go one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from .conversion import Lowering, contiguous
from .types import POINTER, Number, Word, is_buffer, lowered_type, lowered_types

C_INTERFACE = "_mlir_ciface_"
"""How the names of such functions begin."""
EMIT_C_INTERFACE = "llvm.emit_c_interface"
"""The attribute of functions that have such an interface too."""

NOT_ATOMIC = IntegerAttr(0, i64)
ALIGNED, OFFSET, SIZES = 1, 2, 3
"""The words of a descriptor: the allocated pointer is the first."""


def define_c_interface(op: func.FuncOp, output: Attribute | None, build: Lowering) -> None:
    """Define the function for callers in C that calls the one which `op` becomes, and which returns
    the type `output`. PasslineError for a buffer with a layout."""
    types = op.function_type
    returned = [*filter(is_buffer, types.outputs)]
    if len(returned) != len(types.outputs):
        raise build.error("returns numbers to a caller in C: expected buffers")
    # MLIR's convention (`llvm.emit_c_interface`): ctypes and C programs written for it work as they
    # are.
    inputs = [POINTER] * bool(returned)
    inputs += [lowered_type(type) for type in types.inputs]
    block = Block(arg_types=inputs)
    block.add_op(end := llvm.ReturnOp())
    function = llvm.FuncOp(
        C_INTERFACE + op.sym_name.data,
        llvm.LLVMFunctionType(inputs),
        llvm.LinkageAttr("external"),
        body=Region(block),
    )
    function.location = end.location = op.location
    words = DescriptorWords(build.inside(end))
    arguments = [*block.args][bool(returned) :]
    operands: list[SSAValue] = []
    for value, type in zip(arguments, types.inputs, strict=True):
        operands += words.read(value, type) if is_buffer(type) else [value]
    results = () if output is None else (output,)
    whole = words.build.call_defined(op.sym_name.data, operands, *results)
    if returned:
        words.write(block.args[0], whole, returned)
    build.define(function)


class DescriptorWords:
    """Reads and writes the words of descriptors."""

    def __init__(self, build: Lowering) -> None:
        self.build = build

    def place(self, pointer: SSAValue, word: int) -> SSAValue:
        """Return the pointer to a word."""
        return self.build.offset(pointer, word, i64)

    def load(self, pointer: SSAValue, word: int, type: Attribute) -> SSAValue:
        place = self.place(pointer, word)
        return self.build.add(llvm.LoadOp, (place,), type, ordering=NOT_ATOMIC)

    def read(self, pointer: SSAValue, type: MemRefType[Attribute]) -> list[SSAValue]:
        """Return the values that stand for the buffer of a descriptor."""
        if not isinstance(type.layout, NoneAttr):
            raise self.build.error(f"takes {type} from a caller in C: expected no layout")
        start = self.load(pointer, ALIGNED, POINTER)
        offset = self.load(pointer, OFFSET, i64)
        # The offset goes into the pointer, once for each call: buffers have none inside
        # (`types.py`).
        place = Word(self.build, offset)
        first = self.build.offset(start, place, lowered_type(type.element_type))
        axes = [axis for axis, size in enumerate(type.get_shape()) if size == DYNAMIC_INDEX]
        return [first, *(self.load(pointer, SIZES + axis, i64) for axis in axes)]

    def write(
        self, pointer: SSAValue, whole: SSAValue, types: Sequence[MemRefType[Attribute]]
    ) -> None:
        """Write the descriptors of the buffers that stand in the value that a function returns."""
        build = self.build
        word, field = 0, 0
        for type in types:
            values: list[SSAValue] = []
            for part in lowered_types(type):
                if isinstance(whole.type, llvm.LLVMStructType):
                    position = DenseArrayBase.from_list(i64, [field])
                    value = build.add(llvm.ExtractValueOp, (whole,), part, position=position)
                else:
                    value = whole
                values.append(value)
                field += 1
            start, *open_sizes = values
            given = (Word(build, size) for size in open_sizes)
            sizes: list[Number] = [
                next(given) if size == DYNAMIC_INDEX else size for size in type.get_shape()
            ]
            numbers = (0, *sizes, *contiguous(sizes))
            # The caller frees the first pointer and reads by the second. They are equal, as a
            # buffer that is returned is taken to begin where it was allocated.
            for value in (start, start, *map(build.number, numbers)):
                operands = (value, self.place(pointer, word))
                build.add(llvm.StoreOp, operands, ordering=NOT_ATOMIC)
                word += 1
