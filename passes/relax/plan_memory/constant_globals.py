"""The constants of functions on tensors as globals of a module."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Attribute

from ....compiler.analysis.memory.storage_plan import ALIGNMENT
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.types import Element
from ....passmanager.ir.symbols import symbol_of
from .buffer_values import is_dynamic

__all__ = ["ConstantGlobals"]

LARGE = 4096
"""The size in bytes above which constants are compared by the identity of their data: reading and
hashing the weights of a network costs more than it saves."""


class ConstantGlobals:
    """The globals that hold the constants of the functions `planned`, which become functions on
    buffers, and the symbols of their module. Constants with equal elements share one global."""

    def __init__(self, module: ModuleOp, planned: Iterable[FuncOp]) -> None:
        self.by_name = {name: op for op in module.ops if (name := symbol_of(op))}
        funcs = [*planned]
        self.planned = {op.sym_name.data for op in funcs}
        self.dynamic = {op.sym_name.data for op in funcs if is_dynamic(op)}
        """The planned functions that compute with sizes: they become `func.func`s."""
        self.globals: list[GlobalOp] = []
        self.by_elements: dict[tuple[Attribute, bytes | int], GlobalOp] = {}
        """The globals by the type and the bytes of their elements; by the identity of the bytes if
        there are more than `LARGE`."""
        self.suffixes: dict[str, int] = {}
        """The last number that was appended to each name."""

    def constant(self, op: ConstantOp | FullOp) -> GlobalOp:
        """Return the global with the elements of a constant; its type may have another shape, if a
        constant of that shape came first."""
        value = op.value if isinstance(op, ConstantOp) else _splat(op)
        data = value.data.data
        # An identity stays valid: the global of the key keeps the bytes alive.
        key = value.type.element_type, id(data) if len(data) > LARGE else data
        if (found := self.by_elements.get(key)) is None:
            self.by_elements[key] = found = GlobalOp.get(
                StringAttr(self.name_of(op)),
                MemRefType(value.type.element_type, value.get_shape()),
                value,
                constant=UnitAttr(),
                alignment=ALIGNMENT,
            )
            found.location = op.location
            self.by_name[found.sym_name.data] = found
            self.globals.append(found)
        return found

    def name_of(self, op: ConstantOp | FullOp) -> str:
        """Return an unused symbol name: the name hint of a constant, numbered if it is taken."""
        name = stem = op.result.name_hint or "constant"
        while name in self.by_name:
            self.suffixes[stem] = suffix = self.suffixes.get(stem, 0) + 1
            name = f"{stem}_{suffix}"
        return name


def _splat(op: FullOp) -> DenseIntOrFPElementsAttr:
    """Return the elements of a fill as dense data."""
    value = op.value
    type = cast(TensorType[Element], TensorType(value.type, [1]))
    number = DenseIntOrFPElementsAttr.from_list(type, [value.value.data])  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    one = cast(DenseIntOrFPElementsAttr, number).data.data
    result = cast(TensorType[Element], op.result.type)
    return DenseIntOrFPElementsAttr(result, BytesAttr(one * prod(result.get_shape())))
