"""Folds and patterns of `affine`, for `canonicalize`: maps of maps become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import eq, ge, le
from typing import Final, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr, IndexType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .affine_expressions import replaced, term_count
from .by_dialect import Fold, Folded
from .constants import truncated_integer
from .linearize_patterns import DELINEARIZATIONS, LINEARIZATIONS, fold_delinearize, fold_linearize
from .map_composition import MAX_TERMS, MapCall, composed
from .region_helpers import inline
from .slice_patterns import TakeUncast

# Folds


def _fold_apply(op: Operation) -> Folded | None:
    assert isinstance(op, affine.ApplyOp)
    return _value_of(op.map.data.results[0], op.map.data, op.mapOperands)


def _value_of(expr: AffineExpr, map: AffineMap, operands: Sequence[SSAValue]) -> Folded | None:
    """Return the value that a constant, dimension or symbol of a map is, or None."""
    match expr:
        case AffineConstantExpr():
            return truncated_integer(expr.value, IndexType())
        case AffineDimExpr():
            return operands[expr.position]
        case AffineSymExpr():
            return operands[map.num_dims + expr.position]
        case _:
            return None


def _fold_minimum(op: Operation) -> Folded | None:
    """Fold a minimum or maximum of constants, or of one value."""
    map = cast(AffineMapAttr, op.properties["map"]).data
    numbers = [expr.value for expr in map.results if isinstance(expr, AffineConstantExpr)]
    if len(numbers) == len(map.results) and numbers:
        best = min(numbers) if op.name == "affine.min" else max(numbers)
        return truncated_integer(best, IndexType())
    if len(map.results) == 1:
        return _value_of(map.results[0], map, op.operands)
    return None


FOLDS: Final[Mapping[str, Fold]] = {
    "affine.apply": _fold_apply,
    "affine.delinearize_index": fold_delinearize,
    "affine.linearize_index": fold_linearize,
    "affine.max": _fold_minimum,
    "affine.min": _fold_minimum,
}


# Patterns

_BEFORE: Final = {
    "affine.apply": 0,
    "affine.max": 0,
    "affine.min": 0,
    "affine.load": 1,
    "affine.store": 2,
    "affine.vector_load": 1,
    "affine.vector_store": 2,
}
"""The operations with one map, and the number of operands before those of the map."""


class ComposeMap(RewritePattern):
    """Put the maps and constants that define the operands of a map into it."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Compose the map of `op`, if it has one."""
        if (before := _BEFORE.get(op.name)) is None:
            return
        attribute = op.properties.get("map")
        if not isinstance(attribute, AffineMapAttr):
            return
        heads, operands = op.operands[:before], op.operands[before:]
        if (new := composed(MapCall(attribute.data, operands))) is not None:
            op.operands = [*heads, *new.operands]
            op.properties["map"] = AffineMapAttr(new.map)
            rewriter.handle_operation_modification(op)


def _map_of(op: Operation) -> AffineMap:
    return cast(AffineMapAttr, op.properties["map"]).data


class SimplifyExtreme(RewritePattern):
    """Drop the equal results of the map of a minimum or maximum, and all constants but the least or
    greatest; one of a single result is an `affine.apply`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        map = _map_of(op)
        numbers = [expr.value for expr in map.results if isinstance(expr, AffineConstantExpr)]
        best = (min if op.name == "affine.min" else max)(numbers, default=None)
        kept = dict.fromkeys(
            expr
            for expr in map.results
            if not isinstance(expr, AffineConstantExpr) or expr.value == best
        )
        if len(kept) == len(map.results) > 1:
            return
        new = AffineMapAttr(AffineMap(map.num_dims, map.num_symbols, tuple(kept)))
        if len(kept) == 1:
            rewriter.replace(op, affine.ApplyOp([*op.operands], new))
        else:
            op.properties["map"] = new
            rewriter.handle_operation_modification(op)


class MergeExtremes(RewritePattern):
    """Put the results of the map of a minimum into that of another one that takes it as it is, and
    those of a maximum into that of another one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        map, operands = _map_of(op), list(op.operands)
        for position, expr in enumerate(map.results):
            value = _value_of(expr, map, operands)
            inner = value.owner if isinstance(value, SSAValue) else None
            if not isinstance(inner, Operation) or inner.name != op.name:
                continue
            if term_count(map) > MAX_TERMS:
                return
            other = _map_of(inner)
            count, symbols = map.num_dims, map.num_symbols
            dims = [AffineExpr.dimension(count + i) for i in range(other.num_dims)]
            names = [AffineExpr.symbol(symbols + i) for i in range(other.num_symbols)]
            added = [replaced(e, dims, names) for e in other.results]
            results = [*map.results[:position], *map.results[position + 1 :], *added]
            inputs = list(inner.operands)
            op.operands = [
                *operands[:count],
                *inputs[: other.num_dims],
                *operands[count:],
                *inputs[other.num_dims :],
            ]
            op.properties["map"] = AffineMapAttr(
                AffineMap(count + other.num_dims, symbols + other.num_symbols, tuple(results))
            )
            rewriter.handle_operation_modification(op)
            return


