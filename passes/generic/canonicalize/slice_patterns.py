"""Rewrite patterns of sizes, casts and parts of buffers and tensors, the same for `memref` and
`tensor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .by_dialect import Folded
from .cast_patterns import cast_to
from .constants import signed_integer, truncated_integer
from .shapes import (
    DYNAMIC,
    Size,
    as_shaped,
    dropped_dimensions,
    folded,
    known,
    layout_of,
    loses_static_facts,
    mixed,
    rebuilt_slice,
    same_sizes,
    shape_of_type,
    slice_of,
    static_list,
    static_sizes,
    subview_type,
    without_dimensions,
)

Part: TypeAlias = memref.SubviewOp | tensor.ExtractSliceOp
Cast: TypeAlias = memref.CastOp | tensor.CastOp
Expansion: TypeAlias = memref.ExpandShapeOp | tensor.ExpandShapeOp
Collapse: TypeAlias = memref.CollapseShapeOp | tensor.CollapseShapeOp


def cast_of(type: Attribute) -> type[memref.CastOp] | type[tensor.CastOp]:
    """Return the class of the cast of a buffer or tensor type."""
    is_tensor = type.name == "tensor"
    return tensor.CastOp if is_tensor else memref.CastOp


def replace_with(rewriter: PatternRewriter, op: Operation, new: Operation) -> None:
    """Replace `op` by an operation of one result, with a cast to the type of `op`."""
    to, result = op.results[0].type, new.results[0]
    if result.type == to:
        rewriter.replace(op, new)
    else:
        rewriter.replace(op, [new, cast_to(cast_of(to), result, to)])


# Sizes


def fold_dim(op: Operation) -> Folded | None:
    """Fold the size of a dimension that the type has, or the operation that makes the value."""
    source, at = op.operands
    shape, index = shape_of_type(source.type), signed_integer(at)
    if shape is None or index is None or not 0 <= index < len(shape):
        return None
    size = shape[index] if shape[index] != DYNAMIC else size_of(source, index)
    return truncated_integer(size, IndexType()) if isinstance(size, int) else size


def fold_rank(op: Operation) -> Folded | None:
    """Fold the number of dimensions that the type has."""
    shape = shape_of_type(op.operands[0].type)
    return None if shape is None else truncated_integer(len(shape), IndexType())


def size_of(value: SSAValue, index: int) -> Size | None:
    """Return the size of an unknown dimension that the operation that makes `value` gets; None if
    that is not known."""
    shape = shape_of_type(value.type) or []
    position = shape[:index].count(DYNAMIC)
    match value.owner:
        case memref.AllocOp() | memref.AllocaOp() | tensor.EmptyOp() as made:
            return made.dynamic_sizes[position]
        case Operation() as made if made.name == "tensor.generate":
            return made.operands[position]
        case Operation() as made if made.name == "bufferization.alloc_tensor":
            # One that is copied has no sizes of its own.
            sizes = static_list(made.properties["operandSegmentSizes"])[0]
            return made.operands[position] if position < sizes else None
        case tensor.SplatOp() as made:
            return made.dynamicSizes[position]
        case memref.ViewOp() as view:
            return view.sizes[position]
        case memref.SubviewOp() | tensor.ExtractSliceOp() as part:
            sizes = mixed(part.static_sizes, part.sizes)
            if (dropped := dropped_dimensions(static_sizes(sizes), shape)) is None:
                return None
            return [size for i, size in enumerate(sizes) if i not in dropped][index]
        case memref.ExpandShapeOp() | tensor.ExpandShapeOp() as expansion:
            return mixed(expansion.static_output_shape, expansion.operands[1:])[index]
        case memref.ReinterpretCastOp() as view:
            return mixed(view.static_sizes, view.sizes)[index]
        case _:
            return None


# Casts


def fold_cast(op: Operation) -> SSAValue | None:
    """Fold a cast to the same type."""
    source = op.operands[0]
    return source if source.type == op.results[0].type else None


class MergeCasts(RewritePattern):
    """Replace two casts by one, if the type between them knows no size that both others lack."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Cast, rewriter: PatternRewriter, /) -> None:
        inner = op.operands[0].owner
        if not isinstance(inner, Cast):
            return
        source, to = inner.operands[0], op.results[0].type
        between = inner.results[0].type
        if not may_be_equal(shape_of_type(source.type), shape_of_type(to)):
            return  # it never runs
        if (
            source.type == to
            or loses_static_facts(source.type, between)
            or not as_shaped(between)
            or (isinstance(op, tensor.CastOp) and _knows_as_much(source.type, between, to))
        ):
            _replace_cast(rewriter, op, source)


def _replace_cast(rewriter: PatternRewriter, op: Cast, source: SSAValue) -> None:
    if source.type == op.results[0].type:
        rewriter.replace(op, (), [source])
    else:
        rewriter.replace(op, cast_to(type(op), source, op.results[0].type))


def may_be_equal(a: Sequence[int] | None, b: Sequence[int] | None) -> bool:
    """Return whether values of two shapes, None for an unknown one, may have the same sizes."""
    if a is None or b is None:
        return True
    rows = zip(a, b, strict=False)
    return len(a) == len(b) and all(x == y or DYNAMIC in (x, y) for x, y in rows)


