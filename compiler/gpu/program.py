"""Programs for a device: host functions that launch kernels, and the code of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

from ...dialects.cuda_tile.module_ops import EntryOp
from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...dialects.cuda_tile.types import PointerType, TileType
from ...dialects.tir.ops import CallOp, LaunchOp, PrefetchOp
from ...passmanager.errors import PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ...passmanager.releases.memref import AssumeAlignmentOp
from ..interpreters.signature import Function, is_buffer

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

__all__ = ["DeviceProgram", "check_host_functions", "entry_kinds", "launching_functions"]

POINTER = "ptr"


@dataclass(frozen=True)
class DeviceProgram:
    """A function that runs on a device, with what it needs."""

    function: Function
    """The function, as its callers see it."""
    module: ModuleOp
    """The host functions; the globals have no elements."""
    code: Sequence[bytes]
    """The kernels, assembled."""
    entries: Mapping[str, tuple[str, ...]]
    """The kinds of the parameters of each kernel: `ptr`, or the type of a number, as `i32`."""
    constants: Mapping[str, Array]
    """The elements of the globals as they are in device memory, by symbol."""


def entry_kinds(kernels: TileModuleOp) -> dict[str, tuple[str, ...]]:
    """Return the kinds of the parameters of each entry."""
    return {
        op.sym_name.data: tuple(map(_kind, op.function_type.inputs))
        for op in walk(kernels)
        if isinstance(op, EntryOp)
    }


def _kind(type: Attribute) -> str:
    element = type.element_type if isinstance(type, TileType) else type
    return POINTER if isinstance(element, PointerType) else str(element)


def launching_functions(module: ModuleOp) -> set[str]:
    """Return the names of the functions that launch kernels, themselves or by calls. They run once
    for the launches; all others compute, and have no tile program."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, Function)}
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for name, function in functions.items():
        ops = [*walk(function)]
        called = [op.callee for op in ops if isinstance(op, CallOp | FuncCallOp)]
        calls[name] = {callee.string_value() for callee in called}
        if any(isinstance(op, LaunchOp) for op in ops):
            found.add(name)
    while grown := {name for name, called in calls.items() if called & found} - found:
        found |= grown
    return found


ALLOWED: frozenset[type[Operation]] = frozenset(
    {
        AssumeAlignmentOp,
        CallOp,
        FuncCallOp,
        LaunchOp,
        PrefetchOp,
        memref.CastOp,
        memref.CollapseShapeOp,
        memref.CopyOp,
        memref.DeallocOp,
        memref.DimOp,
        memref.ExpandShapeOp,
        memref.ExtractStridedMetaDataOp,
        memref.LoadOp,
        memref.MemorySpaceCastOp,
        memref.RankOp,
        memref.ReinterpretCastOp,
        memref.StoreOp,
        memref.SubviewOp,
        memref.ViewOp,
    }
)
"""The operations on buffers, control flow apart, that functions that launch kernels may have."""


def check_host_functions(module: ModuleOp, entry: str) -> None:
    """Raise PasslineError for an operation on buffers that a function that launches kernels, or the
    entry, cannot have."""
    for name in {entry, *launching_functions(module)}:
        function = SymbolTable.lookup_symbol(module, name)
        for op in walk(function) if function is not None else ():
            has_buffers = any(is_buffer(operand.type) for operand in op.operands)
            in_flow = op.regions or op.next_op is None
            if has_buffers and not in_flow and type(op) not in ALLOWED:
                raise PasslineError(
                    f"'{op.name}'{place_of(op)} is on buffers of a device: expected it in a "
                    "kernel, or in a function that launches none"
                )
