"""Rewrite patterns of the loops of `scf`, and of `scf.execute_region`, for `canonicalize`."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import BlockInsertPoint, InsertPoint
from xdsl.traits import ConstantLike

from ....passmanager.ir.walk import walk
from .region_helpers import inline, is_empty, replace_used, signed_constant, yielded
from .scalar_folds import overflow_flags


def loop_patterns() -> list[RewritePattern]:
    """Return the patterns, for one run of the driver."""
    return [
        SimplifyLoop(),
        ReplaceLoopArguments(),
        ReplaceWhileArguments(),
        MoveBranchDown(),
        InlineBlocks(),
        DropSingleIterations(),
        MergeParallelLoops(),
    ]


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
        step, length = signed_constant(op.step), distance(op.lb, op.ub)
        if _is_unsigned(op):
            return
        if length is not None and step is not None and 0 < length <= step:
            inline(rewriter, op, op.body.block, (op.lb, *op.iter_args))


def _is_unsigned(op: scf.ForOp) -> bool:
    """Return whether a loop compares its variable as an unsigned number with a negative bound."""
    if "unsignedCmp" not in op.properties and "unsignedCmp" not in op.attributes:
        return False
    bounds = (signed_constant(op.lb), signed_constant(op.ub), signed_constant(op.step))
    return any(bound is None or bound < 0 for bound in bounds)


def distance(low: SSAValue, high: SSAValue) -> int | None:
    """Return `high - low` if that is known: of constants, or of `low` and `low + constant`."""
    a, b = signed_constant(low), signed_constant(high)
    if a is not None and b is not None:
        return b - a
    total = high.owner
    # Where the sum may wrap, the loop may have no iterations.
    if isinstance(total, arith.AddiOp) and total.lhs is low and "nsw" in overflow_flags(total):
        return signed_constant(total.rhs)
    return None


class SimplifyLoop(RewritePattern):
    """Replace an `scf.for` that has no iterations by its initial values, and one with an empty body
    that has some by the values from outside that it yields."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        if op.lb is op.ub:
            rewriter.replace(op, (), op.iter_args)
            return
        low, high = signed_constant(op.lb), signed_constant(op.ub)
        if low is None or high is None or _is_unsigned(op):
            return
        if low >= high:
            rewriter.replace(op, (), op.iter_args)
        elif is_empty(op.body):
            values = yielded(op.body)
            if not any(op.is_ancestor(value.owner) for value in values):
                rewriter.replace(op, (), values)


class ReplaceLoopArguments(RewritePattern):
    """Replace the values that an `scf.for` carries that do not change, or are equal to an earlier
    carried one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter, /) -> None:
        arguments, new_values = op.body.block.args[1:], yielded(op.body)
        first: dict[tuple[SSAValue, SSAValue], int] = {}
        for index, (start, new) in enumerate(zip(op.iter_args, new_values, strict=True)):
            # Each iteration yields what it got, or the initial value: that is the value throughout.
            if new is arguments[index] or new is start:
                replace_used(rewriter, op.results[index], start)
                replace_used(rewriter, arguments[index], start)
            # Equal at the start and after each iteration, and therefore always.
            elif (equal := first.setdefault((start, new), index)) != index:
                replace_used(rewriter, op.results[index], op.results[equal])
                replace_used(rewriter, arguments[index], arguments[equal])


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
                replace_used(rewriter, result, value)
                replace_used(rewriter, argument, value)
            elif (equal := first.setdefault(value, index)) != index:
                replace_used(rewriter, result, op.results[equal])
                replace_used(rewriter, argument, after.args[equal])

    def replace_invariant(
        self, op: scf.WhileOp, before: Block, after: Block, rewriter: PatternRewriter
    ) -> None:
        """Replace each argument of `before` that is the initial value in all iterations by it."""
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        for start, argument, value in zip(
            op.arguments, before.args, yielded(op.after_region), strict=True
        ):
            is_invariant = value is start
            # `after` yields what `before` passed to it, and that was the argument of `before`.
            if value in after.args:
                is_invariant = end.args[after.args.index(value)] is argument  # pyright: ignore[reportArgumentType]
            if is_invariant:
                replace_used(rewriter, argument, start)

    def replace_by_truth(
        self, result: SSAValue, argument: SSAValue, rewriter: PatternRewriter
    ) -> None:
        """Replace the condition where `scf.condition` passes it: by true in the body (`argument`),
        by false after the loop (`result`)."""
        for value, truth in ((argument, True), (result, False)):
            if value.first_use is not None:
                constant = rewriter.insert(arith.ConstantOp(BoolAttr.from_bool(truth)))
                rewriter.replace_all_uses_with(value, constant.result)


class InlineExecuteRegion(RewritePattern):
    """Replace an `scf.execute_region` of one block by the operations in it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ExecuteRegionOp, rewriter: PatternRewriter, /) -> None:
        entry = op.region.first_block
        assert entry is not None
        if "no_inline" in op.properties:
            return
        if entry is op.region.last_block and isinstance(entry.last_op, scf.YieldOp):
            inline(rewriter, op, entry)


