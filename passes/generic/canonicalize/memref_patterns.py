"""Folds and patterns of `memref`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from xdsl.dialects import memref
from xdsl.dialects.arith import ConstantOp, IndexCastOp
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import constant_integer, signed_integer, truncated_integer
from .reshape_patterns import PATTERNS as RESHAPES
from .reshape_patterns import fold_reshape
from .shapes import (
    DYNAMIC,
    Size,
    folded,
    known,
    layout_of,
    rebuilt_slice,
    same_sizes,
    shape_of_type,
    slice_of,
    static_sizes,
    with_shape,
)
from .slice_patterns import PATTERNS as SLICES
from .slice_patterns import TakeUncast, cast_of, fold_cast, fold_dim, fold_rank, replace_with

Allocation: TypeAlias = memref.AllocOp | memref.AllocaOp


# Views


def _fold_view(op: Operation) -> Folded | None:
    """Fold a view from the first byte that is of the same type."""
    source, shift = op.operands[:2]
    same = source.type == op.results[0].type and (shape_of_type(source.type) or [DYNAMIC])
    return source if same and DYNAMIC not in same and constant_integer(shift) == 0 else None


def _fold_assumption(op: Operation) -> Folded | None:
    source = op.operands[0]
    inner = source.owner
    if isinstance(inner, Operation) and inner.name == op.name:
        if inner.properties.get("alignment") == op.properties.get("alignment"):
            return source
    return None


def _fold_reinterpretation(op: Operation) -> Folded | None:
    """Fold a reinterpretation of a static buffer as its own type."""
    assert isinstance(op, memref.ReinterpretCastOp)
    static = DYNAMIC not in (shape_of_type(op.result.type) or [DYNAMIC])
    is_same = static and op.source.type == op.result.type
    return op.source if is_same and known(slice_of(op)[0][0]) == 0 else None


FOLDS: Final[Mapping[str, Fold]] = {
    "memref.assume_alignment": _fold_assumption,
    "memref.cast": fold_cast,
    "memref.collapse_shape": fold_reshape,
    "memref.dim": fold_dim,
    "memref.expand_shape": fold_reshape,
    "memref.memory_space_cast": fold_cast,
    "memref.rank": fold_rank,
    "memref.reinterpret_cast": _fold_reinterpretation,
    "memref.view": _fold_view,
}


class MergeMemorySpaceCasts(RewritePattern):
    """Replace two casts between memory spaces by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.MemorySpaceCastOp, rewriter: PatternRewriter, /) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, memref.MemorySpaceCastOp):
            to = op.results[0].type
            rewriter.replace(op, cast_to(memref.MemorySpaceCastOp, inner.operands[0], to))


