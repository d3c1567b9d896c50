"""The constants of functions on tensors as globals of the module."""

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

from ...analysis.memory.storage_plan import ALIGNMENT
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.types import Element
from ...passmanager.ir.symbols import symbol_of

__all__ = ["Symbols"]

LARGE = 4096
"""Bytes from which constants are equal only if they share their bytes: they are not read."""


class Symbols:
    """The functions of a module that are planned, and its constants as globals."""

    def __init__(self, module: ModuleOp, planned: Iterable[FuncOp]) -> None:
        self.by_name = {name: op for op in module.ops if (name := symbol_of(op))}
        self.planned = {op.sym_name.data for op in planned}
        self.globals: list[GlobalOp] = []
        self.known: dict[tuple[Attribute, bytes | int], GlobalOp] = {}
        self.suffixes: dict[str, int] = {}
        """The last number that was added to a name."""

    def constant(self, op: ConstantOp | FullOp) -> GlobalOp:
        """The global with the elements of a constant, which may be in another shape there."""
        value = op.value if isinstance(op, ConstantOp) else _splat(op)
        data = value.data.data
        key = value.type.element_type, id(data) if len(data) > LARGE else data
        if (known := self.known.get(key)) is None:
            self.known[key] = known = GlobalOp.get(
                StringAttr(self.name_of(op)),
                MemRefType(value.type.element_type, value.get_shape()),
                value,
                constant=UnitAttr(),
                alignment=ALIGNMENT,
            )
            known.location = op.location
            self.by_name[known.sym_name.data] = known
            self.globals.append(known)
        return known

    def name_of(self, op: ConstantOp | FullOp) -> str:
        """A name that is not taken: what the value is called, which a text keeps."""
        name = stem = op.result.name_hint or "constant"
        while name in self.by_name:
            self.suffixes[stem] = suffix = self.suffixes.get(stem, 0) + 1
            name = f"{stem}_{suffix}"
        return name


def _splat(op: FullOp) -> DenseIntOrFPElementsAttr:
    """The elements of a fill one by one."""
    value = op.value
    type = cast(TensorType[Element], TensorType(value.type, [1]))
    number = DenseIntOrFPElementsAttr.from_list(type, [value.value.data])  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    one = cast(DenseIntOrFPElementsAttr, number).data.data
    result = cast(TensorType[Element], op.result.type)
    return DenseIntOrFPElementsAttr(result, BytesAttr(one * prod(result.get_shape())))
