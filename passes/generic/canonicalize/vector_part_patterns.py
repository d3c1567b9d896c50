"""Folds and patterns of `vector.extract_strided_slice` and `vector.insert_strided_slice`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from xdsl.dialects import vector
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Fold, Folded
from .constants import constant_of, dense_of_numbers, uniform_attribute, uniform_number
from .shapes import split
from .vector_values import (
    broadcast_to,
    dims,
    fits,
    indices_of,
    known_elements,
    numbers_in,
    offset_in,
    offsets_of,
    owner_named,
    splat_value,
)


def _array(numbers: Sequence[int]) -> ArrayAttr[Any]:
    return ArrayAttr([IntegerAttr(number, i64) for number in numbers])


def _same_splat(a: SSAValue, b: SSAValue) -> bool:
    """Return whether all elements of two vectors are the same value."""
    if (splat := splat_value(a)) is not None and splat is splat_value(b):
        return True
    first, second = constant_of(a), constant_of(b)
    number = uniform_number(first)
    if number is None or number != uniform_number(second):
        return False
    # Zero is equal to the negative one, and has other bits.
    return uniform_attribute(number, b.type) == second


# Extraction


def _fold_extraction(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to:
        return source
    if (number := uniform_number(constant_of(source))) is not None:
        return uniform_attribute(number, to)
    if (offsets := offsets_of(op)) is None:
        return None
    whole, sizes = dims(source.type), dims(to)
    if (numbers := known_elements(source)) is not None:
        taken = [
            offset_in([a + b for a, b in zip(offsets, indices_of(at, sizes), strict=True)], whole)
            for at in range(math.prod(sizes))
        ]
        return dense_of_numbers([numbers[at] for at in taken if at is not None], to)
    return _of_insertions(op, offsets, sizes, to)


def _of_insertions(
    op: Operation, offsets: Sequence[int], sizes: Sequence[int], to: Attribute
) -> Folded | None:
    """Return the part that was inserted; or take it out of the part that was, or out of what a
    part was inserted elsewhere into."""
    value = op.operands[0]
    while (made := owner_named(value, "vector.insert_strided_slice")) is not None:
        new, dest = made.operands
        if (places := offsets_of(made)) is None or min(dims(dest.type), default=1) < 0:
            break
        inner = dims(new.type)
        inner = (1,) * (len(places) - len(inner)) + inner
        rows = list(zip(offsets, sizes, places, inner, strict=True))
        if any(a + n <= b or b + m <= a for a, n, b, m in rows):
            value = dest
            continue
        if new.type == to and [*offsets] == places:
            return new
        is_inside = all(b <= a and a + n <= b + m for a, n, b, m in rows)
        if is_inside and len(dims(new.type)) == len(offsets):
            value, offsets = new, [a - b for a, b in zip(offsets, places, strict=True)]
            continue
        break
    if value is op.operands[0]:
        return None
    if value.type == to:
        return value
    op.operands[0] = value
    op.properties.update(
        offsets=_array(offsets), sizes=_array(sizes), strides=_array([1] * len(sizes))
    )
    return op.results[0]


class PartOfBroadcast(RewritePattern):
    """Broadcast to the type of the part, if it is whole in the dimensions of the operand."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.extract_strided_slice`."""
        made, to = op.operands[0].owner, op.results[0].type
        if isinstance(made, vector.BroadcastOp) and fits(dims(made.source.type), dims(to)):
            rewriter.replace(op, broadcast_to(made.source, to))


class PartOfMask(RewritePattern):
    """Make the mask of the part."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.extract_strided_slice`."""
        mask = owner_named(op.operands[0], "vector.constant_mask")
        if mask is None or (offsets := offsets_of(op)) is None:
            return
        to = op.results[0].type
        if min(dims(mask.results[0].type), default=1) < 0:
            return  # a set size is that of one repetition of a scalable dimension
        rows = zip(numbers_in(mask.properties["mask_dim_sizes"]), offsets, dims(to), strict=True)
        sizes = [max(0, min(size - offset, limit)) for size, offset, limit in rows]
        if 0 in sizes:
            sizes = [0] * len(sizes)
        rewriter.replace(
            op,
            type(mask).create(result_types=[to], properties={"mask_dim_sizes": split(sizes)[0]}),
        )


# Insertion


def _fold_insertion(op: Operation) -> Folded | None:
    new, dest = op.operands
    if new.type == dest.type:
        return new
    if _same_splat(new, dest):
        return dest
    if (offsets := offsets_of(op)) is None:
        return None
    part = owner_named(new, "vector.extract_strided_slice")
    if part is not None and part.operands[0] is dest and offsets_of(part) == offsets:
        return dest if len(dims(new.type)) == len(offsets) else None
    if (numbers := known_elements(dest)) is None or (values := known_elements(new)) is None:
        return None
    whole, sizes = dims(dest.type), dims(new.type)
    if min(whole, default=1) < 0:
        return None
    sizes = (1,) * (len(whole) - len(sizes)) + sizes
    changed = [*numbers]
    for at, number in enumerate(values):
        place = [a + b for a, b in zip(offsets, indices_of(at, sizes), strict=True)]
        if (index := offset_in(place, whole)) is None:
            return None
        changed[index] = number
    return dense_of_numbers(changed, op.results[0].type)


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.extract_strided_slice": _fold_extraction,
    "vector.insert_strided_slice": _fold_insertion,
}
NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "vector.extract_strided_slice": (PartOfBroadcast(), PartOfMask()),
}
