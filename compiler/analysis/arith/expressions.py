"""Integer expressions: the operations, comparisons and types that the arithmetic analyses know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil, floor, log2
from typing import Literal

from xdsl.dialects import arith, math, memref
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import NoMemoryEffect, Pure

from ....passes.generic.purity import View
from ....passmanager.fast.edit import read_step
from ....passmanager.ir.per_class import PerClass
from ....passmanager.ir.speculation import Speculation, speculation
from .ranges import Range

# Predicates of integer comparisons: negated, swapped, decided by ranges.


Predicate = Literal["eq", "ne", "slt", "sle", "sgt", "sge"]
"""A signed comparison of two integers, named as in `arith.cmpi`."""

CMPI_NUMBER: Mapping[Predicate, int] = {
    "eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5,
}  # fmt: skip
"""The number of a predicate in `arith.cmpi`."""

ULT = 6
"""The first number of an unsigned predicate in `arith.cmpi`."""

SIGNED: Sequence[Predicate] = ("eq", "ne", "slt", "sle", "sgt", "sge", "slt", "sle", "sgt", "sge")
"""For each number of a predicate in `arith.cmpi`, the signed predicate: the same comparison of
integers that are not negative."""

NEGATED: Mapping[Predicate, Predicate] = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
}  # fmt: skip
"""The predicate that holds exactly where another one does not."""

SWAPPED: Mapping[Predicate, Predicate] = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
}  # fmt: skip
"""Predicate of `a` and `b` -> the predicate of `b` and `a` that says the same."""


def decide(predicate: Predicate, difference: Range) -> bool | None:
    """Return whether all integers of `difference` compare with 0 as `predicate` says, or none of
    them does; None if some do."""
    low, high, holes = difference
    match predicate:
        case "slt" | "sge":
            if high is not None and high < 0:
                return predicate == "slt"
            return predicate == "sge" if low is not None and low >= 0 else None
        case "sgt" | "sle":
            if low is not None and low > 0:
                return predicate == "sgt"
            return predicate == "sle" if high is not None and high <= 0 else None
        case "eq" | "ne":
            # Equality needs the range of 0 alone. Difference needs a range above or below 0, or a
            # hole at 0; a hole elsewhere says nothing.
            if low == high == 0:
                return predicate == "eq"
            is_apart = (low is not None and low > 0) or (high is not None and high < 0)
            return predicate == "ne" if is_apart or 0 in holes else None


# Ranges of rounded logarithms of integers, as in sizes of reduction trees.


MAX_ARGUMENT = 1 << 11
"""The largest integer whose rounded logarithm is predicted: for larger neighbors of a power of 2,
the computed logarithm may be rounded to an integer."""

FLOATS = (Float32Type(), Float64Type())


def rounded_log2_argument(value: SSAValue) -> SSAValue | None:
    """Return the integer `n` if `value` is `ceil(log2(n))` or `floor(log2(n))` in floats."""
    match value.owner:
        case math.CeilOp() | math.FloorOp() as rounded:
            log = rounded.operand.owner
        case _:
            return None
    if not isinstance(log, math.Log2Op) or value.type not in FLOATS:
        return None
    conversion = log.operand.owner
    if not isinstance(conversion, arith.SIToFPOp | arith.UIToFPOp):
        return None
    return conversion.input


def range_of_rounded_log2(value: SSAValue, argument: Range) -> Range:
    """Return the range of `value`, a rounded logarithm of an integer with the range `argument`."""
    # Monotonic, so the ends of the argument give the ends; 0 has no logarithm.
    low, high, _ = argument
    if low is None or high is None or not 0 < low <= high <= MAX_ARGUMENT:
        return Range()
    # Python computes in f64, the program perhaps in f32: equal up to MAX_ARGUMENT after rounding.
    rounded = ceil if isinstance(value.owner, math.CeilOp) else floor
    return Range(rounded(log2(low)), rounded(log2(high)))


# Types of integers: widths and ranges.


BOOLEAN = IntegerType(1)
INDEX = IndexType()

INDEX_WIDTH = -1
"""The `bit_width` of an index, which is not known and does not overflow."""


def is_integer(type: Attribute) -> bool:
    """Return whether a value of `type` is a scalar integer or an index."""
    return isinstance(type, IndexType | IntegerType)


def bit_width(type: Attribute) -> int:
    """Return the bits of an integer type, INDEX_WIDTH for an index, 0 for any other type."""
    if isinstance(type, IndexType):
        return INDEX_WIDTH
    return type.bitwidth if isinstance(type, IntegerType) else 0


def range_of_type(type: Attribute) -> Range:
    """Return the values of an integer type, taken as signed unless it is i1; all for any other."""
    return Range() if isinstance(type, IndexType) else _range_of_width(bit_width(type))


@cache
def _range_of_width(width: int) -> Range:
    if width == 0:
        return Range()
    # True counts as 1. For signed predicates it is -1: `Linearizer.comparison` leaves out those on
    # i1.
    if width == 1:
        return Range(0, 1)
    return Range(-(1 << (width - 1)), (1 << (width - 1)) - 1)


# Expressions: operations that compute their result from their operands and do nothing else.


MAX_TREE = 12
"""How many operations a tree may have: longer expressions are simplified piece by piece."""


def _is_pure(cls: type[Operation]) -> bool:
    if issubclass(cls, memref.DimOp):
        return True  # xDSL declares no effects for it
    return cls.name.startswith(("arith.", "math.", "tir.")) and (
        cls.get_trait(Pure) is not None or cls.get_trait(NoMemoryEffect) is not None
    )


_PURE = PerClass(_is_pure)


def has_pure_class(op: Operation) -> bool:
    """Return whether the results of `op` depend on its class, operands and properties alone."""
    return _PURE[type(op)]


def is_expression(op: Operation) -> bool:
    """Return whether `op` does nothing but compute one result from its operands."""
    return _PURE[type(op)] and len(op.results) == 1 and not op.regions


def cannot_trap(op: Operation) -> bool:
    """Return whether `op` may be computed where the program would not compute it."""
    # A view may be out of bounds there, and 0 has no power of -1.
    return speculation(op) == Speculation.ALWAYS and not isinstance(op, math.IPowIOp | View)


def expression_tree(op: Operation) -> list[SSAValue]:
    """Return the result of `op`, and the integers that are only used to compute it.

    These are the values that have no use any more once `op` is replaced. Constants do not count, as
    they cost nothing. At most MAX_TREE values.
    """
    tree: list[SSAValue] = []
    pending = [op]
    while pending and len(tree) < MAX_TREE:
        operands, results, _, _ = read_step(pending.pop())
        tree.append(results[0])
        for operand in operands:
            # A value with another use stays alive, so replacing its user does not save it.
            if not isinstance(operand, OpResult) or not operand.has_one_use():
                continue
            definition = operand.op
            if type(definition) is not arith.ConstantOp and is_expression(definition):
                if is_integer(operand.type):
                    pending.append(definition)
    return tree


def negated_operand(op: arith.XOrIOp) -> SSAValue | None:
    """Return the condition that `op` negates (`xori %condition, true`); None if it does not."""
    if op.result.type != BOOLEAN:
        return None
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if isinstance(constant := other.owner, arith.ConstantOp):
            if isinstance(constant.value, IntegerAttr) and constant.value.value.data & 1:
                return value
    return None
