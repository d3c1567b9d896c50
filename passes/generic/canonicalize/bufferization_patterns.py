"""Folds and patterns of `bufferization`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from xdsl.dialects import arith, bufferization, memref, tensor
from xdsl.dialects.builtin import IndexType, MemRefType, NoneAttr, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.effects import FREES, class_effects
from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import truncated_integer
from .shapes import DYNAMIC, as_shaped, folded, layout_of, shape_of_type, static_sizes, with_shape
from .slice_patterns import may_be_equal, replace_with

_CLONE: Final = "bufferization.clone"
_TO_BUFFER: Final = "bufferization.to_buffer"
_TO_TENSOR: Final = "bufferization.to_tensor"


def _made_by(value: SSAValue, name: str) -> Operation | None:
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _fold_to_tensor(op: Operation) -> Folded | None:
    made = _made_by(op.operands[0], _TO_BUFFER)
    if made is not None and op.prev_op is made:
        # Only directly after it: the buffer may be written in between.
        source = made.operands[0]
        return source if source.type == op.results[0].type else None
    return None


def _fold_to_buffer(op: Operation) -> Folded | None:
    if (made := _made_by(op.operands[0], _TO_TENSOR)) is not None:
        source = made.operands[0]
        return source if source.type == op.results[0].type else None
    return None


FOLDS: Final[Mapping[str, Fold]] = {_TO_BUFFER: _fold_to_buffer, _TO_TENSOR: _fold_to_tensor}


# Casts of buffers


def _is_castable(source: Attribute, to: Attribute, *, surely: bool) -> bool:
    """Return whether `memref.cast` takes a buffer to another type; with `surely` only if no unknown
    stride or offset is checked."""
    if any(isinstance(type, UnrankedMemRefType) for type in (source, to)):
        return not surely
    before, after = layout_of(source), layout_of(to)
    if (
        before is None
        or after is None
        or not may_be_equal(shape_of_type(source), shape_of_type(to))
    ):
        return False
    old, new = cast("MemRefType[Attribute]", source), cast("MemRefType[Attribute]", to)
    if (old.element_type, old.memory_space) != (new.element_type, new.memory_space):
        return False
    rows = [*zip(before[0], after[0], strict=True), (before[1], after[1])]
    return all(a == b or b is None or (a is None and not surely) for a, b in rows)


def _size(buffer: SSAValue, index: SSAValue) -> Operation:
    return memref.DimOp.create(operands=[buffer, index], result_types=[IndexType()])


class BufferOfBuffer(RewritePattern):
    """Replace the buffer of the tensor of a buffer by a cast, or by a copy where strides or the
    offset would have to be checked, or the memory is another one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `bufferization.to_buffer`."""
        if (made := _made_by(op.operands[0], _TO_TENSOR)) is None:
            return
        source, to = made.operands[0], op.results[0].type
        shape = shape_of_type(to)
        if to.name == UnrankedMemRefType.name or _is_castable(source.type, to, surely=True):
            rewriter.replace(op, cast_to(memref.CastOp, source, to))
            return
        if shape is None or as_shaped(source.type) is None:
            return
        sizes: list[SSAValue] = []
        for index, size in enumerate(shape):
            if size == DYNAMIC:
                at = rewriter.insert(arith.ConstantOp(truncated_integer(index, IndexType())))
                sizes.append(rewriter.insert(_size(source, at.result)).results[0])
        copy = memref.AllocOp(sizes, [], to)
        rewriter.insert(copy)
        rewriter.insert(memref.CopyOp(source, copy))
        rewriter.replace(op, (), copy.results)


class BufferOfCast(RewritePattern):
    """Cast the buffer of a tensor in place of the tensor."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `bufferization.to_buffer`."""
        inner, to = op.operands[0].owner, op.results[0].type
        if not isinstance(inner, tensor.CastOp):
            return
        if (shape := shape_of_type(inner.source.type)) is None:
            return
        buffer = to
        if to.name == UnrankedMemRefType.name:
            unranked = cast("UnrankedMemRefType[Attribute]", to)
            buffer = MemRefType(unranked.element_type, (), NoneAttr(), unranked.memory_space)
        made = type(op).create(
            operands=[inner.source],
            result_types=[with_shape(buffer, shape)],
            properties=op.properties,
            attributes=op.attributes,
        )
        rewriter.replace(op, [made, cast_to(memref.CastOp, made.results[0], to)])