def _knows_as_much(source: Attribute, between: Attribute, result: Attribute) -> bool:
    """Return whether each size that the type in between has is one of the source or result."""
    shapes = [shape_of_type(type) for type in (source, between, result)]
    ranked = [shape for shape in shapes if shape is not None]
    if shapes[1] is None or len({len(shape) for shape in ranked}) > 1:
        return False
    # Of an unranked tensor no size is known.
    unknown = [DYNAMIC] * len(shapes[1])
    rows = zip(*(shape or unknown for shape in shapes), strict=True)
    return len(ranked) > 1 and all(b in (DYNAMIC, a, c) for a, b, c in rows)


def uncast(value: SSAValue) -> SSAValue | None:
    """Return the operand of a cast that only forgets sizes, or None."""
    owner = value.owner
    if isinstance(owner, Cast) and loses_static_facts(owner.operands[0].type, value.type):
        return owner.operands[0]
    return None


class TakeUncast(RewritePattern):
    """Let an operation whose result does not depend on the type of an operand take what was cast to
    it."""

    positions: dict[str, tuple[int, ...]]

    def __init__(self, positions: dict[str, tuple[int, ...]]) -> None:
        self.positions = positions

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Replace the operands of `op` at its positions."""
        for index in self.positions.get(op.name, ()):
            if index >= len(op.operands):
                continue
            if any(result.type == op.operands[index].type for result in op.results):
                continue  # it has the type of the operand
            if (new := uncast(op.operands[index])) is not None:
                op.operands[index] = new
                rewriter.handle_operation_modification(op)


# Parts


class ConstantSlice(RewritePattern):
    """Write the constant offsets, sizes and strides of a part into its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Part, rewriter: PatternRewriter, /) -> None:
        old = slice_of(op)
        if not any(isinstance(size, SSAValue) for part in old for size in part):
            return
        offsets, sizes, strides = old
        new = (folded(offsets, 0), folded(sizes, 0), folded(strides, nonzero=True))
        if all(a is b for x, y in zip(old, new, strict=True) for a, b in zip(x, y, strict=True)):
            return
        if is_inside(new, shape_of_type(op.source.type)):
            rebuild_part(op, op.source, new, rewriter)


def is_inside(
    parts: tuple[Sequence[Size], Sequence[Size], Sequence[Size]], shape: Sequence[int] | None
) -> bool:
    """Return whether a part is not known to be outside of a shape."""
    for start, size, stride, whole in zip(*parts, shape or (), strict=False):
        if whole == DYNAMIC or isinstance(start, SSAValue):
            continue
        if start >= whole and size != 0:
            return False
        if not isinstance(size, SSAValue) and not isinstance(stride, SSAValue) and size:
            if not 0 <= start + (size - 1) * stride < whole:
                return False
    return True


def rebuild_part(
    op: Part,
    source: SSAValue,
    new: tuple[list[Size], list[Size], list[Size]],
    rewriter: PatternRewriter,
) -> None:
    """Replace a part by another one of `source`, of a type that follows from it."""
    reduced = shape_of_type(op.result.type)
    dropped = dropped_dimensions(static_sizes(slice_of(op)[1]), reduced or ())
    if dropped is None or (full := subview_type(source.type, new)) is None:
        return
    type = without_dimensions(full, dropped)
    # The layout of the whole is that of the part if it is written in the same way.
    if layout_of(type) == layout_of(op.result.type):
        if shape_of_type(type) == reduced:
            type = op.result.type
    replace_with(rewriter, op, rebuilt_slice(op, [source], new, type))


class PartOfCast(RewritePattern):
    """Take a part of what was cast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Part, rewriter: PatternRewriter, /) -> None:
        # Constants first, so that sizes are compared as numbers.
        if (source := uncast(op.source)) is None:
            return
        new = slice_of(op)
        if any(isinstance(s, SSAValue) and known(s) is not None for part in new for s in part):
            return
        rebuild_part(op, source, new, rewriter)


class DropWholePart(RewritePattern):
    """Replace a part that is the whole buffer or tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Part, rewriter: PatternRewriter, /) -> None:
        offsets, sizes, strides = slice_of(op)
        shape = shape_of_type(op.source.type)
        if any(known(start) != 0 for start in offsets) or any(known(s) != 1 for s in strides):
            return
        if shape is None or len(shape_of_type(op.result.type) or ()) != len(shape):
            return
        for index, (size, whole) in enumerate(zip(sizes, shape, strict=True)):
            if whole == DYNAMIC:
                made = size_of(op.source, index)
                if made is None or not same_sizes([size], [made]):
                    if not _is_size_of(size, op.source, index):
                        return
            elif known(size) != whole:
                return
        if op.source.type == op.result.type:
            rewriter.replace(op, (), [op.source])
        elif isinstance(op, memref.SubviewOp):
            rewriter.replace(op, cast_to(memref.CastOp, op.source, op.result.type))


def _is_size_of(size: Size, value: SSAValue, index: int) -> bool:
    """Return whether a size is that of a dimension of a value, as `dim` says."""
    owner = size.owner if isinstance(size, SSAValue) else None
    return (
        isinstance(owner, memref.DimOp | tensor.DimOp)
        and owner.source is value
        and signed_integer(owner.index) == index
    )


def same_slice(a: Any, b: Any) -> bool:
    """Return whether two operations take or replace the same part."""
    return all(same_sizes(x, y) for x, y in zip(slice_of(a), slice_of(b), strict=True))


PATTERNS: Final[tuple[RewritePattern, ...]] = (
    MergeCasts(),
    ConstantSlice(),
    PartOfCast(),
    DropWholePart(),
)
