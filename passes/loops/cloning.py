"""Clones of operations with some values replaced; arithmetic that becomes constant is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, cast

from xdsl.dialects.arith import (
    CeilDivSIOp,
    ConstantOp,
    DivSIOp,
    FloorDivSIOp,
    MaxSIOp,
    MinSIOp,
    RemSIOp,
    SignlessIntegerBinaryOperation,
    SubiOp,
)
from xdsl.dialects.builtin import ContainerType, IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import Commutative

from ...compiler.analysis.constants import integer_attribute
from ..generic.canonicalize.scalar_folds import integer_constant
from .constant_pool import ConstantPool

__all__ = ["BinaryOp", "clone_ops", "create_or_fold", "fold_binary"]

BinaryOp: TypeAlias = type[SignlessIntegerBinaryOperation]
"""A class of integer operations on two operands, such as `arith.AddiOp`."""


# Folding


_DIVISIONS: dict[BinaryOp, Callable[[int, int], int]] = {
    CeilDivSIOp: lambda a, b: -(-a // b),
    DivSIOp: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    FloorDivSIOp: lambda a, b: a // b,
    RemSIOp: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_MIN_MAX: dict[BinaryOp, Callable[[int, int], int]] = {MaxSIOp: max, MinSIOp: min}
"""Operations that xDSL does not fold."""


def fold_binary(
    kind: BinaryOp, lhs: SSAValue, rhs: SSAValue, constants: ConstantPool
) -> SSAValue | None:
    """Return the result of `kind(lhs, rhs)` if it is a constant or an operand, else None."""
    if kind is SubiOp and lhs is rhs and not isinstance(lhs.type, ContainerType):
        return constants.get(IntegerAttr(0, cast(IndexType, lhs.type)))
    a, b = integer_attribute(lhs), integer_attribute(rhs)
    if a is not None and b is not None and (value := _evaluate(kind, a, b)) is not None:
        return constants.get(integer_constant(value, a.type))
    if a is not None and b is None and kind.has_trait(Commutative, value_if_unregistered=False):
        lhs, rhs, b = rhs, lhs, a
    if b is None:
        return None
    if kind.is_right_unit(b):
        return lhs
    return rhs if kind.is_right_zero(b) else None


def _evaluate(kind: BinaryOp, lhs: IntegerAttr, rhs: IntegerAttr) -> int | None:
    """Return the result of `kind` on two constants, or None if it is not known."""
    a, b = (integer_constant(number.value.data, number.type).value.data for number in (lhs, rhs))
    if (value := kind.py_operation(a, b)) is not None:
        return value
    # The sign matters below. xDSL stores an iN as it was written: -1 : i8 may be 255.
    if not isinstance(lhs.type, IndexType):
        return None
    if kind in _DIVISIONS:
        return _DIVISIONS[kind](a, b) if b else None
    return _MIN_MAX[kind](a, b) if kind in _MIN_MAX else None


def create_or_fold(
    kind: BinaryOp,
    lhs: SSAValue,
    rhs: SSAValue,
    constants: ConstantPool,
    insert: Callable[[Operation], object],
) -> SSAValue:
    """Return the result of `kind(lhs, rhs)`, folded if possible (MLIR's `createOrFold`).

    A new operation is passed to `insert`.
    """
    if (folded := fold_binary(kind, lhs, rhs, constants)) is not None:
        return folded
    insert(op := kind(lhs, rhs))
    return op.result


# Cloning


def clone_ops(
    ops: Iterable[Operation], values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> list[Operation]:
    """Return clones of `ops`, with the keys of `values` replaced by its values.

    The results of `ops` are added to `values`. Constants are taken from the pool, and integer
    arithmetic is folded; neither is among the clones.
    """
    clones: list[Operation] = []
    for op in ops:
        if (folded := _fold(op, values, constants)) is not None:
            values[op.results[0]] = folded
            continue
        clones.append(clone := op.clone_without_regions(values))
        for old, new in zip(op.regions, clone.regions, strict=True):
            _clone_region(old, new, values, constants)
    return clones


def _fold(
    op: Operation, values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> SSAValue | None:
    """Return an existing value for the result of a clone of `op`, or None."""
    if isinstance(op, ConstantOp):
        return None if op.attributes else constants.get(op.value)
    if not isinstance(op, SignlessIntegerBinaryOperation):
        return None
    lhs, rhs = op.operands
    return fold_binary(type(op), values.get(lhs, lhs), values.get(rhs, rhs), constants)


def _clone_region(
    region: Region, new: Region, values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> None:
    # `clone_ops` goes through one block in order; several are left to xDSL.
    if len(region.blocks) != 1:
        region.clone_into(new, None, values)
        return
    block = Block(arg_types=region.block.arg_types)
    for old, arg in zip(region.block.args, block.args, strict=True):
        values[old] = arg
        arg.name_hint = old.name_hint
    block.add_ops(clone_ops(region.block.ops, values, constants))
    new.add_block(block)