class ReadTensor(RewritePattern):
    """Read elements and sizes of a tensor in place of those of its buffer, which nobody writes."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite the users of a `bufferization.to_buffer`."""
        source, users = op.operands[0], [use.operation for use in op.results[0].uses]
        if not all(isinstance(user, memref.LoadOp | memref.DimOp) for user in users):
            return
        for user in users:
            kind = tensor.ExtractOp if isinstance(user, memref.LoadOp) else tensor.DimOp
            made = kind.create(
                operands=[source, *user.operands[1:]], result_types=[user.results[0].type]
            )
            rewriter.replace(user, made)


class SizeOfTensor(RewritePattern):
    """Take the size of a buffer in place of that of its tensor."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite the users of a `bufferization.to_tensor`."""
        for use in [*op.results[0].uses]:
            if isinstance(dim := use.operation, tensor.DimOp):
                rewriter.replace(dim, _size(op.operands[0], dim.index))


# Allocations


class ConstantAllocTensor(RewritePattern):
    """Write the constant sizes of a tensor that is allocated into its type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: bufferization.AllocTensorOp, rewriter: PatternRewriter, /
    ) -> None:
        shape = shape_of_type(op.tensor.type)
        if op.copy is not None or op.size_hint is not None or shape is None:
            return
        values = iter(op.dynamic_sizes)
        sizes = folded([next(values) if size == DYNAMIC else size for size in shape], 0)
        if (new := static_sizes(sizes)) != shape:
            made = bufferization.AllocTensorOp.build(
                operands=[[size for size in sizes if isinstance(size, SSAValue)], None, None],
                result_types=[with_shape(op.tensor.type, new)],
                attributes=op.attributes,
            )
            replace_with(rewriter, op, made)


# Clones


class CloneUncast(RewritePattern):
    """Clone what was cast."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `bufferization.clone`."""
        inner = op.operands[0].owner
        if isinstance(inner, memref.CastOp) and as_shaped(inner.source.type) is not None:
            op.operands[0] = inner.source
            rewriter.handle_operation_modification(op)


class DropClone(RewritePattern):
    """Use a buffer instead of its clone, if one of the two is freed in the block: the other one is
    not needed any more then. Source: `SimplifyClones` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `bufferization.clone`."""
        source, clone = op.operands[0], op.results[0]
        if clone.first_use is None:
            rewriter.erase(op)
            return
        if source.type != clone.type and not _is_castable(source.type, clone.type, surely=False):
            return
        of_source, of_clone = _frees(_viewed(source)), _frees(clone)
        if len(of_source) > 1 or len(of_clone) > 1:
            return
        # Both in one block may overlap in part only.
        here = [free for free in (*of_clone, *of_source) if free.parent is op.parent]
        if len(here) != 1 or here[0].name != "memref.dealloc":
            return
        # What is freed in between may be an alias.
        following = op.next_op
        while following is not here[0]:
            if following is None or class_effects[type(following)] & FREES:
                return
            following = following.next_op
        rewriter.erase(here[0])
        if source.type == clone.type:
            rewriter.replace(op, (), [source])
        else:
            rewriter.replace(op, cast_to(memref.CastOp, source, clone.type))


_VIEWS: Final = (
    *("memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.memory_space_cast"),
    *("memref.reinterpret_cast", "memref.reshape", "memref.subview", "memref.transpose"),
    *("memref.assume_alignment", "memref.view"),
)


def _viewed(value: SSAValue) -> SSAValue:
    """Return the buffer that views are of."""
    while isinstance(owner := value.owner, Operation) and owner.name in _VIEWS:
        value = owner.operands[0]
    return value


def _frees(value: SSAValue) -> list[Operation]:
    """Return the operations that free a buffer, or that move it."""
    users = (use.operation for use in value.uses)
    return [user for user in users if user.name in ("memref.dealloc", "memref.realloc")]


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "bufferization.alloc_tensor": (ConstantAllocTensor(),),
    _CLONE: (CloneUncast(), DropClone()),
    _TO_BUFFER: (BufferOfBuffer(), BufferOfCast(), ReadTensor()),
    _TO_TENSOR: (SizeOfTensor(),),
}
