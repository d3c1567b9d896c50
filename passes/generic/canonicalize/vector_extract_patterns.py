"""Patterns of `vector.extract` from masks, parts, transposes and casts of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from xdsl.dialects import arith, vector
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .constants import signed_integer, uniform_attribute
from .scalar_values import is_shaped
from .shapes import Size, split
from .vector_values import (
    access_like,
    dims,
    indices_of,
    numbers_in,
    offset_in,
    offsets_of,
    owner_named,
    position_of,
)


def _extract(
    rewriter: PatternRewriter, op: vector.ExtractOp, source: SSAValue, position: Sequence[Size]
) -> None:
    """Replace `op` by the element or vector at a position of another vector."""
    if not position and source.type == op.result.type:
        rewriter.replace(op, (), [source])
    else:
        static, dynamic = split(position)
        rewriter.replace(op, access_like(op, [source], static, dynamic))


class ExtractOfMask(RewritePattern):
    """Make the mask of the inner dimensions, or no mask where an outer dimension is not set."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        source, to, position = op.vector, op.result.type, position_of(op)
        sizes: list[int | None]
        if (mask := owner_named(source, "vector.create_mask")) is not None:
            sizes = [signed_integer(size) for size in mask.operands]
        elif (mask := owner_named(source, "vector.constant_mask")) is not None:
            sizes = [*numbers_in(mask.properties["mask_dim_sizes"])]
        else:
            return
        rows = [*zip(position, sizes, dims(source.type), strict=False)]
        if not position or -1 in position:
            return
        outside = any(
            size is not None and (size <= 0 or (isinstance(index, int) and index >= size))
            for index, size, _ in rows
        )
        inside = all(
            size is not None and (index < size if isinstance(index, int) else 0 < limit <= size)
            for index, size, limit in rows
        )
        if outside or (inside and not is_shaped(to)):
            if (constant := uniform_attribute(int(inside), to)) is not None:
                rewriter.replace(op, arith.ConstantOp(constant))
        elif inside:
            properties = dict(mask.properties)
            if not mask.operands:
                inner = numbers_in(properties["mask_dim_sizes"])[len(position) :]
                properties["mask_dim_sizes"] = split(inner)[0]
            new = type(mask).create(
                operands=mask.operands[len(position) :], result_types=[to], properties=properties
            )
            rewriter.replace(op, new)


class ExtractOfPart(RewritePattern):
    """Take an element or vector out of the vector that a part was taken out of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        position = position_of(op)
        part = owner_named(op.vector, "vector.extract_strided_slice")
        if part is None or -1 in position or (offsets := offsets_of(part)) is None:
            return
        count = len(position)
        source = part.operands[0]
        if dims(source.type)[count:] != dims(part.results[0].type)[count:]:
            return
        place = _shifted(position, offsets[:count])
        if place is not None:
            _extract(rewriter, op, source, place)


def _shifted(position: Sequence[Size], offsets: Sequence[int]) -> list[Size] | None:
    """Return a position with offsets added; None if an index is not known."""
    place: list[Size] = []
    for index, offset in zip(position, offsets, strict=True):
        if isinstance(index, SSAValue) and offset:
            return None
        place.append(index if isinstance(index, SSAValue) else index + offset)
    return place


class ExtractOfInsertedPart(RewritePattern):
    """Take an element or vector out of the part that was inserted, or out of what a part was
    inserted elsewhere into."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        position, value = position_of(op), op.vector
        if any(isinstance(index, SSAValue) or index < 0 for index in position):
            return
        indices = [index for index in position if isinstance(index, int)]
        while (made := owner_named(value, "vector.insert_strided_slice")) is not None:
            new, dest = made.operands
            whole = dims(dest.type)
            if (offsets := offsets_of(made)) is None or min(whole, default=1) < 0:
                break
            inner = dims(new.type)
            lost = len(whole) - len(inner)
            inner = (1,) * lost + inner
            rows = zip(indices, offsets, inner, strict=False)
            if not all(offset <= index < offset + size for index, offset, size in rows):
                value = dest
                continue
            count = len(indices)
            if count >= lost and inner[count:] == whole[count:]:
                place = [index - offset for index, offset in zip(indices, offsets, strict=False)]
                _extract(rewriter, op, new, place[lost:])
                return
            break
        if value is not op.vector:
            _extract(rewriter, op, value, position)


class ExtractOfTranspose(RewritePattern):
    """Take an element or vector out of a vector before its outer dimensions are permuted."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        position = position_of(op)
        made = owner_named(op.vector, "vector.transpose")
        if made is None or -1 in position:
            return
        order, count = numbers_in(made.properties["permutation"]), len(position)
        if order[count:] != [*range(count, len(order))]:
            return
        place = [index for _, index in sorted(zip(order, position, strict=False), key=_first)]
        _extract(rewriter, op, made.operands[0], place)


def _first(row: tuple[int, Size]) -> int:
    return row[0]


class ExtractOfElements(RewritePattern):
    """Make the vector of the elements that are taken out of a vector of elements."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        made = owner_named(op.vector, "vector.from_elements")
        to = op.result.type
        if made is None or not is_shaped(to):
            return
        if (start := offset_in(position_of(op), dims(op.vector.type))) is not None:
            elements = made.operands[start : start + math.prod(dims(to))]
            rewriter.replace(op, type(made).create(operands=elements, result_types=[to]))


class ExtractOfShapeCast(RewritePattern):
    """Take an element or vector out of a vector before its shape is changed, or cast the whole
    vector."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        if (made := owner_named(op.vector, "vector.shape_cast")) is None:
            return
        source, to = made.operands[0], op.result.type
        before, after, result = dims(source.type), dims(op.vector.type), dims(to)
        if min((*before, *after), default=1) < 0:
            return
        start, count = offset_in(position_of(op), after), math.prod(result)
        if start is None:
            return
        lost = len(before) - len(result)
        if lost >= 0 and before[lost:] == result:
            _extract(rewriter, op, source, indices_of(start // count, before[:lost]))
        elif result and count == math.prod(before):
            rewriter.replace(op, _cast(made, source, op))


def _cast(like: Operation, source: SSAValue, op: vector.ExtractOp) -> Operation:
    return type(like).create(operands=[source], result_types=[op.result.type])


EXTRACTS: Final[tuple[RewritePattern, ...]] = (
    ExtractOfMask(),
    ExtractOfPart(),
    ExtractOfInsertedPart(),
    ExtractOfTranspose(),
    ExtractOfElements(),
    ExtractOfShapeCast(),
)
