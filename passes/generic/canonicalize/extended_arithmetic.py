"""Folds and patterns of the operations of `arith` with two results: sums with a carry, and products
with their upper half."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .cast_patterns import cast_to
from .constants import (
    Constant,
    constant_integer,
    constant_of,
    dense_of_numbers,
    is_integer,
    is_uniform_constant,
    numbers_of,
    uniform_attribute,
    uniform_number,
)
from .scalar_values import Number, element_of, is_computed, width_of

Pair: TypeAlias = tuple[int, int]
Halves: TypeAlias = list[SSAValue | Constant]
Extended: TypeAlias = arith.AddUIExtendedOp | arith.MulSIExtendedOp | arith.MulUIExtendedOp
_LESS: Final = IntegerAttr(2, 64)
"""The predicate `slt`."""


def _sum(lhs: int, rhs: int, width: int) -> Pair:
    mask = (1 << width) - 1
    total = (lhs & mask) + (rhs & mask)
    return total, total >> width


def _signed_product(lhs: int, rhs: int, width: int) -> Pair:
    return lhs * rhs, lhs * rhs >> width


def _unsigned_product(lhs: int, rhs: int, width: int) -> Pair:
    mask = (1 << width) - 1
    return _signed_product(lhs & mask, rhs & mask, width)


def _computed(op: Operation, function: Callable[[int, int, int], Pair]) -> Halves | None:
    """Return the two results of an operation on constants, which may be vectors, or None."""
    constants = [constant_of(operand) for operand in op.operands]
    type = op.operands[0].type
    if None in constants or not is_computed(element_of(type)):
        return None
    width, types = width_of(type), [result.type for result in op.results]
    numbers = [uniform_number(constant) for constant in constants]
    if None not in numbers:
        lhs, rhs = (int(number or 0) for number in numbers)
        pair = function(lhs, rhs, width)
        made = [uniform_attribute(number, to) for number, to in zip(pair, types, strict=True)]
    else:
        columns: list[Sequence[Number] | repeat[Number]] = []
        for constant, number in zip(constants, numbers, strict=True):
            assert constant is not None
            column = numbers_of(constant) if number is None else repeat(number)
            if column is None:
                return None
            columns.append(column)
        pairs = [function(int(a), int(b), width) for a, b in zip(*columns)]
        halves = zip(*pairs, strict=True)
        made = [dense_of_numbers(half, to) for half, to in zip(halves, types, strict=True)]
    return None if None in made else [constant for constant in made if constant is not None]


def _fold_addui(op: Operation) -> Halves | None:
    lhs, rhs = op.operands
    if constant_integer(rhs) == 0:
        no_carry = uniform_attribute(0, op.results[1].type)
        return None if no_carry is None else [lhs, no_carry]
    return _computed(op, _sum)


def _fold_mulsi(op: Operation) -> Halves | None:
    rhs = op.operands[1]
    return [rhs, rhs] if constant_integer(rhs) == 0 else _computed(op, _signed_product)


def _fold_mului(op: Operation) -> Halves | None:
    lhs, rhs = op.operands
    number = constant_integer(rhs)
    if number == 0:
        return [rhs, rhs]
    if number == 1:
        zero = uniform_attribute(0, lhs.type)
        return None if zero is None else [lhs, zero]
    return _computed(op, _unsigned_product)


FOLDS = {
    "arith.addui_extended": _fold_addui,
    "arith.mulsi_extended": _fold_mulsi,
    "arith.mului_extended": _fold_mului,
}


class ConstantFactorToRight(RewritePattern):
    """Exchange the operands of an operation whose left one is a constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Extended, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = op.operands
        if is_uniform_constant(lhs) and constant_of(rhs) is None:
            op.operands = [rhs, lhs]
            rewriter.handle_operation_modification(op)


class DropUpperHalf(RewritePattern):
    """Replace an operation of which only the lower half is used by the plain one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Extended, rewriter: PatternRewriter, /) -> None:
        if op.results[1].first_use is None:
            kind = arith.AddiOp if isinstance(op, arith.AddUIExtendedOp) else arith.MuliOp
            plain = kind(op.lhs, op.rhs)
            # Any value of its type will do for the result without uses.
            rewriter.replace(op, plain, [plain.result, None])


class MultiplySignByOne(RewritePattern):
    """Replace a signed product with one by the number and its sign."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MulSIExtendedOp, rewriter: PatternRewriter, /) -> None:
        number, type = op.lhs, op.lhs.type
        # A signed i1 has no 1: its one bit set is -1.
        if constant_integer(op.rhs) != 1 or width_of(type) == 1:
            return
        # xDSL 0.75 compares no vectors.
        zero = uniform_attribute(0, type)
        if zero is None or not is_integer(type):
            return
        constant = arith.ConstantOp(zero)
        is_negative = arith.CmpiOp.create(
            operands=[number, constant.result],
            result_types=[i1],
            properties={"predicate": _LESS},
        )
        sign = cast_to(arith.ExtSIOp, is_negative.results[0], type)
        rewriter.replace(op, [constant, is_negative, sign], [number, sign.results[0]])


PATTERNS = (ConstantFactorToRight(), DropUpperHalf(), MultiplySignByOne())
