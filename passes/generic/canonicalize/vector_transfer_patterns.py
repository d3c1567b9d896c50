"""Patterns of `vector.transfer_read` and `vector.transfer_write`: masks of which all elements are
set, and the accesses of a tensor that meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .constants import constant_integer, signed_integer
from .shapes import shape_of_type
from .vector_values import broadcast_to, dims, fits, numbers_in

Transfer: TypeAlias = vector.TransferReadOp | vector.TransferWriteOp
_MAX_WRITES: Final = 8
"""The writes that are looked at below a transfer, so that a long chain takes linear time."""


def _vector_type(op: Transfer) -> Attribute:
    value = op.result if isinstance(op, vector.TransferReadOp) else op.vector
    return value.type


def _is_tensor(op: Transfer) -> bool:
    return isinstance(op.source.type, TensorType)


def _dimensions(op: Transfer) -> list[int] | None:
    """Return the dimension of the memory of each dimension of the vector; None if one is repeated
    or if the elements are vectors."""
    results = op.permutation_map.data.results
    places = [result.position for result in results if isinstance(result, AffineDimExpr)]
    return places if len(places) == len(dims(_vector_type(op))) else None


def _is_in_bounds(op: Transfer) -> bool:
    """Return whether no access is outside of the memory."""
    if (places := _dimensions(op)) is None:
        return False
    shape = shape_of_type(op.source.type) or []
    for place, size, flag in zip(places, dims(_vector_type(op)), op.in_bounds, strict=True):
        if flag.value.data:
            continue
        start = signed_integer(op.indices[place])
        if start is None or size < 0 or not 0 <= start <= shape[place] - size:
            return False
    return True


def _same_place(a: Transfer, b: Transfer) -> bool:
    """Return whether two transfers are about the same elements, in the same order."""
    return (
        _vector_type(a) == _vector_type(b)
        and a.permutation_map == b.permutation_map
        and all(x is y for x, y in zip(a.indices, b.indices, strict=True))
    )


def _are_apart(a: Transfer, b: Transfer) -> bool:
    """Return whether two transfers of one type have no element in common."""
    places = _dimensions(a)
    if _vector_type(a) != _vector_type(b) or places is None or places != _dimensions(b):
        return False
    sizes = dict(zip(places, dims(_vector_type(a)), strict=True))
    for place, (x, y) in enumerate(zip(a.indices, b.indices, strict=True)):
        first, second, size = signed_integer(x), signed_integer(y), sizes.get(place, 1)
        if first is not None and second is not None and 0 < size <= abs(first - second):
            return True
    return False


def _writes_below(op: Transfer) -> Iterator[vector.TransferWriteOp]:
    """Yield the write that makes the tensor of a transfer, then those below writes elsewhere."""
    below = op.source.owner
    for _ in range(_MAX_WRITES):
        if not isinstance(below, vector.TransferWriteOp):
            return
        yield below
        if not _are_apart(op, below):
            return
        below = below.source.owner


class DropFullMask(RewritePattern):
    """Drop a mask of which all elements are set."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Transfer, rewriter: PatternRewriter, /) -> None:
        if op.mask is None or constant_integer(op.mask) != 1:
            return
        sizes = numbers_in(op.properties["operandSegmentSizes"])
        segments = DenseArrayBase.from_list(i32, [*sizes[:-1], 0])
        new = op.__class__.create(
            operands=op.operands[:-1],
            result_types=op.result_types,
            properties={**op.properties, "operandSegmentSizes": segments},
            attributes=op.attributes,
        )
        rewriter.replace(op, new)


class ReadOfWrite(RewritePattern):
    """Replace a read of a tensor by the vector that was written there, broadcast if the read has
    more leading dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.TransferReadOp, rewriter: PatternRewriter, /) -> None:
        if op.mask is not None or not _is_tensor(op):
            return
        for write in _writes_below(op):
            if write.mask is not None or not _is_in_bounds(write):
                continue
            if _same_place(write, op):
                rewriter.replace(op, (), [write.vector])
                return
            if _repeats(op, write):
                rewriter.replace(op, broadcast_to(write.vector, op.result.type))
                return


def _repeats(read: vector.TransferReadOp, write: vector.TransferWriteOp) -> bool:
    """Return whether a read has the dimensions of a write after others that are repeated, or that
    have one element."""
    results, places = read.permutation_map.data.results, _dimensions(write)
    extra = len(results) - len(places or ())
    if places is None or extra < 0 or len(results) != len(dims(read.result.type)):
        return False
    inner, outer = dims(write.vector.type), dims(read.result.type)
    if inner != outer[extra:] or not fits(inner, outer):
        return False
    if any(x is not y for x, y in zip(read.indices, write.indices, strict=True)):
        return False
    shape = shape_of_type(read.source.type) or []
    for result, size in zip(results[:extra], outer, strict=False):
        if isinstance(result, AffineDimExpr):
            start = signed_integer(read.indices[result.position])
            if size != 1 or shape[result.position] != 1 or start != 0:
                return False
    rest = [r.position for r in results[extra:] if isinstance(r, AffineDimExpr)]
    return rest == places


class WriteToTensor(RewritePattern):
    """Drop a write whose tensor is not used, one of what was read there, and a write below that is
    overwritten."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.TransferWriteOp, rewriter: PatternRewriter, /) -> None:
        if not _is_tensor(op) or op.result is None:
            return
        if op.result.first_use is None:
            rewriter.erase(op)
            return
        read = op.vector.owner
        if isinstance(read, vector.TransferReadOp) and read.source is op.source:
            # What is out of bounds is padding that is not written.
            if read.mask is None and _same_place(read, op):
                rewriter.replace(op, (), [op.source])
                return
        above: Operation = op
        for write in _writes_below(op):
            if write.mask is op.mask and _same_place(write, op):
                above.operands[1] = write.source
                rewriter.handle_operation_modification(above)
                return
            if write.result is None or not write.result.has_one_use():
                return
            above = write


TRANSFERS: Final[tuple[RewritePattern, ...]] = (DropFullMask(), ReadOfWrite(), WriteToTensor())