class SimplifyParallelBounds(RewritePattern):
    """Put the maps and constants that define the operands of the bounds of an `affine.parallel`
    into them."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        names = ("lowerBoundsMap", "upperBoundsMap")
        low, high = [cast(AffineMapAttr, op.properties[name]).data for name in names]
        count = low.num_dims + low.num_symbols
        calls = [MapCall(low, op.operands[:count]), MapCall(high, op.operands[count:])]
        new = [composed(call) for call in calls]
        if not any(new):
            return
        bounds = [call or old for call, old in zip(new, calls, strict=True)]
        op.operands = [value for bound in bounds for value in bound.operands]
        for name, bound in zip(names, bounds, strict=True):
            op.properties[name] = AffineMapAttr(bound.map)
        rewriter.handle_operation_modification(op)


class SimplifyBounds(RewritePattern):
    """Put the maps and constants that define the operands of the bounds of an `affine.for` into
    them; remove a loop without iterations, or one that does nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: affine.ForOp, rewriter: PatternRewriter, /) -> None:
        low, high = _constant_of(op.lowerBoundMap), _constant_of(op.upperBoundMap)
        body = op.body.block
        if low is not None and high is not None and low >= high and _is_single(op):
            rewriter.replace(op, (), op.inits)
            return
        end = body.last_op
        if body.first_op is end and isinstance(end, affine.YieldOp) and self.empty(op, rewriter):
            return
        lower = composed(MapCall(op.lowerBoundMap.data, op.lowerBoundOperands))
        upper = composed(MapCall(op.upperBoundMap.data, op.upperBoundOperands))
        if lower is None and upper is None:
            return
        lower = lower or MapCall(op.lowerBoundMap.data, op.lowerBoundOperands)
        upper = upper or MapCall(op.upperBoundMap.data, op.upperBoundOperands)
        new = affine.ForOp.from_region(
            list(lower.operands),
            list(upper.operands),
            list(op.inits),
            [result.type for result in op.results],
            AffineMapAttr(lower.map),
            AffineMapAttr(upper.map),
            op.detach_region(op.body),
            op.step,
        )
        new.attributes |= op.attributes
        rewriter.replace(op, new)

    def empty(self, op: affine.ForOp, rewriter: PatternRewriter) -> bool:
        """Replace a loop that only yields values; return whether that is known to be the same."""
        body = op.body.block
        end = body.last_op
        assert end is not None
        values = list(end.operands)
        low, high = _constant_of(op.lowerBoundMap), _constant_of(op.upperBoundMap)
        if all(value is arg for value, arg in zip(values, body.args[1:], strict=True)):
            rewriter.replace(op, (), op.inits)
            return True
        if low is None or high is None or low >= high:
            return False
        if high - low > op.step.value.data:
            # Values that change places have an order of their own after some iterations.
            pairs = zip(values, body.args[1:], strict=True)
            if any(value.owner is body and value is not arg for value, arg in pairs):
                return False
        if any(value is body.args[0] for value in values):
            return False
        args: dict[SSAValue, SSAValue] = dict(zip(body.args[1:], op.inits, strict=True))
        rewriter.replace(op, (), [args.get(v, v) if v.owner is body else v for v in values])
        return True


def _is_single(op: affine.ForOp) -> bool:
    return len(op.lowerBoundMap.data.results) == len(op.upperBoundMap.data.results) == 1


def _constant_of(map: AffineMapAttr) -> int | None:
    """Return the bound that a map of one constant is, or None."""
    results = map.data.results
    if len(results) == 1 and isinstance(expr := results[0], AffineConstantExpr):
        return expr.value
    return None


class SimplifyCondition(RewritePattern):
    """Put the maps and constants that define the operands of an `affine.if` into its condition, and
    take one of the regions if it is known."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        condition = cast(AffineSetAttr, op.properties["condition"]).data
        old = condition.constraints
        exprs = [c.lhs if c.rhs == AffineConstantExpr(0) else c.lhs - c.rhs for c in old]
        call = MapCall(
            AffineMap(condition.num_dims, condition.num_symbols, tuple(exprs)), op.operands
        )
        new = composed(call) or call
        kinds = [constraint.kind for constraint in old]
        kept: list[AffineConstraintExpr] = []
        for kind, expr in zip(kinds, new.map.results, strict=True):
            if not isinstance(expr, AffineConstantExpr):
                zero = AffineExpr.constant(0)
                kept.append(AffineConstraintExpr(kind, expr, zero, canonicalize=False))
            elif not _HOLDS[kind](expr.value, 0):
                self.take(op, op.regions[1], rewriter)
                return
        if not kept:
            self.take(op, op.regions[0], rewriter)
        elif new is not call or len(kept) < len(old):
            sizes = new.map.num_dims, new.map.num_symbols
            op.operands = new.operands
            op.properties["condition"] = AffineSetAttr(AffineSet(*sizes, tuple(kept)))
            rewriter.handle_operation_modification(op)

    def take(self, op: Operation, region: Region, rewriter: PatternRewriter) -> None:
        """Replace the operation by one of its regions."""
        if region.first_block is None:
            rewriter.erase(op)
        else:
            inline(rewriter, op, region.block)


_HOLDS: Final = {
    AffineConstraintKind.ge: ge,
    AffineConstraintKind.le: le,
    AffineConstraintKind.eq: eq,
}


class DropIdleElse(RewritePattern):
    """Drop the else region of an `affine.if` without results if it does nothing."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        region = op.regions[1]
        block = region.first_block
        if op.results or block is None or block.first_op is not block.last_op:
            return
        region.erase_block(block)
        rewriter.handle_operation_modification(op)


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "affine.delinearize_index": DELINEARIZATIONS,
    "affine.if": (DropIdleElse(), SimplifyCondition()),
    "affine.linearize_index": LINEARIZATIONS,
    "affine.max": (SimplifyExtreme(), MergeExtremes()),
    "affine.min": (SimplifyExtreme(), MergeExtremes()),
    "affine.parallel": (SimplifyParallelBounds(),),
}
PATTERNS: Final[tuple[RewritePattern, ...]] = (
    TakeUncast(
        {
            "affine.load": (0,),
            "affine.store": (1,),
            "affine.vector_load": (0,),
            "affine.vector_store": (1,),
        }
    ),
    ComposeMap(),
    SimplifyBounds(),
)