class ReinterpretSource(RewritePattern):
    """Reinterpret the buffer that a cast, a part from the start, or another reinterpretation is
    of: only its first element counts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.ReinterpretCastOp, rewriter: PatternRewriter, /) -> None:
        match op.source.owner:
            case memref.ReinterpretCastOp() | memref.CastOp() as inner:
                pass
            case memref.SubviewOp() as inner:
                if any(known(start) != 0 for start in slice_of(inner)[0]):
                    return
            case memref.ExtractStridedMetaDataOp() as metadata:
                if self.replace_whole(op, metadata, rewriter):
                    return
                inner = metadata
            case _:
                return
        if isinstance(inner.operands[0].type, MemRefType):
            op.operands[0] = inner.operands[0]
            rewriter.handle_operation_modification(op)

    def replace_whole(
        self,
        op: memref.ReinterpretCastOp,
        metadata: memref.ExtractStridedMetaDataOp,
        rewriter: PatternRewriter,
    ) -> bool:
        """Replace `op` if it puts a buffer together out of its own metadata."""
        offsets, sizes, strides = slice_of(op)
        facts = metadata_of(metadata)
        if facts is None or not all(map(same_sizes, (offsets, sizes, strides), facts)):
            return False
        source, to = metadata.source, op.result.type
        if source.type == to:
            rewriter.replace(op, (), [source])
        else:
            rewriter.replace(op, cast_to(cast_of(to), source, to))
        return True


def metadata_of(op: memref.ExtractStridedMetaDataOp) -> tuple[list[Size], ...] | None:
    """Return offset, sizes and strides of a buffer: numbers, or results of `op`."""
    layout, shape = layout_of(op.source.type), shape_of_type(op.source.type)
    if layout is None or shape is None:
        return None
    strides, offset = layout
    return (
        [op.offset if offset is None else offset],
        [value if size == DYNAMIC else size for size, value in zip(shape, op.sizes, strict=True)],
        [value if s is None else s for s, value in zip(strides, op.strides, strict=True)],
    )


class KnownMetadata(RewritePattern):
    """Replace the offset, sizes and strides of a buffer that its type has by constants."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: memref.ExtractStridedMetaDataOp, rewriter: PatternRewriter, /
    ) -> None:
        if (facts := metadata_of(op)) is None:
            return
        values = (op.offset, *op.sizes, *op.strides)
        sizes = [size for part in facts for size in part]
        for value, size in zip(values, sizes, strict=True):
            if isinstance(size, int) and value.first_use is not None:
                constant = rewriter.insert(ConstantOp(truncated_integer(size, IndexType())))
                rewriter.replace_all_uses_with(value, constant.result)
        # What the cast adds is constant by now.
        inner = op.source.owner
        if isinstance(inner, Operation) and inner.name == "memref.cast":
            if isinstance(inner.operands[0].type, MemRefType):
                op.operands[0] = inner.operands[0]
                rewriter.handle_operation_modification(op)


class ConstantReinterpretation(RewritePattern):
    """Write the constant offset, sizes and strides of a reinterpretation into its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.ReinterpretCastOp, rewriter: PatternRewriter, /) -> None:
        from xdsl.dialects.builtin import DYNAMIC_INDEX, StridedLayoutAttr

        old = slice_of(op)
        new = (folded(old[0], 0), folded(old[1], 0), folded(old[2]))
        if all(a is b for x, y in zip(old, new, strict=True) for a, b in zip(x, y, strict=True)):
            return
        numbers = [[None if isinstance(s, SSAValue) else s for s in part] for part in new]
        buffer = op.result.type
        shape = [DYNAMIC_INDEX if size is None else size for size in numbers[1]]
        layout = StridedLayoutAttr(numbers[2], numbers[0][0])
        type = MemRefType(buffer.element_type, shape, layout, buffer.memory_space)
        replace_with(rewriter, op, rebuilt_slice(op, [op.source], new, type))


class ViewOfCast(RewritePattern):
    """View the bytes that were cast, or make constant sizes of a view static."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.ViewOp, rewriter: PatternRewriter, /) -> None:
        source = op.source.owner
        if isinstance(source, memref.CastOp) and isinstance(source.source.type, MemRefType):
            op.operands[0] = source.source
            rewriter.handle_operation_modification(op)
            return
        if (made := _with_constants(op.result.type, op.sizes)) is not None:
            type, sizes = made
            replace_with(
                rewriter,
                op,
                memref.ViewOp.build(
                    operands=[op.source, op.byte_shift, sizes], result_types=[type]
                ),
            )


def _with_constants(type: Attribute, dynamic: Any) -> tuple[Attribute, list[SSAValue]] | None:
    """Return a type with constant sizes, and the operands for the others; None if none is one."""
    shape = shape_of_type(type)
    if shape is None:
        return None
    values = iter(dynamic)
    sizes = folded([next(values) if size == DYNAMIC else size for size in shape], 0)
    new = static_sizes(sizes)
    if new == shape:
        return None
    return with_shape(type, new), [size for size in sizes if isinstance(size, SSAValue)]


# Allocations


