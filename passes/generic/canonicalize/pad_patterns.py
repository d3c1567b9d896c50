"""Folds and patterns of `tensor.pad`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects import affine, tensor
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import constant_of
from .shapes import (
    DYNAMIC,
    Size,
    folded,
    known,
    loses_static_facts,
    mixed,
    rebuilt_slice,
    same_sizes,
    shape_of_type,
    slice_of,
    split,
    static_sizes,
    subview_type,
    with_shape,
)
from .slice_patterns import replace_with, uncast


def _fold_pad(op: Operation) -> Folded | None:
    """Fold a padding of nothing."""
    source, to = op.operands[0], op.results[0].type
    if source.type != to or DYNAMIC in (shape_of_type(to) or [DYNAMIC]):
        return None
    return None if op.properties.get("nofold") else source


FOLDS: Final[Mapping[str, Fold]] = {"tensor.pad": _fold_pad}


def _low(op: tensor.PadOp) -> list[Size]:
    return mixed(op.static_low, op.low)


def _high(op: tensor.PadOp) -> list[Size]:
    return mixed(op.static_high, op.high)


def _padded(
    op: tensor.PadOp,
    source: SSAValue,
    low: Sequence[Size],
    high: Sequence[Size],
    type: Attribute,
) -> tensor.PadOp:
    """Return a padding like `op`, of which it takes the region."""
    (static_low, dynamic_low), (static_high, dynamic_high) = split(low), split(high)
    return op.__class__.build(
        operands=[source, dynamic_low, dynamic_high],
        result_types=[type],
        properties={"static_low": static_low, "static_high": static_high, "nofold": op.nofold},
        regions=[op.detach_region(op.regions[0])],
        attributes=op.attributes,
    )


def _constant_value(op: tensor.PadOp) -> SSAValue | None:
    """Return the value of all padding elements, if it is a constant or from outside; else None."""
    end = op.region.block.last_op
    if not isinstance(end, tensor.YieldOp):
        return None
    value = end.operands[0]
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    return value if constant_of(value) is not None or block is not op.region.block else None


class ConstantPadding(RewritePattern):
    """Write the constant widths of a padding into its type, and drop one of nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter, /) -> None:
        widths = [_low(op), _high(op)]
        new = [folded(part, 0) for part in widths]
        source = uncast(op.source) or op.source
        shape = shape_of_type(source.type)
        if shape is None:
            return
        if all(known(width) == 0 for part in new for width in part) and not op.nofold:
            if source.type == op.result.type:
                rewriter.replace(op, (), [source])
            else:
                rewriter.replace(op, cast_to(tensor.CastOp, source, op.result.type))
            return
        sizes = [
            DYNAMIC if DYNAMIC in (size, *ends) else size + sum(ends)
            for size, *ends in zip(shape, *(static_sizes(part) for part in new), strict=True)
        ]
        # A result may know more than follows from the widths.
        old = shape_of_type(op.result.type) or []
        sizes = [b if a == DYNAMIC else a for a, b in zip(sizes, old, strict=True)]
        if any(b not in (DYNAMIC, a) for a, b in zip(sizes, old, strict=True)):
            return  # it never runs
        unchanged = all(
            a is b for x, y in zip(widths, new, strict=True) for a, b in zip(x, y, strict=True)
        )
        if sizes == old and unchanged and source is op.source:
            return
        made = _padded(op, source, new[0], new[1], with_shape(op.result.type, sizes))
        replace_with(rewriter, op, made)


