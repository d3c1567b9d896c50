"""Rewrite patterns of `scf`, for `canonicalize`: those of MLIR that xDSL lacks.

They leave results and carried values without uses to `remove_dead_results`.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, BoolAttr, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .block_patterns import DropUnreachableTarget
from .constants import constant_integer, signed_integer
from .loop_patterns import loop_patterns
from .region_helpers import inline, is_empty, replace_used, replace_uses_in, yielded

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
            # Without uses there is no constant: else the pattern would fire forever.
            inner = [use for use in op.cond.uses if region.is_ancestor(use.operation)]
            if inner:
                constant = rewriter.insert(arith.ConstantOp(BoolAttr.from_bool(truth)))
                replace_uses_in(rewriter, op.cond, constant.result, region)


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
    """Merge an `scf.if` into the one directly before it that has the same condition."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        first = op.prev_op
        if not isinstance(first, scf.IfOp):
            return
        # Only adjacent ones: operations between them would move past the effects of one of them.
        if first.cond is op.cond:
            regions = list(op.regions)
        elif negated(op.cond) is first.cond or negated(first.cond) is op.cond:
            regions = list(reversed(op.regions))
        else:
            return
        blocks = [_joined(*pair, rewriter, first) for pair in zip(first.regions, regions)]
        types = [result.type for result in (*first.results, *op.results)]
        has_else = bool(types) or any(region.blocks for region in (first.regions[1], regions[1]))
        merged = [Region(block) for block in (blocks if has_else else blocks[:1])]
        new = scf.IfOp(first.cond, types, *merged, attr_dict=first.attributes)
        rewriter.insert(new)
        count = len(first.results)
        rewriter.replace(op, (), new.results[count:])
        rewriter.replace(first, (), new.results[:count])


def _joined(a: Region, b: Region, rewriter: PatternRewriter, first: scf.IfOp) -> Block:
    """Move the operations of the branches `a` and `b` into one block, which yields the values of
    both. In `b`, the results of `first`, to which `a` belongs, become the values that `a` yields.
    """
    block = Block()
    yielded: list[SSAValue] = []
    for region in (a, b):
        if not region.blocks:
            continue
        end = region.block.last_op
        assert isinstance(end, scf.YieldOp)
        if region is b and a.blocks:
            for result, value in zip(first.results, yielded, strict=True):
                replace_uses_in(rewriter, result, value, b)
        yielded += end.operands
        rewriter.erase(end)
        for op in list(region.block.ops):
            op.detach()
            block.add_op(op)
    block.add_op(scf.YieldOp(*yielded))
    return block
