"""StripDebuginfo: remove the locations of operations and block arguments."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk


def strip_locations(root: Operation) -> None:
    """Set the locations of `root`, the operations nested in it and their block arguments to
    unknown."""
    unknown = UnknownLoc()
    for op in walk(root):
        op.location = unknown
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.location = unknown


class StripDebuginfo(ModulePass):
    """Set all locations to `loc(unknown)`. Source: MLIR's pass of this name."""

    name = "strip-debuginfo"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        strip_locations(module)
