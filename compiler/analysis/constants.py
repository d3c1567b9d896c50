"""Integer constants among SSA values, and loop extents."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from ...dialects.tir.ops import ForOp

__all__ = ["constant_extent", "integer_attribute", "integer_constant"]


def integer_constant(value: SSAValue) -> int | None:
    """Return the integer that `value` is, or None if it is not a constant."""
    attribute = integer_attribute(value)
    return None if attribute is None else attribute.value.data


def integer_attribute(value: SSAValue) -> IntegerAttr | None:
    """Return the attribute of the integer constant that `value` is, or None."""
    # `Analyzer.constant_of` also finds values that fold to a constant, but costs more.
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value
    return None


def constant_extent(loop: ForOp) -> int | None:
    """Return the number of iterations of `loop` if it is a constant below 2^31, else None."""
    extent = integer_constant(loop.extent)
    return None if extent is None or extent >= 1 << 31 else max(extent, 0)
