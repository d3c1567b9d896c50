"""Integer constants among SSA values."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

__all__ = ["integer_attribute", "integer_constant"]


def integer_constant(value: SSAValue) -> int | None:
    """Return the integer that `value` is, or None if it is not a constant."""
    attribute = integer_attribute(value)
    return None if attribute is None else attribute.value.data


def integer_attribute(value: SSAValue) -> IntegerAttr | None:
    """Return the attribute of the integer constant that `value` is, or None."""
    op = value.owner
    if isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value
    return None