class ConstantAllocation(RewritePattern):
    """Write the constant sizes of an allocation into its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Allocation, rewriter: PatternRewriter, /) -> None:
        if (
            not op.dynamic_sizes
            or (made := _with_constants(op.memref.type, op.dynamic_sizes)) is None
        ):
            return
        type, sizes = made
        new = op.__class__.build(
            operands=[sizes, op.symbol_operands],
            result_types=[type],
            properties={k: v for k, v in op.properties.items() if k != "operandSegmentSizes"},
            attributes=op.attributes,
        )
        replace_with(rewriter, op, new)


class DropWrittenOnly(RewritePattern):
    """Remove an allocation that is only written and freed."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        buffer = op.results[0]
        users: dict[Operation, None] = {}
        for use in buffer.uses:
            user = use.operation
            is_write = isinstance(user, memref.StoreOp) and use.index == 1
            if not is_write and not isinstance(user, memref.DeallocOp):
                return
            users[user] = None
        if any(user.name == "memref.store" and user.operands[0] is buffer for user in users):
            return
        for user in users:
            rewriter.erase(user)
        rewriter.erase(op)


class DropNoCopy(RewritePattern):
    """Remove a copy of a buffer to itself, and one of no elements."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        source, target = op.operands
        if (
            source is target
            or 0 in (shape_of_type(source.type) or ())
            or 0 in (shape_of_type(target.type) or ())
        ):
            rewriter.erase(op)


class CopyUncast(RewritePattern):
    """Copy between what was cast, if both keep one shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.CopyOp, rewriter: PatternRewriter, /) -> None:
        for index, value in enumerate(op.operands):
            source = value.owner
            if not isinstance(source, memref.CastOp):
                continue
            plain = source.source
            # xDSL 0.75 takes equal types only.
            other = op.operands[1 - index].type
            shape = shape_of_type(plain.type)
            if shape is not None and shape == shape_of_type(other):
                op.operands[index] = plain
                rewriter.handle_operation_modification(op)
                return


# Reshapes


class SizeOfReshape(RewritePattern):
    """Load the size of a dimension of a `memref.reshape` from the buffer of sizes. The load is
    directly after the reshape, since the sizes may be written later."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.DimOp, rewriter: PatternRewriter, /) -> None:
        view, index = op.source.owner, op.index
        if not isinstance(view, Operation) or view.name != "memref.reshape":
            return
        number = signed_integer(index)
        if number is None and not _is_before(index, view, op):
            return
        place = InsertPoint.after(view)
        if number is not None:
            made = ConstantOp(truncated_integer(number, IndexType()))
            index = rewriter.insert(made, place).results[0]
        load = rewriter.insert(memref.LoadOp.get(view.operands[1], [index]), place)
        if load.res.type == op.result.type:
            rewriter.replace(op, (), load.results)
        else:
            cast = rewriter.insert(IndexCastOp(load.res, op.result.type), place)
            rewriter.replace(op, (), cast.results)


_NEAR: Final = 64
"""The number of operations among which one is looked for: xDSL does not number them."""


def _is_before(value: SSAValue, op: Operation, user: Operation) -> bool:
    """Return whether a value is known to be defined before `op`, if it is before `user`, which uses
    a result of `op`."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is not op.parent:
        return user.parent is op.parent
    earlier = op.prev_op
    for _ in range(_NEAR):
        if earlier is None or earlier is owner:
            break
        earlier = earlier.prev_op
    return isinstance(owner, Block) or earlier is owner


_UNCAST: Final = {
    "memref.atomic_rmw": (1,),
    "memref.dealloc": (0,),
    "memref.dim": (0,),
    "memref.extract_strided_metadata": (0,),
    "memref.load": (0,),
    "memref.store": (1,),
}
"""The operands that may as well be what was cast."""
_WRITTEN_ONLY: Final = (DropWrittenOnly(),)
NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "memref.alloc": _WRITTEN_ONLY,
    "memref.alloca": _WRITTEN_ONLY,
    "memref.copy": (DropNoCopy(),),
    "memref.realloc": _WRITTEN_ONLY,
}
PATTERNS: Final[tuple[RewritePattern, ...]] = (
    TakeUncast(_UNCAST),
    *SLICES,
    *RESHAPES,
    MergeMemorySpaceCasts(),
    ReinterpretSource(),
    ConstantReinterpretation(),
    KnownMetadata(),
    ViewOfCast(),
    ConstantAllocation(),
    CopyUncast(),
    SizeOfReshape(),
)
