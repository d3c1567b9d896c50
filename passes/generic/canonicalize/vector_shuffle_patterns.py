"""Folds and patterns of `vector.shuffle`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from xdsl.context import Context
from xdsl.dialects import arith, vector
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .by_dialect import Entry, Fold, Folded, known_op
from .constants import dense_of_numbers
from .scalar_values import Number
from .shapes import static_list
from .vector_values import broadcast_to, dims, is_poison, known_elements, shape_of, splat_value


def _fold_shuffle(op: Operation) -> Folded | None:
    assert isinstance(op, vector.ShuffleOp)
    mask = static_list(op.mask)
    first, second = shape_of(op.v1.type), shape_of(op.v2.type)
    if not first or not second:
        return None
    count = first[0]
    if mask == list(range(count)):
        return op.v1
    if mask == list(range(count, count + second[0])):
        return op.v2
    a, b = known_elements(op.v1), known_elements(op.v2)
    if a is None or b is None or len(first) > 1 or -1 in mask:
        return None
    both = [*a, *b]
    return dense_of_numbers([both[index] for index in mask], op.result.type)


FOLDS: Final[Mapping[str, Fold]] = {"vector.shuffle": _fold_shuffle}


class ShuffleOfPoison(RewritePattern):
    """Take the elements of a shuffle of constants and poison, of which any value will do, from the
    constant; a shuffle of one scalar broadcast is the broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ShuffleOp, rewriter: PatternRewriter, /) -> None:
        splat = splat_value(op.v1)
        if splat is not None and splat_value(op.v2) is splat:
            rewriter.replace(
                op, vector.BroadcastOp.create(operands=[splat], result_types=[op.result.type])
            )
            return
        shape = shape_of(op.v1.type)
        a, b = known_elements(op.v1), known_elements(op.v2)
        undefined = list(map(is_poison, (op.v1, op.v2)))
        mask = static_list(op.mask)
        if all(undefined):
            rewriter.replace(
                op,
                type(cast(Operation, op.v1.owner)).create(
                    result_types=[op.result.type],
                    properties=cast(Operation, op.v1.owner).properties,
                ),
            )
            return
        if len(shape) != 1 or (a is None and b is None):
            return
        if ((a is None or b is None) and not any(undefined)) or (
            -1 not in mask and not any(undefined)
        ):
            return
        both: list[Number | None] = [*(a or [None] * shape[0])]
        both += b or [None] * shape_of(op.v2.type)[0]
        numbers = [both[index] if index >= 0 else None for index in mask]
        found = [number for number in numbers if number is not None]
        if found:
            chosen = [found[0] if number is None else number for number in numbers]
            if (made := dense_of_numbers(chosen, op.result.type)) is not None:
                rewriter.replace(op, arith.ConstantOp(made))


class ShuffleOfOne(RewritePattern):
    """Broadcast the one element that is taken out of two vectors without dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ShuffleOp, rewriter: PatternRewriter, /) -> None:
        mask = static_list(op.mask)
        if not shape_of(op.v1.type) and len(mask) == 1 and mask[0] >= 0:
            rewriter.replace(op, broadcast_to((op.v1, op.v2)[mask[0]], op.result.type))


class Interleave(RewritePattern):
    """Replace a shuffle that takes the elements of two vectors in turn by `vector.interleave`."""

    def __init__(self, ctx: Context) -> None:
        self.made = known_op(ctx, "vector.interleave")

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ShuffleOp, rewriter: PatternRewriter, /) -> None:
        sizes, to = dims(op.v1.type), op.result.type
        if self.made is None or op.v1.type != op.v2.type or len(dims(to)) != 1:
            return
        count = sizes[0] if sizes else 1
        if count > 0 and static_list(op.mask) == [n for i in range(count) for n in (i, count + i)]:
            rewriter.replace(op, self.made.create(operands=[op.v1, op.v2], result_types=[to]))


PATTERNS: Final[tuple[Entry, ...]] = (ShuffleOfPoison(), ShuffleOfOne(), Interleave)
