"""The interface of functions that only their module calls: buffers of unknown size as pointers.

MLIR passes a buffer of static shape as a bare pointer, for which LLVM uses `noalias`, and any other
as a descriptor, for which it does not. Here such a buffer becomes the pointer and one index for
each unknown dimension; the function builds the view of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compat.memref import dim_op
from ...interpreters.signature import is_buffer
from ...passmanager.ir.walk import walk

__all__ = ["BARE_POINTERS", "is_bare", "pass_pointers"]

BARE_POINTERS = "llvm.bareptr"
"""The attribute of functions whose buffers are passed as bare pointers."""


def is_bare(type: MemRefType[Attribute]) -> bool:
    """Return whether MLIR can pass a buffer as a bare pointer: it has a static shape and no layout,
    and no stride is 0, as in memref<2x0xf32>."""
    shape = type.get_shape()
    return isinstance(type.layout, NoneAttr) and DYNAMIC_INDEX not in shape and 0 not in shape[1:]


def pass_pointers(module: ModuleOp, entry: str) -> None:
    """Pass the buffers of all functions except `entry` as pointers, and as indices for their
    unknown dimensions. Functions that return buffers, or have a buffer with a layout, stay."""
    changed = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.sym_name.data != entry and can_change(op)
    }
    for op in [op for op in walk(module) if isinstance(op, func.CallOp)]:
        if op.callee.string_value() in changed:
            change_call(op)
    for op in changed.values():
        change_function(op)


def can_change(op: func.FuncOp) -> bool:
    """Return whether the buffers of a function can be passed as pointers."""
    types = op.function_type
    plain = all(isinstance(type.layout, NoneAttr) for type in types.inputs if is_buffer(type))
    return not op.is_declaration and plain and not any(map(is_buffer, types.outputs))


def pointer(type: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """Return the type of a buffer that is passed as the pointer to its first element."""
    return (
        type if is_bare(type) else MemRefType(type.element_type, [], memory_space=type.memory_space)
    )


def unknown_axes(type: MemRefType[Attribute]) -> list[int]:
    return [axis for axis, size in enumerate(type.get_shape()) if size == DYNAMIC_INDEX]


def change_call(op: func.CallOp) -> None:
    """Pass pointers and sizes to a function."""
    point = InsertPoint.before(op)
    operands: list[SSAValue] = []
    for value in op.operands:
        type = value.type
        if not is_buffer(type) or is_bare(type):
            operands.append(value)
            continue
        view = memref.ReinterpretCastOp(value, [], [], [], [0], [], [], pointer(type))
        operands.append(insert(view, op, point))
        for axis in unknown_axes(type):
            number = insert(arith.ConstantOp(IntegerAttr(axis, IndexType())), op, point)
            operands.append(insert(dim_op(value, number), op, point))
    op.operands = operands


def insert(new: Operation, old: Operation, point: InsertPoint) -> SSAValue:
    """Insert `new` at `point`, with the location of `old`."""
    new.location = old.location
    Rewriter.insert_op(new, point)
    return new.results[0]


def change_function(op: func.FuncOp) -> None:
    """Let a function take pointers and sizes."""
    block = op.body.blocks[0]
    point = InsertPoint.at_start(block)
    given = op.arg_attrs or [DictionaryAttr({})] * len(block.args)
    attributes: list[DictionaryAttr] = []
    for argument, attribute in zip([*block.args], given, strict=True):
        attributes.append(attribute)
        type = argument.type
        if is_buffer(type) and not is_bare(type):
            sizes = {
                axis: block.insert_arg(IndexType(), argument.index + 1 + number)
                for number, axis in enumerate(unknown_axes(type))
            }
            attributes += [DictionaryAttr({})] * len(sizes)
            rebuild(op, argument, type, sizes, point)
    op.function_type = FunctionType.from_lists(block.arg_types, [*op.function_type.outputs])
    op.arg_attrs = ArrayAttr(attributes) if any(each.data for each in attributes) else None
    op.attributes[BARE_POINTERS] = UnitAttr()


def rebuild(
    op: Operation,
    argument: BlockArgument,
    type: MemRefType[Attribute],
    sizes: Mapping[int, SSAValue],
    point: InsertPoint,
) -> None:
    """Replace a buffer by a view of its pointer with `sizes` of the unknown dimensions."""
    uses = [*argument.uses]
    new = Rewriter.replace_value_with_new_type(argument, pointer(type))
    strides = [*strides_of(op, type, sizes, point)]
    view = memref.ReinterpretCastOp(
        new,
        [],
        [*sizes.values()],
        [stride for stride in strides if isinstance(stride, SSAValue)],
        [0],
        type.get_shape(),
        [DYNAMIC_INDEX if isinstance(stride, SSAValue) else stride for stride in strides],
        type,
    )
    insert(view, op, point)
    for use in uses:
        use.operation.operands[use.index] = view.result


def strides_of(
    op: Operation,
    type: MemRefType[Attribute],
    sizes: Mapping[int, SSAValue],
    point: InsertPoint,
) -> Iterator[int | SSAValue]:
    """Yield the strides of a contiguous buffer."""
    shape = type.get_shape()
    for axis in range(len(shape)):
        inner = range(axis + 1, len(shape))
        known = prod(shape[i] for i in inner if i not in sizes)
        unknown = [sizes[i] for i in inner if i in sizes]
        if not unknown:
            yield known
            continue
        stride = unknown[0]
        for size in unknown[1:]:
            stride = insert(arith.MuliOp(stride, size), op, point)
        if known != 1:
            factor = insert(arith.ConstantOp(IntegerAttr(known, IndexType())), op, point)
            stride = insert(arith.MuliOp(stride, factor), op, point)
        yield stride
