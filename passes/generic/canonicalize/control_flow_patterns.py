"""Rewrite patterns of `scf`, for `canonicalize`: those of MLIR that xDSL lacks.

They leave results and carried values without uses to `remove_dead_results`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import AnyFloat, BoolAttr, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import ConstantLike

from .constants import constant_integer
from .scalar_values import width_of

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
        SimplifyLoop(),
        ReplaceLoopArguments(),
        ReplaceWhileArguments(),
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
                _replace_uses(rewriter, op.cond, constant.result, region)


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
        pairs = zip(*map(_yielded, op.regions), strict=True)
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
        pairs = zip(*map(_yielded, op.regions), strict=True)
        for result, pair in zip(op.results, pairs, strict=True):
            # The same SSA values; equal expressions are for `cse`.
            if (equal := first.setdefault(pair, result)) is not result:
                _replace(rewriter, result, equal)


class DropEmptyElse(RewritePattern):
    """Remove an empty second branch of an `scf.if` without results."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if op.results or not op.false_region.blocks or not _is_empty(op.false_region):
            return
        new = scf.IfOp(op.cond, (), op.detach_region(op.true_region), attr_dict=op.attributes)
        rewriter.replace(op, new)


class InvertBranch(RewritePattern):
    """Replace an `scf.if` on a negated condition whose first branch is empty by one on the
    condition itself with the second branch only."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        if op.results or not op.false_region.blocks or not _is_empty(op.true_region):
            return
        if (condition := _negated(op.cond)) is not None:
            region = op.detach_region(op.false_region)
            rewriter.replace(op, scf.IfOp(condition, (), region, attr_dict=op.attributes))


def _negated(value: SSAValue) -> SSAValue | None:
    """Return the condition whose negation `value` is, or None."""
    op = value.owner
    return op.lhs if isinstance(op, arith.XOrIOp) and constant_integer(op.rhs) == 1 else None


class CombineNestedBranches(RewritePattern):
    """Replace an `scf.if` that only contains another one, both without results and second
    branches, by one on both conditions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter, /) -> None:
        inner = op.true_region.block.first_op
        if not isinstance(inner, scf.IfOp) or inner.next_op is not op.true_region.block.last_op:
            return
        if any(branch.results or branch.false_region.blocks for branch in (op, inner)):
            return
        # The inner condition is computed outside: only the inner `scf.if` is in the block.
        both = arith.AndIOp(op.cond, inner.cond)
        region = inner.detach_region(inner.true_region)
        rewriter.replace(op, [both, scf.IfOp(both, (), region, attr_dict=op.attributes)])


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
        elif _negated(op.cond) is first.cond:
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
                _replace_uses(rewriter, result, value, b)
        yielded += end.operands
        rewriter.erase(end)
        for op in list(region.block.ops):
            op.detach()
            block.add_op(op)
    block.add_op(scf.YieldOp(*yielded))
    return block


class InlineExecuteRegion(RewritePattern):
    """Replace an `scf.execute_region` of one block by the operations in it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ExecuteRegionOp, rewriter: PatternRewriter, /) -> None:
        entry = op.region.first_block
        assert entry is not None
        if entry is op.region.last_block and isinstance(entry.last_op, scf.YieldOp):
            _inline(rewriter, op, entry)


# Loops


class HoistLoopConstants(RewritePattern):
    """Move the constants directly in the body of an `scf.for` before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        for inner in op.body.block.ops:
            if inner.operands or not inner.has_trait(ConstantLike, value_if_unregistered=False):
                continue
            rewriter.insert(constant := inner.clone())
            rewriter.replace(inner, (), constant.results)


class InlineSingleIteration(RewritePattern):
    """Replace an `scf.for` with one iteration by the operations in it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        low, high, step = map(_signed_constant, (op.lb, op.ub, op.step))
        if low is not None and high is not None and step is not None and 0 < high - low <= step:
            _inline(rewriter, op, op.body.block, (op.lb, *op.iter_args))


def _inline(
    rewriter: PatternRewriter, op: Operation, block: Block, values: Sequence[SSAValue] = ()
) -> None:
    """Replace `op` by the operations in `block`, with `values` for its arguments; the results are
    what its `scf.yield` returns."""
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    rewriter.inline_block(block, InsertPoint.before(op), values)
    rewriter.replace(op, (), end.operands)
    rewriter.erase(end)


class SimplifyLoop(RewritePattern):
    """Replace an `scf.for` that has no iterations by its initial values, and one with an empty body
    that has some by the values from outside that it yields."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        if op.lb is op.ub:
            rewriter.replace(op, (), op.iter_args)
            return
        low, high = _signed_constant(op.lb), _signed_constant(op.ub)
        if low is None or high is None:
            return
        if low >= high:
            rewriter.replace(op, (), op.iter_args)
        elif _is_empty(op.body):
            values = _yielded(op.body)
            if not any(op.is_ancestor(value.owner) for value in values):
                rewriter.replace(op, (), values)


