"""Calls of a function on several threads, by the OpenMP runtime."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    SymbolRefAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue

from .conversion import Lowering, integers32
from .types import POINTER, Number, Word

IDENT = "omp.ident"
"""The global that tells the runtime where a call is; of its fields only the flags are set, as a C
compiler sets them."""
NOT_ATOMIC = IntegerAttr(0, i64)


def fork(name: str, operands: Sequence[SSAValue], threads: int, build: Lowering) -> None:
    """Call a function on `threads` threads, each with a part of the range of numbers from the first
    operand up to the second.

    The operands are stored in memory, from which a function of the signature that the runtime
    expects reads them.
    """
    # The calls that clang makes of `#pragma omp parallel num_threads(n)`.
    define_ident(build)
    type = llvm.LLVMStructType.from_type_list([operand.type for operand in operands])
    thunk = f"{name}.thread"
    build.define(thread_function(thunk, name, type, build))
    # At the start of the function: in a loop, the stack would grow with each call.
    memory = build.at_start(llvm.AllocaOp, (build.integer(1),), POINTER, elem_type=type)
    for number, operand in enumerate(operands):
        place = field_pointer(memory, number, type, build)
        build.add(llvm.StoreOp, (operand, place), ordering=NOT_ATOMIC)
    ident = build.add(llvm.AddressOfOp, (), POINTER, global_name=SymbolRefAttr(IDENT))
    thread = build.call("__kmpc_global_thread_num", [ident], i32)
    build.call("__kmpc_push_num_threads", [ident, thread, build.integer(threads, i32)])
    function = build.add(llvm.AddressOfOp, (), POINTER, global_name=SymbolRefAttr(thunk))
    one = build.integer(1, i32)
    build.call_variadic("__kmpc_fork_call", [ident, one, function], [memory])


def define_ident(build: Lowering) -> None:
    # The structure `ident_t`: the second of its i32 has the flags, 2 is KMP_IDENT_KMPC.
    words = [2 << 32, 0, 0]
    value = DenseIntOrFPElementsAttr.from_list(VectorType(i64, [len(words)]), words)
    array = llvm.LLVMArrayType(len(words), i64)
    build.define(llvm.GlobalOp(array, IDENT, "internal", constant=True, value=value, alignment=8))


def field_pointer(
    memory: SSAValue, number: int, type: llvm.LLVMStructType, build: Lowering
) -> SSAValue:
    """Return the pointer to a field of a structure."""
    return build.add(
        llvm.GEPOp,
        (memory,),
        POINTER,
        elem_type=type,
        rawConstantIndices=integers32(0, number),
        noWrapFlags=IntegerAttr(7, i32),
    )


def thread_function(
    name: str, callee: str, type: llvm.LLVMStructType, build: Lowering
) -> llvm.FuncOp:
    """Return the function that each thread runs: it reads the operands, and calls `callee` with its
    part of the range."""
    block = Block(arg_types=[POINTER, POINTER, POINTER])
    block.add_op(end := llvm.ReturnOp())
    function = llvm.FuncOp(
        name,
        llvm.LLVMFunctionType([POINTER, POINTER, POINTER]),
        llvm.LinkageAttr("internal"),
        body=Region(block),
    )
    function.location = end.location = build.op.location
    inner = build.inside(end)
    first, last, *operands = (
        inner.add(
            llvm.LoadOp,
            (field_pointer(block.args[2], number, type, inner),),
            field,
            ordering=NOT_ATOMIC,
        )
        for number, field in enumerate(type.types)
    )
    thread, count = (
        inner.add(llvm.SExtOp, (inner.call(asked, [], i32),), i64)
        # The number of threads is asked for: the runtime may start fewer than were wanted.
        for asked in ("omp_get_thread_num", "omp_get_num_threads")
    )
    size = Word(inner, last) - Word(inner, first)
    number = Word(inner, thread)
    following = number + 1

    def bound(number: Number) -> SSAValue:
        # `size * number / count`: contiguous parts that differ by one at most, and cover the range
        # for any count.
        part = inner.add(llvm.UDivOp, (inner.number(size * number), count), i64)
        return inner.number(Word(inner, first) + Word(inner, part))

    start, stop = bound(number), bound(following)
    inner.call_defined(callee, [start, stop, *operands])
    return function
