"""Launches of tile programs on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..relax.types import SmallFloat

__all__ = ["LaunchOp", "device_element"]


class LaunchSymbolUse(SymbolUserOpInterface):
    """The check that the entry of a launch takes its arguments."""

    def verify(self, op: Operation) -> None:
        # Here, as functions on buffers are read without GPUs, too.
        from ..cuda_tile.module_ops import EntryOp

        assert isinstance(op, LaunchOp)
        entry = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(entry, EntryOp):
            found = "not a symbol of the module" if entry is None else f"a '{entry.name}'"
            raise VerifyException(f"launches {op.callee}, which is {found}")
        parameters = entry.function_type.inputs.data
        types = op.arguments.types
        if len(parameters) != len(types):
            raise VerifyException(
                f"passes {len(types)} arguments to {op.callee}, which takes {len(parameters)}"
            )
        for number, (type, parameter) in enumerate(zip(types, parameters, strict=True)):
            if not _passes_as(type, parameter):
                raise VerifyException(
                    f"argument {number} is {type}, but {op.callee} takes {parameter}"
                )


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """A launch of a `cuda_tile.entry` on a grid of tile blocks:

        tir.launch @kernels::@add[%gx, %gy, %gz](%a, %n) : memref<4xf32>, index

    A buffer is passed as the pointer to its first element, an index as an i32 or an i64, whichever
    the entry takes. Launches run in their order, each after all blocks of those before it; a grid
    of no tile blocks does nothing.
    """

    name = "tir.launch"

    callee = prop_def(SymbolRefAttr)
    grid_x = operand_def(IndexType())
    grid_y = operand_def(IndexType())
    grid_z = operand_def(IndexType())
    arguments = var_operand_def()

    # Of any memory: the type of a buffer does not say which others are views of it.
    traits = traits_def(LaunchSymbolUse(), MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$callee `[` $grid_x `,` $grid_y `,` $grid_z `]` `(` $arguments `)` attr-dict "
        "(`:` type($arguments)^)?"
    )

    def __init__(
        self,
        callee: SymbolRefAttr,
        grid: Sequence[SSAValue | Operation],
        arguments: Sequence[SSAValue | Operation],
    ):
        super().__init__(operands=[*grid, arguments], properties={"callee": callee})


def device_element(type: Attribute) -> Attribute:
    """Return the type by which a GPU stores the elements of a buffer of `type`: a byte for i1 and
    small floats, and signless integers."""
    if isinstance(type, SmallFloat):
        return IntegerType(8)
    if isa(type, IntegerType):
        return IntegerType(max(8, type.bitwidth))
    return IntegerType(64) if isinstance(type, IndexType) else type


def _passes_as(type: Attribute, parameter: Attribute) -> bool:
    from ..cuda_tile.types import PointerType, TileType

    if not isinstance(parameter, TileType) or parameter.get_shape():
        return False
    element = parameter.element_type
    if isa(type, MemRefType):
        return element == PointerType(device_element(type.element_type))
    if isinstance(type, IndexType):
        return element in (IntegerType(32), IntegerType(64))
    return element == (device_element(type) if type != IntegerType(1) else type)
