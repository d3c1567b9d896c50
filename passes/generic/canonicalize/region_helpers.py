"""Shared helpers of the patterns of operations with regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from .constants import constant_integer
from .scalar_values import width_of


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


def replace_uses_in(
    rewriter: PatternRewriter, value: SSAValue, new: SSAValue, region: Region
) -> None:
    """Replace `value` by `new` in `region`."""
    rewriter.replace_uses_with_if(value, new, lambda use: region.is_ancestor(use.operation))
    rewriter.has_done_action = True


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