class PadToCast(RewritePattern):
    """Pad to the more static type to which the only user casts the result. Source:
    `FoldTargetTensorCast` of MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter, /) -> None:
        if (use := op.result.get_user_of_unique_use()) is None or not isinstance(
            use, tensor.CastOp
        ):
            return
        to = use.dest.type
        if not loses_static_facts(to, op.result.type):
            return
        made = rewriter.insert(_padded(op, op.source, _low(op), _high(op), to))
        rewriter.replace(use, (), made.results)
        rewriter.erase(op)


class MergePaddings(RewritePattern):
    """Replace two paddings with the same value by one. Source: `FoldConsecutiveConstantPadding` of
    MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter, /) -> None:
        inner = op.source.owner
        if not isinstance(inner, tensor.PadOp) or op.nofold or inner.nofold:
            return
        value = _constant_value(op)
        if value is None or _constant_value(inner) is not value:
            return
        pairs = ((_low(op), _low(inner)), (_high(op), _high(inner)))
        low, high = ([_sum(a, b, rewriter) for a, b in zip(*pair, strict=True)] for pair in pairs)
        rewriter.replace(op, _padded(op, inner.source, low, high, op.result.type))


def _sum(a: Size, b: Size, rewriter: PatternRewriter) -> Size:
    """Return the sum of two widths, for which an `affine.apply` is inserted if one is a value."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0:
        return b
    if b == 0:
        return a
    values = [*dict.fromkeys(width for width in (a, b) if isinstance(width, SSAValue))]
    parts = [
        AffineExpr.symbol(values.index(width))
        if isinstance(width, SSAValue)
        else AffineExpr.constant(width)
        for width in (a, b)
    ]
    map = AffineMap(0, len(values), (parts[0] + parts[1],))
    return rewriter.insert(affine.ApplyOp(values, AffineMapAttr(map))).result


class MergeOrthogonalPaddings(RewritePattern):
    """Replace parts that are padded at the end, one after the other in different dimensions, by one
    part that is padded. Source: `FoldOrthogonalPaddings` of MLIR, with its seven conditions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.PadOp, rewriter: PatternRewriter, /) -> None:
        part = op.source.owner
        if not isinstance(part, tensor.ExtractSliceOp):
            return
        first = part.source.owner
        if not isinstance(first, tensor.PadOp) or first.nofold:
            return
        first_part = first.source.owner
        if not isinstance(first_part, tensor.ExtractSliceOp):
            return
        shape = shape_of_type(first.result.type) or []
        ranks = {len(shape_of_type(v.type) or ()) for v in (first_part.source, op.source)}
        if ranks != {len(shape)}:
            return
        offsets, sizes, strides = slice_of(part)
        first_offsets, first_sizes, first_strides = slice_of(first_part)
        low = [*_low(op), *_low(first)]
        if any(known(s) != 1 for s in (*strides, *first_strides)) or any(map(known, low)):
            return
        if any(known(width) is None for width in low):
            return
        value = _constant_value(op)
        number = None if value is None else constant_of(value)
        other = _constant_value(first)
        if number is None or other is None or constant_of(other) != number:
            return
        # A dimension that is padded has a width other than 0.
        high, first_high = _high(op), _high(first)
        starts, lengths, ends = list[Size](), list[Size](), list[Size]()
        for i, whole in enumerate(shape):
            is_padded, was_padded = known(high[i]) != 0, known(first_high[i]) != 0
            if is_padded and was_padded:
                return
            if not is_padded and known(offsets[i]) == 0:
                starts.append(first_offsets[i])
            elif not was_padded and known(first_offsets[i]) == 0:
                starts.append(offsets[i])
            else:
                return
            if was_padded and not same_sizes([sizes[i]], [whole]):
                return
            lengths.append(first_sizes[i] if was_padded else sizes[i])
            ends.append(first_high[i] if was_padded else high[i])
        parts = (starts, lengths, strides)
        if (type := subview_type(first_part.source.type, parts)) is None:
            return
        made = rewriter.insert(rebuilt_slice(first_part, [first_part.source], parts, type))
        rewriter.replace(op, _padded(op, made.results[0], _low(op), ends, op.result.type))


PATTERNS: Final[tuple[RewritePattern, ...]] = (
    ConstantPadding(),
    PadToCast(),
    MergeOrthogonalPaddings(),
    MergePaddings(),
)