class ReplaceLoopArguments(RewritePattern):
    """Replace the values that an `scf.for` carries that do not change, or are equal to an earlier
    carried one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        arguments, yielded = op.body.block.args[1:], _yielded(op.body)
        first: dict[tuple[SSAValue, SSAValue], int] = {}
        for index, (start, new) in enumerate(zip(op.iter_args, yielded, strict=True)):
            # Each iteration yields what it got, or the initial value: that is the value throughout.
            if new is arguments[index] or new is start:
                _replace(rewriter, op.results[index], start)
                _replace(rewriter, arguments[index], start)
            # Equal at the start and after each iteration, and therefore always.
            elif (equal := first.setdefault((start, new), index)) != index:
                _replace(rewriter, op.results[index], op.results[equal])
                _replace(rewriter, arguments[index], arguments[equal])


class ReplaceWhileArguments(RewritePattern):
    """Replace the values that an `scf.while` carries that do not change, and those that its
    `scf.condition` passes if they are from outside, the condition itself, or equal to an earlier
    one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.WhileOp, rewriter: PatternRewriter, /) -> None:
        before, after = op.before_region.block, op.after_region.block
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        self.replace_invariant(op, before, after, rewriter)
        first: dict[SSAValue, int] = {}
        for index, value in enumerate(end.args):
            result, argument = op.results[index], after.args[index]
            if value is end.condition:  # true in the loop, and false after it
                self.replace_by_truth(result, argument, rewriter)
            elif not op.is_ancestor(value.owner):
                _replace(rewriter, result, value)
                _replace(rewriter, argument, value)
            elif (equal := first.setdefault(value, index)) != index:
                _replace(rewriter, result, op.results[equal])
                _replace(rewriter, argument, after.args[equal])

    def replace_invariant(
        self, op: scf.WhileOp, before: Block, after: Block, rewriter: PatternRewriter
    ) -> None:
        """Replace each argument of `before` that is the initial value in all iterations by it."""
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        for start, argument, value in zip(
            op.arguments, before.args, _yielded(op.after_region), strict=True
        ):
            is_invariant = value is start
            # `after` yields what `before` passed to it, and that was the argument of `before`.
            if value in after.args:
                is_invariant = end.args[after.args.index(value)] is argument  # pyright: ignore[reportArgumentType]
            if is_invariant:
                _replace(rewriter, argument, start)

    def replace_by_truth(
        self, result: SSAValue, argument: SSAValue, rewriter: PatternRewriter
    ) -> None:
        """Replace the condition where `scf.condition` passes it: by true in the body (`argument`),
        by false after the loop (`result`)."""
        for value, truth in ((argument, True), (result, False)):
            if value.first_use is not None:
                constant = rewriter.insert(arith.ConstantOp(BoolAttr.from_bool(truth)))
                rewriter.replace_all_uses_with(value, constant.result)


# Shared helpers


def _yielded(region: Region) -> Sequence[SSAValue]:
    end = region.block.last_op
    assert end is not None
    return tuple(end.operands)


def _is_empty(region: Region) -> bool:
    """Return whether a region has nothing but a terminator."""
    return region.block.first_op is region.block.last_op


def _signed_constant(value: SSAValue) -> int | None:
    """Return the number of an `arith.constant` of integers, signed; None for any other value."""
    owner = value.owner
    if (number := constant_integer(value)) is None or not isinstance(owner, arith.ConstantOp):
        return None
    width = width_of(value.type)
    return number - (1 << width) if number >> (width - 1) else number


def _replace_uses(
    rewriter: PatternRewriter, value: SSAValue, new: SSAValue, region: Region
) -> None:
    """Replace `value` by `new` in `region`."""
    rewriter.replace_uses_with_if(value, new, lambda use: region.is_ancestor(use.operation))
    rewriter.has_done_action = True


def _replace(rewriter: PatternRewriter, value: SSAValue, new: SSAValue) -> None:
    """Replace `value` by `new` unless it has no uses: else a pattern would fire forever."""
    if value.first_use is not None:
        rewriter.replace_all_uses_with(value, new)


# Rewrite patterns of `cf`, for `canonicalize`: branches to blocks that only branch on.
#
# xDSL's go one block further at a time, and never end in a cycle of such blocks.


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
