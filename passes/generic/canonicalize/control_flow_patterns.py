"""Rewrite patterns of `scf`, for `canonicalize`: those of MLIR that xDSL lacks.

They leave results and carried values without uses to `remove_dead_results`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ....passmanager.ir.walk import walk
from .block_patterns import DropUnreachableTarget
from .constants import constant_integer, signed_integer
from .loop_patterns import loop_patterns
from .region_helpers import inline, is_empty, replace_by_constant, replace_used, uses_among, yielded

SELECTED = (IntegerType, IndexType, AnyFloat, VectorType, MemRefType)
"""The types of the values for which `SelectYieldedValues` builds an `arith.select`."""


def control_flow_patterns() -> list[RewritePattern]:
    """Return the patterns, for one run of the driver."""
    return [
        CombineBranches(),  # first: an `arith.select` between two branches would keep them apart
        PropagateCondition(),
        SelectYieldedValues(),
        MergeEqualResults(),
        DropEmptyElse(),
        InvertBranch(),
        CombineNestedBranches(),
        TakeKnownCase(),
        DropUnreachableTarget(),
        *loop_patterns(),
    ]


# Branches


class PropagateCondition(RewritePattern):
    """Replace the condition of an `scf.if` by true in its first branch, and by false in the
    second."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if isinstance(op.cond.owner, arith.ConstantOp):
            return
        for region, truth in ((op.true_region, True), (op.false_region, False)):
            inner = (op for block in region.blocks for first in block.ops for op in walk(first))
            places = uses_among(op.cond, inner, region.is_ancestor)
            replace_by_constant(rewriter, op.cond, places, truth)


class SelectYieldedValues(RewritePattern):
    """Replace each result of an `scf.if` whose two yielded values are from outside by an
    `arith.select`, or by the value if both are the same.

    Tensors, and whatever is no number, vector or buffer, stay results of the `scf.if`: there is no
    kernel that selects a tensor, and a branch copies nothing.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if not op.results or not op.false_region.blocks:
            return
        pairs = zip(*map(yielded, op.regions), strict=True)
        for result, pair in zip(op.results, pairs, strict=True):
            # Both values dominate the branch, so a selection before it may use them.
            if result.first_use is None or any(op.is_ancestor(value.owner) for value in pair):
                continue
            new, (taken, other) = pair[0], pair
            if taken is not other:
                if not isinstance(taken.type, SELECTED):
                    continue
                new = rewriter.insert(arith.SelectOp(op.cond, taken, other)).result
            rewriter.replace_all_uses_with(result, new)


class MergeEqualResults(RewritePattern):
    """Replace a result of an `scf.if` by an earlier one for which both branches yield the same
    values."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if not op.results or not op.false_region.blocks:
            return
        first: dict[tuple[SSAValue, ...], SSAValue] = {}
        pairs = zip(*map(yielded, op.regions), strict=True)
        for result, pair in zip(op.results, pairs, strict=True):
            # The same SSA values; equal expressions are for `cse`.
            if (equal := first.setdefault(pair, result)) is not result:
                replace_used(rewriter, result, equal)


class DropEmptyElse(RewritePattern):
    """Remove an empty second branch of an `scf.if` without results."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if op.results or not op.false_region.blocks or not is_empty(op.false_region):
            return
        new = scf.IfOp(op.cond, (), op.detach_region(op.true_region), attr_dict=op.attributes)
        rewriter.replace(op, new)


class InvertBranch(RewritePattern):
    """Replace an `scf.if` on a negated condition by one on the condition itself with exchanged
    branches, if it has two; also one whose first branch is empty."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if not op.false_region.blocks or (condition := negated(op.cond)) is None:
            return
        first, second = [op.detach_region(region) for region in list(op.regions)]
        regions = [second] if not op.results and is_empty(first) else [second, first]
        types = [result.type for result in op.results]
        rewriter.replace(op, scf.IfOp(condition, types, *regions, attr_dict=op.attributes))


def negated(value: SSAValue) -> SSAValue | None:
    """Return the condition whose negation `value` is, or None."""
    op = value.owner
    return op.lhs if isinstance(op, arith.XOrIOp) and constant_integer(op.rhs) == 1 else None


