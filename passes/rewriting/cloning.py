"""Copies of operations with other values in the place of some; what is constant then is folded."""

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
from xdsl.dialects.builtin import (
    ContainerType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import Commutative

from ...analysis.constants import integer_attribute
from ...dialects.tir.ops import PrimFuncOp

__all__ = ["BinaryOp", "Constants", "compute", "copy_ops", "fold_binary"]

ConstantValue: TypeAlias = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr

BinaryOp: TypeAlias = type[SignlessIntegerBinaryOperation]


class Constants:
    """The constants of a function: each value once, at its start, where it dominates all."""

    def __init__(self, func: PrimFuncOp) -> None:
        self._block = func.body.block
        self._known: dict[ConstantValue, SSAValue] = {}
        self._last: Operation | None = None
        op = self._block.first_op
        while isinstance(op, ConstantOp):
            self._known.setdefault(op.value, op.result)
            self._last, op = op, op.next_op

    def get(self, value: ConstantValue) -> SSAValue:
        """The constant of that value."""
        if (known := self._known.get(value)) is None:
            self._insert(op := ConstantOp(value))
            known = self._known[value] = op.result
        return known

    def index(self, value: int) -> SSAValue:
        """The constant of type index."""
        return self.get(IntegerAttr.from_index_int_value(value))

    def erase_unused(self) -> None:
        """Erase the constants at the start that nothing uses."""
        op = self._block.first_op
        while isinstance(op, ConstantOp):
            following = op.next_op
            if not op.result.uses:
                self._known.pop(op.value, None)
                self._last = op.prev_op if op is self._last else self._last
                op.detach()
                op.erase()
            op = following

    def _insert(self, op: ConstantOp) -> None:
        if self._last is not None:
            self._block.insert_op_after(op, self._last)
        elif (first := self._block.first_op) is not None:
            self._block.insert_op_before(op, first)
        else:
            self._block.add_op(op)
        self._last = op


# Folding


_DIVISIONS: dict[BinaryOp, Callable[[int, int], int]] = {
    CeilDivSIOp: lambda a, b: -(-a // b),
    DivSIOp: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    FloorDivSIOp: lambda a, b: a // b,
    RemSIOp: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_OTHERS: dict[BinaryOp, Callable[[int, int], int]] = {MaxSIOp: max, MinSIOp: min}
"""What xDSL does not fold."""


def _computed(kind: BinaryOp, lhs: IntegerAttr, rhs: IntegerAttr) -> int | None:
    a, b = lhs.value.data, rhs.value.data
    if (value := kind.py_operation(a, b)) is not None:
        return value
    # xDSL keeps numbers of other types as they were written, -1 : i8 also as 255.
    if not isinstance(lhs.type, IndexType):
        return None
    if kind in _DIVISIONS:
        return _DIVISIONS[kind](a, b) if b else None
    return _OTHERS[kind](a, b) if kind in _OTHERS else None


def fold_binary(
    kind: BinaryOp, lhs: SSAValue, rhs: SSAValue, constants: Constants
) -> SSAValue | None:
    """What the operation gives, if that is a constant or an operand; else None."""
    if kind is SubiOp and lhs is rhs and not isinstance(lhs.type, ContainerType):
        return constants.get(IntegerAttr(0, cast(IndexType, lhs.type)))
    a, b = integer_attribute(lhs), integer_attribute(rhs)
    if a is not None and b is not None and (value := _computed(kind, a, b)) is not None:
        return constants.get(IntegerAttr(value, a.type, truncate_bits=True))
    if a is not None and b is None and kind.has_trait(Commutative):
        lhs, rhs, b = rhs, lhs, a
    if b is None:
        return None
    if kind.is_right_unit(b):
        return lhs
    return rhs if kind.is_right_zero(b) else None


def compute(
    kind: BinaryOp,
    lhs: SSAValue,
    rhs: SSAValue,
    constants: Constants,
    insert: Callable[[Operation], object],
) -> SSAValue:
    """What the operation gives; if that takes one, it is given to `insert`."""
    if (known := fold_binary(kind, lhs, rhs, constants)) is not None:
        return known
    insert(op := kind(lhs, rhs))
    return op.result


# Copying


def copy_ops(
    ops: Iterable[Operation], values: dict[SSAValue, SSAValue], constants: Constants
) -> list[Operation]:
    """Copy operations, with what `values` has in the place of its keys; to `values` are added the
    results.

    Constants become those of the function, and integer arithmetic on constants is done.
    """
    copies: list[Operation] = []
    for op in ops:
        if (known := _known(op, values, constants)) is not None:
            values[op.results[0]] = known
            continue
        copies.append(copy := op.clone_without_regions(values))
        for old, new in zip(op.regions, copy.regions, strict=True):
            _copy_region(old, new, values, constants)
    return copies


def _known(
    op: Operation, values: dict[SSAValue, SSAValue], constants: Constants
) -> SSAValue | None:
    """The value that there is already of what a copy of `op` would compute."""
    if isinstance(op, ConstantOp):
        return None if op.attributes else constants.get(op.value)
    if not isinstance(op, SignlessIntegerBinaryOperation):
        return None
    lhs, rhs = op.operands
    return fold_binary(type(op), values.get(lhs, lhs), values.get(rhs, rhs), constants)


def _copy_region(
    region: Region, new: Region, values: dict[SSAValue, SSAValue], constants: Constants
) -> None:
    if len(region.blocks) != 1:
        region.clone_into(new, None, values)
        return
    block = Block(arg_types=region.block.arg_types)
    for old, arg in zip(region.block.args, block.args, strict=True):
        values[old] = arg
        arg.name_hint = old.name_hint
    block.add_ops(copy_ops(region.block.ops, values, constants))
    new.add_block(block)