class InlineBlocks(RewritePattern):
    """Replace an `scf.execute_region` of several blocks in a function by the blocks."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ExecuteRegionOp, rewriter: PatternRewriter, /) -> None:
        entry, block = op.region.first_block, op.parent
        if entry is None or entry is op.region.last_block or block is None:
            return
        if not isinstance(block.parent_op(), func.FuncOp) or "no_inline" in op.properties:
            return
        following = op.next_op
        assert following is not None
        types = [result.type for result in op.results]
        after = block.split_before(following, arg_types=types)
        blocks = list(op.region.blocks)
        for inner in blocks:
            end = inner.last_op
            if isinstance(end, scf.YieldOp):
                rewriter.replace(end, cf.BranchOp(after, *end.operands))
        rewriter.inline_region(op.region, BlockInsertPoint.before(after))
        rewriter.insert(cf.BranchOp(entry), InsertPoint.at_end(block))
        rewriter.replace(op, (), after.args)


class MoveBranchDown(RewritePattern):
    """Move the first branch of an `scf.if` on the condition of an `scf.while`, directly before
    `scf.condition`, to the start of the body: there the condition is true."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.WhileOp, rewriter: PatternRewriter, /) -> None:
        before, after = op.before_region.block, op.after_region.block
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        branch = end.prev_op
        if not isinstance(branch, scf.IfOp) or branch.cond is not end.condition:
            return
        if branch.false_region.blocks and not is_empty(branch.false_region):
            return
        if is_empty(branch.true_region):
            return
        # What is used of this region has to be passed to the other one.
        used = [
            value
            for inner in walk(branch)
            if inner is not branch
            for value in inner.operands
            if _region_of(value) is op.before_region
        ]
        passed = [*end.args]
        results = [value.owner is branch for value in passed]
        taken = yielded(branch.true_region)
        used += [value for value in taken if _region_of(value) is op.before_region]
        extra = [value for value in dict.fromkeys(used) if value not in passed]
        args = [after.insert_arg(value.type, len(after.args)) for value in extra]
        renamed = dict(zip(extra, args, strict=True))
        for value, arg, is_result in zip(passed, after.args, results, strict=False):
            if not is_result:
                renamed.setdefault(value, arg)
        first = after.first_op
        assert first is not None
        for value, argument in renamed.items():
            value.replace_uses_with_if(
                argument, lambda use: branch.true_region.is_ancestor(use.operation)
            )
        taken = yielded(branch.true_region)
        for index, is_result in enumerate(results):
            if is_result:
                position = branch.results.index(cast(Any, passed[index]))
                after.args[index].replace_all_uses_with(taken[position])
                passed[index] = yielded(branch.false_region)[position]
        for inner in list(branch.true_region.block.ops):
            if not isinstance(inner, scf.YieldOp):
                inner.detach()
                after.insert_ops_before([inner], first)
        new_end = scf.ConditionOp(end.condition, *passed, *extra)
        rewriter.replace(end, new_end)
        rewriter.erase(branch)
        types = [value.type for value in (*passed, *extra)]
        regions = [op.detach_region(region) for region in list(op.regions)]
        new = scf.WhileOp(op.arguments, types, *regions)
        new.attributes |= op.attributes
        rewriter.insert(new)
        rewriter.replace(op, (), new.results[: len(op.results)])


