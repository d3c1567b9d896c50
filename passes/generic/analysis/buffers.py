"""The operations that make buffers: allocations, and views of other buffers."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import memref

from ....passmanager.releases.memref import AssumeAlignmentOp

__all__ = ["Allocation", "View"]

Allocation: TypeAlias = memref.AllocOp | memref.AllocaOp
"""An operation that allocates a buffer."""

View: TypeAlias = (
    AssumeAlignmentOp
    | memref.CastOp
    | memref.CollapseShapeOp
    | memref.ExpandShapeOp
    | memref.MemorySpaceCastOp
    | memref.ReinterpretCastOp
    | memref.SubviewOp
    | memref.ViewOp
)
"""An operation whose result aliases its first operand, or a part of it."""
