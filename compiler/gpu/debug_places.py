"""The source places of kernels: scopes for the debug information of bytecode, and text."""

from __future__ import annotations

import os
from collections.abc import Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from ...dialects.cuda_tile.debug_info import DICompileUnitAttr, DIFileAttr, DISubprogramAttr
from ...dialects.cuda_tile.module_ops import EntryOp
from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...passmanager.fast.clone import clone
from ...passmanager.ir.location import file_location, location_of, place_text
from ...passmanager.ir.walk import walk

__all__ = ["origin_text", "with_scopes"]

SHOWN = 4
"""The most operations that an error lists for a kernel."""


def with_scopes(kernels: TileModuleOp) -> TileModuleOp:
    """Return a copy of `kernels` whose operations have locations that bytecode can hold: each place
    in a source file is in the scope of its entry. An operation without a place has that of the
    operation around it."""
    new = clone(kernels)
    for entry in new.body.ops:
        if isinstance(entry, EntryOp) and (place := file_location(entry.location)) is not None:
            scope = _subprogram(entry.sym_name, place)
            for op in walk(entry):
                op.location = FusedLoc(ArrayAttr([location_of(op) or place]), scope)
    return new


def _subprogram(name: StringAttr, place: FileLineColLoc) -> DISubprogramAttr:
    # The assembler does not escape the quotes of names that stand for files, as `loc("conv1")`.
    folder, file_name = os.path.split(place.filename.data.replace('"', ""))
    file = DIFileAttr(StringAttr(file_name), StringAttr(folder))
    line = IntAttr(place.line.data)
    return DISubprogramAttr(file, line, name, name, DICompileUnitAttr(file), line)


def origin_text(location: Attribute) -> str:
    """Return the named operations in a location as text, `relax.add at x.mlir:3:8, ...`."""
    texts = [*_origins(location)]
    more = [] if len(texts) <= SHOWN else [f"and {len(texts) - SHOWN} more"]
    return ", ".join([*texts[:SHOWN], *more])


def _origins(location: Attribute) -> Iterator[str]:
    if isinstance(location, NameLoc) and not isinstance(location.location, UnknownLoc):
        place = file_location(location.location)
        yield location.desc.data + (f" at {place_text(place)}" if place else "")
    elif isinstance(location, FusedLoc) and isa(location.locations, ArrayAttr[Attribute]):
        for part in location.locations:
            yield from _origins(part)