def _region_of(value: SSAValue) -> Region | None:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    return None if block is None else block.parent


# Parallel loops


class DropSingleIterations(RewritePattern):
    """Drop the dimensions of an `scf.parallel` with one iteration, and a loop without any."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ParallelOp, rewriter: PatternRewriter, /) -> None:
        bounds = list(zip(op.lowerBound, op.upperBound, op.step, strict=True))
        kept: list[int] = []
        for index, (low, high, step) in enumerate(bounds):
            length, by = distance(low, high), signed_constant(step)
            if length is not None and length <= 0:
                rewriter.replace(op, (), op.initVals)
                return
            if length is None or by is None or length > by:
                kept.append(index)
        if len(kept) == len(bounds):
            return
        body = op.body.block
        if not kept:
            self.inline(op, rewriter)
            return
        for index in reversed(range(len(bounds))):
            if index not in kept:
                rewriter.replace_all_uses_with(body.args[index], bounds[index][0])
                body.erase_arg(body.args[index])
        lows, highs, steps = zip(*(bounds[index] for index in kept), strict=True)
        region = op.detach_region(op.body)
        new = scf.ParallelOp(lows, highs, steps, region, op.initVals)
        new.attributes |= op.attributes
        rewriter.replace(op, new)

    def inline(self, op: scf.ParallelOp, rewriter: PatternRewriter) -> None:
        """Replace a loop of one iteration by its body; each reduction is computed once."""
        body = op.body.block
        end = body.last_op
        assert isinstance(end, scf.ReduceOp)
        results: list[SSAValue] = []
        rewriter.inline_block(body, InsertPoint.before(op), op.lowerBound)
        for region, start, value in zip(end.reductions, op.initVals, end.args, strict=True):
            block = region.block
            last = block.last_op
            assert isinstance(last, scf.ReduceReturnOp)
            rewriter.inline_block(block, InsertPoint.before(op), (start, value))
            results.append(last.result)
            rewriter.erase(last)
        rewriter.erase(end)
        rewriter.replace(op, (), results)


class MergeParallelLoops(RewritePattern):
    """Replace two nested parallel loops without reductions, with nothing between them, by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ParallelOp, rewriter: PatternRewriter, /) -> None:
        body = op.body.block
        inner = body.first_op
        if not isinstance(inner, scf.ParallelOp) or inner.next_op is not body.last_op:
            return
        bounds = (*inner.lowerBound, *inner.upperBound, *inner.step)
        if op.initVals or inner.initVals or any(value.owner is body for value in bounds):
            return
        args = [body.insert_arg(arg.type, len(body.args)) for arg in inner.body.block.args]
        end = body.last_op
        assert end is not None
        last = inner.body.block.last_op
        assert last is not None
        rewriter.erase(last)
        rewriter.inline_block(inner.body.block, InsertPoint.before(end), args)
        lows = (*op.lowerBound, *inner.lowerBound)
        highs = (*op.upperBound, *inner.upperBound)
        steps = (*op.step, *inner.step)
        rewriter.erase(inner)
        new = scf.ParallelOp(lows, highs, steps, op.detach_region(op.body))
        new.attributes |= op.attributes
        rewriter.replace(op, new)
