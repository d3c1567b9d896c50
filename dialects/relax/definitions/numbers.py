"""Numbers in kernels: the types that sums have, and what depends on the type of an element."""

from __future__ import annotations

from math import inf

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    Signedness,
    f32,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ...tir.building import Index, TirBuilder
from ..constant import is_integer

__all__ = [
    "add",
    "as_index",
    "convert",
    "divide",
    "greatest",
    "is_float",
    "known",
    "least",
    "maximum",
    "minimum",
    "multiply",
    "select",
    "signless",
    "step_type",
    "wide_type",
    "widen",
]


def signless(type: Attribute) -> Attribute:
    """An element type that can be computed with; NotImplementedError if it is no such number."""
    if is_integer(type) and type.signedness.data is not Signedness.SIGNLESS:
        raise NotImplementedError(f"numbers of type {type}: kernels know integers without a sign")
    return type


def wide_type(type: Attribute) -> Attribute:
    """The type in which elements are added up: f32 for f16, i64 for integers."""
    if isinstance(signless(type), Float16Type | BFloat16Type):
        return f32
    return i64 if is_integer(type) else type


def step_type(type: Attribute) -> Attribute:
    """The type in which elements are computed: f32 for f16, and i8, where it is 0 or 1, for i1."""
    return i8 if type == i1 else wide_type(type) if is_float(type) else type


def is_float(type: Attribute) -> bool:
    return not is_integer(signless(type))


def widen(w: TirBuilder, value: SSAValue) -> SSAValue:
    """The number in the type in which it is computed."""
    return convert(w, value, step_type(value.type))


def known(value: SSAValue) -> float | int | None:
    """The number, if it is a constant."""
    op = value.owner
    if isinstance(op, arith.ExtFOp):
        return known(op.input)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
        return op.value.value.data
    return None


def convert(w: TirBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """The number, or the index, in another type: rounded, or wrapped around; i1 is 0 or 1."""
    source = value.type
    if source == type:
        return value
    if is_integer(source) and not is_integer(type) and not isinstance(type, IndexType):
        return w.pure(arith.SIToFPOp, convert(w, value, i64), target_type=type)
    if not is_integer(source) and not isinstance(source, IndexType) and is_integer(type):
        raise NotImplementedError(f"a number of type {type} made of one of {source}")
    if isinstance(source, IndexType):
        if is_integer(type):
            return w.pure(arith.IndexCastOp, value, target_type=type)
        value = w.pure(arith.IndexCastOp, value, target_type=i64)
        return w.pure(arith.SIToFPOp, value, target_type=type)
    if is_integer(source) and is_integer(type):
        if source.bitwidth > type.bitwidth:
            return w.pure(arith.TruncIOp, value, target_type=type)
        extend = arith.ExtUIOp if source == i1 else arith.ExtSIOp
        return w.pure(extend, value, target_type=type)
    assert isinstance(source, AnyFloat) and isinstance(type, AnyFloat)
    if source.bitwidth < type.bitwidth:
        return w.pure(arith.ExtFOp, value, target_type=type)
    if source.bitwidth == type.bitwidth:  # f16 and bf16
        value = w.pure(arith.ExtFOp, value, target_type=f32)
    return w.pure(arith.TruncFOp, value, target_type=type)


def as_index(w: TirBuilder, value: SSAValue) -> SSAValue:
    """The integer as an index."""
    signless(value.type)
    return w.pure(arith.IndexCastOp, value, target_type=IndexType())


def select(w: TirBuilder, condition: SSAValue, then: Index, otherwise: Index) -> SSAValue:
    """One of two indices, both of which are computed, or numbers."""
    return w.pure(arith.SelectOp, condition, w.index(then), w.index(otherwise))


def least(type: Attribute) -> float | int:
    """The least number of a type."""
    if not is_integer(type):
        return -inf
    return 0 if type == i1 else -1 << type.bitwidth - 1


def greatest(type: Attribute) -> float | int:
    """The greatest number of a type."""
    if not is_integer(type):
        return inf
    return 1 if type == i1 else (1 << type.bitwidth - 1) - 1


def maximum(w: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The greater of two numbers, NaN if one is."""
    if not is_integer(signless(lhs.type)):
        return w.pure(arith.MaximumfOp, lhs, rhs)
    return w.pure(arith.MaxUIOp if lhs.type == i1 else arith.MaxSIOp, lhs, rhs)


def minimum(w: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The smaller of two numbers, NaN if one is."""
    if not is_integer(signless(lhs.type)):
        return w.pure(arith.MinimumfOp, lhs, rhs)
    return w.pure(arith.MinUIOp if lhs.type == i1 else arith.MinSIOp, lhs, rhs)


def add(w: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return w.sum(lhs, rhs)


def multiply(w: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    return w.pure(arith.MuliOp if is_integer(lhs.type) else arith.MulfOp, lhs, rhs)


def divide(w: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """The quotient; of integers, truncated toward zero."""
    return w.pure(arith.DivSIOp if is_integer(lhs.type) else arith.DivfOp, lhs, rhs)