class CombineNestedBranches(RewritePattern):
    """Replace an `scf.if` that only contains another one by one on both conditions, if neither
    does anything in its second branch; a result is one of the inner `scf.if`, if both yield the
    same where their condition is false, or a value from outside, which an `arith.select` takes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        inner = op.true_region.block.first_op
        if not isinstance(inner, scf.IfOp) or inner.next_op is not op.true_region.block.last_op:
            return
        if any(b.false_region.blocks and not is_empty(b.false_region) for b in (op, inner)):
            return
        taken = list(yielded(op.true_region))
        other = yielded(op.false_region) if op.results else ()
        selected: list[int] = []
        for index, value in enumerate(taken):
            if value.owner is inner:
                position = inner.results.index(value)
                if yielded(inner.false_region)[position] is not other[index]:
                    return
                taken[index] = yielded(inner.true_region)[position]
            elif isinstance(value.type, SELECTED):
                selected.append(index)
            else:
                return
        # The inner condition is computed outside: only the inner `scf.if` is in the block.
        rewriter.insert(both := arith.AndIOp(op.cond, inner.cond))
        choices = {
            i: rewriter.insert(arith.SelectOp(op.cond, taken[i], other[i])).result for i in selected
        }
        end = inner.true_region.block.last_op
        assert end is not None
        region = inner.detach_region(inner.true_region)
        rewriter.erase(end)
        region.block.add_op(scf.YieldOp(*taken))
        regions = [region]
        if op.results:
            regions.append(op.detach_region(op.false_region))
        types = [result.type for result in op.results]
        new = scf.IfOp(both, types, *regions, attr_dict=op.attributes)
        rewriter.insert(new)
        results = [choices.get(index, result) for index, result in enumerate(new.results)]
        rewriter.replace(op, (), results)


class TakeKnownCase(RewritePattern):
    """Replace an `scf.index_switch` on a constant by the case that is taken."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IndexSwitchOp, rewriter: PatternRewriter, /) -> None:
        if (number := signed_integer(op.arg)) is None:
            return
        cases = [int(case) for case in op.cases.get_values()]
        region = op.case_regions[cases.index(number)] if number in cases else op.default_region
        inline(rewriter, op, region.block)


class CombineBranches(RewritePattern):
    """Merge adjacent `scf.if` that have the same condition, or one that is negated."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        # All at once: with two at a time, the operations of the first would move again each time.
        if len(ops := _adjacent(op)) < 2:
            return
        first, blocks = ops[0], [Block(), Block()]
        yielded: list[list[SSAValue]] = [[], []]
        has_else = False
        for member in ops:
            regions = [*member.regions]
            if _sense(member)[1] is not _sense(first)[1]:
                regions.reverse()
            has_else |= bool(member.results or regions[1].blocks)
            for region, block, values in zip(regions, blocks, yielded, strict=True):
                values += _moved(region, block, rewriter)
        results = [result for member in ops for result in member.results]
        for block, values in zip(blocks, yielded, strict=True):
            _use_yielded(rewriter, results, values, block)
        types = [result.type for result in results]
        regions = [Region(block) for block in (blocks if has_else else blocks[:1])]
        new = scf.IfOp(first.cond, types, *regions, attr_dict=first.attributes)
        rewriter.insert(new, InsertPoint.before(first))
        replacements = iter(new.results)
        for member in ops:
            rewriter.replace(member, (), [*islice(replacements, len(member.results))])


def _sense(op: scf.IfOp) -> tuple[SSAValue, bool]:
    """Return the condition of an `scf.if` without a negation, and whether it has none."""
    return (op.cond, True) if (operand := negated(op.cond)) is None else (operand, False)


def _adjacent(op: scf.IfOp) -> Sequence[scf.IfOp]:
    """Return the `scf.if` around `op` that have its condition, without operations in between: these
    would move past the effects of one of them."""
    found = deque([op])
    condition = _sense(op)[0]
    while isinstance(last := found[0].prev_op, scf.IfOp) and _sense(last)[0] is condition:
        found.appendleft(last)
    while isinstance(next := found[-1].next_op, scf.IfOp) and _sense(next)[0] is condition:
        found.append(next)
    return found


def _moved(region: Region, block: Block, rewriter: PatternRewriter) -> Sequence[SSAValue]:
    """Move the operations of a branch to the end of a block; return what the branch yields."""
    if not region.blocks:
        return ()
    end = region.block.last_op
    assert isinstance(end, scf.YieldOp)
    values = tuple(end.operands)
    rewriter.erase(end)
    for op in list(region.block.ops):
        op.detach()
        block.add_op(op)
    return values


def _use_yielded(
    rewriter: PatternRewriter,
    results: Sequence[SSAValue],
    values: Sequence[SSAValue],
    block: Block,
) -> None:
    """Replace the results of branches by the values that a block yields for them, in this block,
    and end it with all these values."""
    known: dict[SSAValue, SSAValue] = {}
    for result, value in zip(results, values, strict=True):
        known[result] = value = known.get(value, value)
        for use in [*result.uses]:
            if block.is_ancestor(use.operation):
                use.operation.operands[use.index] = value
                rewriter.handle_operation_modification(use.operation)
    block.add_op(scf.YieldOp(*known.values()))
