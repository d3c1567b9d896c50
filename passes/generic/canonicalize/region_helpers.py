"""Shared helpers of the patterns of operations with regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from .constants import constant_integer
from .scalar_values import width_of

Position: TypeAlias = tuple[Operation, int]
"""An operation and the number of an operand."""


def yielded(region: Region) -> Sequence[SSAValue]:
    end = region.block.last_op
    assert end is not None
    return tuple(end.operands)


def is_empty(region: Region) -> bool:
    """Return whether a region has nothing but a terminator."""
    return region.block.first_op is region.block.last_op


def signed_constant(value: SSAValue) -> int | None:
    """Return the number of an `arith.constant` of integers, signed; None for any other value."""
    owner = value.owner
    if (number := constant_integer(value)) is None or not isinstance(owner, arith.ConstantOp):
        return None
    width = width_of(value.type)
    return number - (1 << width) if number >> (width - 1) else number


def uses_among(
    value: SSAValue, ops: Iterable[Operation], is_inside: Callable[[Operation], bool]
) -> list[Position]:
    """Return the places of `value` in `ops`, for which `is_inside` is true.

    As many uses are visited as operations, until one of the two ends: one value may have uses in
    all regions of a module, and one region may be all of it.
    """
    found: list[Position] = []
    inside: list[Position] = []
    uses = iter(value.uses)
    for op in ops:
        found += [(op, index) for index, operand in enumerate(op.operands) if operand is value]
        if (use := next(uses, None)) is None:
            return inside
        if is_inside(use.operation):
            inside.append((use.operation, use.index))
    return found


def replace_by_constant(
    rewriter: PatternRewriter, value: SSAValue, places: Sequence[Position], truth: bool
) -> None:
    """Replace a condition in some places, if there are any, by a constant before the matched
    operation."""
    if not places:  # without uses there is no constant: else a pattern would fire forever
        return
    constant = rewriter.insert(arith.ConstantOp(BoolAttr.from_bool(truth))).result
    constant.name_hint = value.name_hint
    for op, index in places:
        op.operands[index] = constant
        rewriter.handle_operation_modification(op)
    if isinstance(value.owner, Operation):
        rewriter.handle_operation_modification(value.owner)


def replace_used(rewriter: PatternRewriter, value: SSAValue, new: SSAValue) -> None:
    """Replace `value` by `new` unless it has no uses: else a pattern would fire forever."""
    if value.first_use is not None:
        rewriter.replace_all_uses_with(value, new)


def inline(
    rewriter: PatternRewriter, op: Operation, block: Block, values: Sequence[SSAValue] = ()
) -> None:
    """Replace `op` by the operations in `block`, with `values` for its arguments; the results are
    what its terminator returns."""
    end = block.last_op
    assert end is not None
    rewriter.inline_block(block, InsertPoint.before(op), values)
    rewriter.replace(op, (), end.operands)
    rewriter.erase(end)
