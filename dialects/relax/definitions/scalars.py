"""Single numbers: in which types they are computed, and what is more than one operation."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerType, f32, i1, i8
from xdsl.ir import Attribute, SSAValue

from .tensors import Writer

__all__ = ["is_float", "narrow", "power", "wide_type", "widen"]


def is_float(type: Attribute) -> bool:
    return not isinstance(type, IntegerType)


def wide_type(type: Attribute) -> Attribute:
    """The type in which numbers of a type are computed: f32 for shorter floats, and i8, where it
    is 0 or 1, for i1."""
    if isinstance(type, Float16Type | BFloat16Type):
        return f32
    return i8 if type == i1 else type


def widen(w: Writer, x: SSAValue) -> SSAValue:
    """The number in the type in which it is computed."""
    if (type := wide_type(x.type)) == x.type:
        return x
    return w.pure(arith.ExtFOp if is_float(type) else arith.ExtUIOp, x, target_type=type)


def narrow(w: Writer, x: SSAValue, type: Attribute) -> SSAValue:
    """The number as an element of a type, of which it has the type or the wide one."""
    if x.type == type:
        return x
    return w.pure(arith.TruncFOp if is_float(type) else arith.TruncIOp, x, target_type=type)


def power(w: Writer, base: SSAValue, exponent: float) -> SSAValue:
    """A float that is not negative to a power that is known."""
    match exponent:
        case 1:
            return base
        case 0.5:
            return w.pure(math.SqrtOp, base)
        case 0.75:
            root = w.pure(math.SqrtOp, base)
            return w.pure(arith.MulfOp, root, w.pure(math.SqrtOp, root))
        case _:
            return w.pure(math.PowFOp, base, w.number(exponent, base.type))
