"""Canonicalization patterns of selections, conditions and loops.

Source: `CudaTile.cpp` of NVIDIA/cuda-tile; ifs are not merged, and not moved.
"""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import TypeIs
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...passmanager.releases.floats import Float4E2M1FNType
from .constraints import element_width
from .control_ops import ForOp, IfOp, YieldOp
from .elementwise_ops import SelectOp, XOrIOp
from .folding import elements_of, negated, truth_of
from .shape_ops import BroadcastOp, ReshapeOp
from .types import TileType


class SimplifySelections(RewritePattern):
    """Replace the negation of a condition, and selections within by the same condition."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SelectOp, rewriter: PatternRewriter, /) -> None:
        condition, then, otherwise = op.cond, op.val_if_true, op.val_if_false
        if (opposite := negated(condition)) is not None:
            condition, then, otherwise = opposite, otherwise, then
        if isinstance(then.owner, SelectOp) and then.owner.cond is condition:
            then = then.owner.val_if_true
        if isinstance(otherwise.owner, SelectOp) and otherwise.owner.cond is condition:
            otherwise = otherwise.owner.val_if_false
        if (new := (condition, then, otherwise)) != (*op.operands,):
            rewriter.replace(op, SelectOp(*new))
        elif is_bool(then) and truth_of(then) is False and truth_of(otherwise):
            rewriter.replace(op, XOrIOp(condition, otherwise))


def is_bool(value: SSAValue) -> bool:
    """Return whether a value has the type of conditions."""
    return isinstance(value.type, TileType) and value.type.element_type == i1


class InlineKnownIf(RewritePattern):
    """Replace an `if` whose condition is known by the operations of one region."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter, /) -> None:
        if (truth := truth_of(op.condition)) is None:
            return
        region = op.thenRegion if truth else op.elseRegion
        if region.blocks:
            inline(op, region.block, rewriter)
        else:
            rewriter.erase(op)


def inline(op: IfOp, block: Block, rewriter: PatternRewriter) -> None:
    """Replace an `if` by the operations of one of its blocks."""
    end = block.last_op
    assert end is not None and op.parent is not None
    if not isinstance(end, YieldOp):  # it ends the block around it, too
        while (last := op.parent.last_op) is not op and last is not None:
            rewriter.erase(last)
    rewriter.inline_block(block, InsertPoint.before(op))
    if isinstance(end, YieldOp):
        rewriter.replace(op, (), end.operands)
        rewriter.erase(end)
    else:
        rewriter.erase(op)


class SelectResults(RewritePattern):
    """Replace the results of an `if` that come from outside of it: by the value, if it is the same
    wherever the `if` yields, or by a `select`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter, /) -> None:
        yields = yields_of(op)
        for index, result in enumerate(op.outputs):
            values = [end.operands[index] for end in yields]
            if result.first_use is None or any(op.is_ancestor(value.owner) for value in values):
                continue
            if len({*values}) == 1:
                rewriter.replace_all_uses_with(result, values[0])
            elif len(values) == 2 and is_selectable(type := result.type):
                condition = spread(op.condition, type, rewriter)
                selected = rewriter.insert(SelectOp(condition, *values)).result
                rewriter.replace_all_uses_with(result, selected)


def is_selectable(type: Attribute) -> TypeIs[TileType]:
    """Return whether `select` has results of a type."""
    return isinstance(type, TileType) and not isinstance(type.element_type, Float4E2M1FNType)


def yields_of(op: IfOp) -> list[YieldOp]:
    """Return the ends of the regions of an `if` that yield."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [end for block in blocks if isinstance(end := block.last_op, YieldOp)]


def spread(condition: SSAValue, type: TileType, rewriter: PatternRewriter) -> SSAValue:
    """Return a scalar as a tile of the shape of a type."""
    scalar = condition.type
    if not (shape := type.get_shape()) or not isinstance(scalar, TileType):
        return condition
    ones = ReshapeOp(condition, types=[scalar.with_shape([1] * len(shape))])
    rewriter.insert(ones)
    return rewriter.insert(BroadcastOp(ones, types=[scalar.with_shape(shape)])).result


class SimplifyIf(RewritePattern):
    """Remove the unused results and the empty `else` of an `if`; replace a negated condition."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter, /) -> None:
        used = [index for index, result in enumerate(op.outputs) if result.first_use is not None]
        condition = negated(op.condition) if op.elseRegion.blocks else None
        is_empty = not used and bool(op.elseRegion.blocks) and is_idle(op.elseRegion.block)
        if len(used) == len(op.outputs) and condition is None and not is_empty:
            return
        for end in yields_of(op):
            end.operands = [end.operands[index] for index in used]
        regions = [rewriter.move_region_contents_to_new_regions(region) for region in op.regions]
        if is_empty:
            regions[1] = Region()
        elif condition is not None:
            regions.reverse()
        types = [op.outputs[index].type for index in used]
        new = IfOp(condition or op.condition, types=[types], regions=regions)
        results = iter(new.results)
        rewriter.replace(op, new, [next(results) if r.first_use else None for r in op.outputs])


def is_idle(block: Block) -> bool:
    """Return whether a block does nothing but yield."""
    return isinstance(block.first_op, YieldOp)


class RemoveIdleLoop(RewritePattern):
    """Replace a `for` without iterations by its initial values."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter, /) -> None:
        if op.lowerBound is op.upperBound:
            return rewriter.replace(op, (), op.initValues)
        bounds = [elements_of(bound) for bound in (op.lowerBound, op.upperBound)]
        if None in bounds:
            return
        mask = (1 << element_width(op.lowerBound.type)) - 1 if op.unsignedCmp else -1
        low, high = (bound[0] & mask for bound in bounds if bound)
        if low >= high:
            rewriter.replace(op, (), op.initValues)


PATTERNS: Mapping[type[Operation], tuple[RewritePattern, ...]] = {
    ForOp: (RemoveIdleLoop(),),
    IfOp: (InlineKnownIf(), SimplifyIf(), SelectResults()),
    SelectOp: (SimplifySelections(),),
}
"""The patterns of the operations that have the trait `HasPatterns`."""
