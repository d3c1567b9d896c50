"""LocationSnapshot: give operations the locations that they have in a text of the module."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import (
    ArrayAttr,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.printer import Printer
from xdsl.utils.exceptions import PassFailedException

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk


def snapshot_locations(
    module: ModuleOp, filename: str, tag: str = "", generic: bool = False
) -> None:
    """Write `module` to a file, and set the location of each operation to where it stands there.

    With `tag` the old location stays, fused with the new one under this name.
    """
    from ...passmanager.ir.text.parser import parse_module
    from ...passmanager.registry import make_ir_context

    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    text = stream.getvalue() + "\n"
    with open(filename, "w", encoding="utf-8") as file:
        file.write(text)
    # The parser notes where each operation begins.
    read = parse_module(make_ir_context(allow_unregistered=True), text, filename)
    for op, placed in zip(walk(module), walk(read), strict=True):
        op.location = _fused(op.location, placed.location, tag) if tag else placed.location


def _fused(old: LocationAttr, new: LocationAttr, tag: str) -> LocationAttr:
    named = NameLoc.new([StringAttr(tag), new])
    return named if isinstance(old, UnknownLoc) else FusedLoc(ArrayAttr([old, named]), NoneAttr())


@dataclass(frozen=True)
class SnapshotOpLocations(ModulePass):
    """Set the location of each operation to its place in a file to which the module is written.

    Source: MLIR's pass of this name (`LocationSnapshot`).
    """

    name = "snapshot-op-locations"

    filename: str = ""
    """The file to write; empty for a new temporary one."""
    tag: str = ""
    """Keep the old locations, fused with the new ones under this name."""
    print_op_generic: bool = False
    """Write the generic form of operations."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        filename = self.filename
        if not filename:
            handle, filename = tempfile.mkstemp(".mlir", "mlir_snapshot-")
            os.close(handle)
        try:
            snapshot_locations(module, filename, self.tag, self.print_op_generic)
        except OSError as error:
            raise PassFailedException(f"{filename}: {error.strerror}") from error
