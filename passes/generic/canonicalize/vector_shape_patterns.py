"""Folds and patterns of `vector.shape_cast` and `vector.transpose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Fold, Folded
from .constants import constant_of, signed_integer, uniform_attribute, uniform_number
from .shapes import split
from .vector_values import (
    broadcast_to,
    core,
    dims,
    fits,
    indices_of,
    known_elements,
    made_of,
    numbers_in,
    owner_named,
    shape_of,
    splat_value,
    without_ones,
)

# Shapes


def _fold_shape_cast(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to:
        return source
    made = source.owner
    if (inner := owner_named(source, "vector.shape_cast")) is not None:
        op.operands[0] = inner.operands[0]
        return op.results[0]
    if (moved := owner_named(source, "vector.transpose")) is not None:
        if not _keeps_order(moved):
            return None
        op.operands[0] = moved.operands[0]
        return op.results[0]
    if isinstance(made, vector.BroadcastOp) and made.source.type == to:
        if without_ones(dims(to)) == without_ones(dims(source.type)):
            return made.source
    if (number := uniform_number(constant_of(source))) is not None:
        return uniform_attribute(number, to)
    numbers = known_elements(source)
    return None if numbers is None else made_of(numbers, to)


class ShapeOfBroadcast(RewritePattern):
    """Replace a `shape_cast` of a broadcast by the broadcast or by the `shape_cast` alone."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.shape_cast`."""
        made, to = op.operands[0].owner, op.results[0].type
        if not isinstance(made, vector.BroadcastOp):
            return
        inner, between, outer = dims(made.source.type), dims(made.results[0].type), dims(to)
        # The elements of the operand repeat in order only if none but the leading dimensions do.
        tail = core(inner)
        if inner and without_ones(inner) == without_ones(between):
            op.operands[0] = made.source
            rewriter.handle_operation_modification(op)
        elif fits(inner, outer) and all(
            not tail or sizes[-len(tail) :] == tail for sizes in (between, outer)
        ):
            rewriter.replace(op, broadcast_to(made.source, to))


class ShapeOfMask(RewritePattern):
    """Drop the trailing dimensions of size 1 of a mask, where they are set."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.shape_cast`."""
        source, to = op.operands[0], op.results[0].type
        before, after = dims(source.type), dims(to)
        kept = len(after)
        if not after or before[:kept] != after or set(before[kept:]) != {1}:
            return
        if (mask := owner_named(source, "vector.create_mask")) is not None:
            if all((signed_integer(size) or 0) > 0 for size in mask.operands[kept:]):
                new = type(mask).create(operands=mask.operands[:kept], result_types=[to])
                rewriter.replace(op, new)
        elif (mask := owner_named(source, "vector.constant_mask")) is not None:
            sizes = numbers_in(mask.properties["mask_dim_sizes"])
            if all(sizes[kept:]):
                rewriter.replace(
                    op,
                    type(mask).create(
                        result_types=[to], properties={"mask_dim_sizes": split(sizes[:kept])[0]}
                    ),
                )


class ShapeOfPart(RewritePattern):
    """Extract the vector at a position, where a part of size 1 in the leading dimensions and whole
    in the others loses the former."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.shape_cast`."""
        if (part := owner_named(op.operands[0], "vector.extract_strided_slice")) is None:
            return
        whole, sizes = dims(part.operands[0].type), dims(part.results[0].type)
        result = dims(op.results[0].type)
        lost = len(whole) - len(result)
        if lost < 1 or whole[lost:] != result or sizes != (1,) * lost + result:
            return
        offsets = numbers_in(part.properties["offsets"])[:lost]
        if len(offsets) == lost and set(numbers_in(part.properties["strides"])) <= {1}:
            rewriter.replace(
                op,
                vector.ExtractOp.create(
                    operands=[part.operands[0]],
                    result_types=[op.results[0].type],
                    properties={"static_position": split(offsets)[0]},
                ),
            )


# Transposes


def _permutation(op: Operation) -> list[int]:
    return numbers_in(op.properties["permutation"])


def _keeps_order(op: Operation) -> bool:
    """Return whether a transpose moves nothing but dimensions of size 1."""
    sizes = dims(op.operands[0].type)
    moved = [place for place in _permutation(op) if sizes[place] != 1]
    return moved == sorted(moved)


def _fold_transpose(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to and _keeps_order(op):
        return source
    number = uniform_number(constant_of(source))
    return None if number is None else uniform_attribute(number, to)


class TransposeOfTranspose(RewritePattern):
    """Replace two transposes by one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.transpose`."""
        if (inner := owner_named(op.operands[0], "vector.transpose")) is None:
            return
        before = _permutation(inner)
        order = [before[place] for place in _permutation(op)]
        rewriter.replace(
            op,
            type(op).create(
                operands=[inner.operands[0]],
                result_types=[op.results[0].type],
                properties={"permutation": DenseArrayBase.from_list(i64, order)},
            ),
        )


class TransposeOfBroadcast(RewritePattern):
    """Broadcast to the permuted type, if no dimension of more elements of the operand is moved."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.transpose`."""
        made, to = op.operands[0].owner, op.results[0].type
        if not isinstance(made, vector.BroadcastOp):
            return
        order, inner = _permutation(op), dims(made.source.type)
        first = len(order) - len(inner)
        stays = all(
            size == 1 or order[first + index] == first + index for index, size in enumerate(inner)
        )
        if splat_value(made.results[0]) is not None or (stays and fits(inner, dims(to))):
            rewriter.replace(op, broadcast_to(made.source, to))


class TransposeOfMask(RewritePattern):
    """Make the mask of the permuted sizes."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.transpose`."""
        order, to = _permutation(op), op.results[0].type
        if (mask := owner_named(op.operands[0], "vector.create_mask")) is not None:
            operands = [mask.operands[place] for place in order]
            rewriter.replace(op, type(mask).create(operands=operands, result_types=[to]))
        elif (mask := owner_named(op.operands[0], "vector.constant_mask")) is not None:
            sizes = numbers_in(mask.properties["mask_dim_sizes"])
            properties = {"mask_dim_sizes": split([sizes[place] for place in order])[0]}
            rewriter.replace(op, type(mask).create(result_types=[to], properties=properties))


class TransposeOfElements(RewritePattern):
    """Make the permuted vector of the elements."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.transpose`."""
        if (made := owner_named(op.operands[0], "vector.from_elements")) is None:
            return
        to = op.results[0].type
        rewriter.replace(
            op,
            type(made).create(
                operands=_permuted(
                    made.operands, shape_of(made.results[0].type), shape_of(to), _permutation(op)
                ),
                result_types=[to],
            ),
        )


def _permuted(
    items: Sequence[SSAValue], source: Sequence[int], result: Sequence[int], order: Sequence[int]
) -> list[SSAValue]:
    """Return elements in row-major order of the permuted shape."""
    steps = [1] * len(source)
    for index in range(len(source) - 2, -1, -1):
        steps[index] = steps[index + 1] * source[index + 1]
    return [
        items[sum(i * steps[place] for i, place in zip(indices_of(at, result), order, strict=True))]
        for at in range(len(items))
    ]


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.shape_cast": _fold_shape_cast,
    "vector.transpose": _fold_transpose,
}
NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "vector.shape_cast": (ShapeOfBroadcast(), ShapeOfMask(), ShapeOfPart()),
    "vector.transpose": (
        TransposeOfTranspose(),
        TransposeOfBroadcast(),
        TransposeOfMask(),
        TransposeOfElements(),
    ),
}
