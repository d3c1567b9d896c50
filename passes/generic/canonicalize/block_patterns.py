"""Rewrite patterns of `cf`, for `canonicalize`: branches to blocks that only branch on.

xDSL's go one block further at a time, and never end in a cycle of such blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TypeAlias

from xdsl.dialects import arith, cf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from .region_helpers import replace_by_constant, uses_among

Target: TypeAlias = tuple[Block, Sequence[SSAValue]]
"""A block, and the values of its arguments."""


class PassThroughBranch(RewritePattern):
    """Let a `cf.br` to a block that only branches on go to the end of the chain."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.BranchOp, rewriter: PatternRewriter, /) -> None:
        if (end := _end_of_chain((op.successor, op.arguments))) is not None:
            block, values = end
            rewriter.replace(op, cf.BranchOp(block, *values))


class PassThroughCondBranch(RewritePattern):
    """Let each side of a `cf.cond_br` to a block that only branches on go to the end of the
    chain."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.ConditionalBranchOp, rewriter: PatternRewriter, /) -> None:
        targets = [(op.then_block, op.then_arguments), (op.else_block, op.else_arguments)]
        if (ends := _ends_of_chains(targets)) is not None:
            (block, values), (other, other_values) = ends
            new = cf.ConditionalBranchOp(op.cond, block, values, other, other_values)
            rewriter.replace(op, new)


class PassThroughSwitch(RewritePattern):
    """Let each case of a `cf.switch` to a block that only branches on go to the end of the
    chain."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.SwitchOp, rewriter: PatternRewriter, /) -> None:
        cases = zip(op.case_blocks, op.case_operand, strict=True)
        ends = _ends_of_chains([(op.default_block, op.default_operands), *cases])
        if ends is not None:
            blocks, values = zip(*ends, strict=True)
            new = cf.SwitchOp(op.flag, blocks[0], values[0], op.case_values, blocks[1:], values[1:])
            rewriter.replace(op, new)


class MergeWithSuccessor(RewritePattern):
    """Move the operations of a block to the end of the only one that branches there, by `cf.br`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.BranchOp, rewriter: PatternRewriter, /) -> None:
        target, block = op.successor, op.parent
        if block is None or target is block or not _has_one_predecessor(target):
            return
        values = op.operands
        rewriter.erase(op)
        rewriter.inline_block(target, InsertPoint.at_end(block), values)


class PropagateConditionToBlocks(RewritePattern):
    """Replace the condition of a `cf.cond_br` by true in the block that is taken then, and by false
    in the other one, unless another branch leads there."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.ConditionalBranchOp, rewriter: PatternRewriter, /) -> None:
        if isinstance(op.cond.owner, arith.ConstantOp):
            return
        for block, truth in ((op.then_block, True), (op.else_block, False)):
            if _has_one_predecessor(block):
                places = uses_among(op.cond, block.ops, partial(_is_in, block))
                replace_by_constant(rewriter, op.cond, places, truth)


def _has_one_predecessor(block: Block) -> bool:
    """Return whether one branch leads to a block; xDSL's `predecessors` looks at all."""
    return len([*islice(block.uses, 2)]) == 1


def _is_in(block: Block, op: Operation) -> bool:
    return op.parent is block


def _ends_of_chains(targets: Sequence[Target]) -> list[Target] | None:
    """Return the ends of the chains at `targets`; None if each of these is the end of its own."""
    ends = [_end_of_chain(target) for target in targets]
    if not any(ends):
        return None
    return [target if end is None else end for target, end in zip(targets, ends, strict=True)]


def _end_of_chain(start: Target) -> Target | None:
    """Return where a branch to `start` arrives after the blocks that only branch on, with the
    arguments there; None if `start` is no such block, or if it is one of a cycle of them.

    A chain that leads into a cycle ends at the first block of the cycle: all branches from outside
    then stay as they are.
    """
    chain = [start]
    seen = {start[0]: 0}
    while (following := _following(*chain[-1])) is not None:
        if (first := seen.setdefault(following[0], len(chain))) < len(chain):
            return chain[first] if first else None
        chain.append(following)
    return chain[-1] if len(chain) > 1 else None


def _following(block: Block, values: Sequence[SSAValue]) -> Target | None:
    """Return where `block` branches to if it does nothing else, and its arguments, of which
    `values` are the values, are used nowhere else."""
    branch = block.first_op
    if not isinstance(branch, cf.BranchOp):
        return None
    if any(use.operation is not branch for arg in block.args for use in arg.uses):
        return None
    passed = [
        values[value.index] if isinstance(value, BlockArgument) and value.owner is block else value
        for value in branch.arguments
    ]
    return branch.successor, passed


class DropUnreachableTarget(RewritePattern):
    """Replace a `cf.cond_br` to a block that is never reached by a branch to the other one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.ConditionalBranchOp, rewriter: PatternRewriter, /) -> None:
        for dead, block, values in (
            (op.then_block, op.else_block, op.else_arguments),
            (op.else_block, op.then_block, op.then_arguments),
        ):
            first = dead.first_op
            if first is not None and first.name == "ub.unreachable":
                rewriter.replace(op, cf.BranchOp(block, *values))
                return
