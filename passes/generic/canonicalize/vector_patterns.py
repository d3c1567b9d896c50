"""Folds and patterns of `vector`, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects import arith, vector
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.text.printer import is_dense
from ....passmanager.releases.poison import poison
from .by_dialect import Entry, Fold, Folded
from .constants import constant_of, dense_of_bytes, uniform_attribute, uniform_number
from .scalar_values import element_of, is_shaped
from .shapes import Size, folded, split, static_list
from .slice_patterns import TakeUncast
from .vector_extract_patterns import EXTRACTS
from .vector_insert_patterns import INSERTS
from .vector_transfer_patterns import TRANSFERS
from .vector_values import (
    Access,
    access_like,
    broadcast_source,
    broadcast_to,
    core,
    dims,
    fits,
    known_elements,
    made_of,
    numbers_in,
    offset_in,
    owner_named,
    position_of,
    shape_of,
    splat_value,
)

# Broadcasts


def _fold_broadcast(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to:
        return source
    number = uniform_number(constant_of(source))
    return None if number is None else uniform_attribute(number, to)


class MergeBroadcasts(RewritePattern):
    """Replace two broadcasts, or one of a `shape_cast` about leading dimensions of size 1, by
    one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.BroadcastOp, rewriter: PatternRewriter, /) -> None:
        inner = op.source.owner
        if isinstance(inner, vector.BroadcastOp):
            source = inner.source
        elif (cast_op := owner_named(op.source, "vector.shape_cast")) is not None:
            source = cast_op.operands[0]
            if core(dims(source.type)) != core(dims(op.source.type)):
                return
            if not fits(dims(source.type), dims(op.results[0].type)):
                return
        else:
            return
        op.operands[0] = source
        rewriter.handle_operation_modification(op)


# Elements


def _fold_extract(op: Operation) -> Folded | None:
    assert isinstance(op, vector.ExtractOp)
    position, source, to = position_of(op), op.vector, op.result.type
    if not position and source.type == to:
        return source
    if (number := uniform_number(constant_of(source))) is not None and -1 not in position:
        return uniform_attribute(number, to)
    if (splat := splat_value(source)) is not None and not is_shaped(to) and -1 not in position:
        return splat
    if (broadcast := _of_broadcast(op)) is not None:
        return broadcast
    start = offset_in(position, shape_of(source.type))
    if start is not None and (numbers := known_elements(source)) is not None:
        return made_of(numbers[start : start + math.prod(shape_of(to))], to)
    if start is not None and not is_shaped(to):
        if (made := owner_named(source, "vector.from_elements")) is not None:
            return made.operands[start]
    return _of_insertions(op, position)


def _of_broadcast(op: vector.ExtractOp) -> Folded | None:
    """Return the operand of a broadcast to leading dimensions, all of which are indexed."""
    source = broadcast_source(op.vector)
    if source is None or source.type != op.result.type:
        return None
    extra = len(shape_of(op.vector.type)) - len(shape_of(op.result.type))
    return source if extra == len(position_of(op)) and -1 not in position_of(op) else None


def _of_insertions(op: vector.ExtractOp, position: Sequence[Size]) -> Folded | None:
    """Return what was inserted at a place; or take it out of what was inserted elsewhere into."""
    value, changed = op.vector, False
    while isinstance(made := value.owner, vector.InsertOp):
        place = position_of(made)
        if _same_place(place, position):
            return made.source if made.source.type == op.result.type else None
        shared = list(zip(place, position, strict=False))
        if not any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in shared):
            break
        value, changed = made.dest, True
    if changed:
        op.operands[0] = value
        return op.result
    return None


def _same_place(a: Sequence[Size], b: Sequence[Size]) -> bool:
    return len(a) == len(b) and all(x is y or x == y for x, y in zip(a, b, strict=True))


def _fold_insert(op: Operation) -> Folded | None:
    assert isinstance(op, vector.InsertOp)
    position, source, dest = position_of(op), op.source, op.dest
    if not position and source.type == dest.type:
        return source
    start = offset_in(position, shape_of(dest.type))
    splat = splat_value(dest)
    if splat is not None and (splat is source or splat_value(source) is splat):
        return dest if -1 not in position else None
    below = dest.owner
    if isinstance(below, vector.InsertOp) and _same_place(position_of(below), position):
        op.operands[1] = below.dest  # it is overwritten
        return op.result
    if start is None:
        return None
    number = uniform_number(constant_of(source))
    count = math.prod(shape_of(source.type))
    new = [number] * count if number is not None else known_elements(source)
    if new is None:
        return None
    if count == math.prod(dims(dest.type)) and min(dims(dest.type), default=1) > 0:
        return made_of(new, op.result.type)
    if (numbers := known_elements(dest)) is None:
        return None
    return made_of([*numbers[:start], *new, *numbers[start + count :]], op.result.type)


class MergeExtracts(RewritePattern):
    """Take an element out of the vector that another vector was taken out of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        inner = op.vector.owner
        if isinstance(inner, vector.ExtractOp):
            position = [*position_of(inner), *position_of(op)]
            static, dynamic = split(position)
            rewriter.replace(op, access_like(op, [inner.vector], static, dynamic))


class ConstantPosition(RewritePattern):
    """Write the constant indices of an element into the property."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Access, rewriter: PatternRewriter, /) -> None:
        if not op.dynamic_position:
            return
        old = position_of(op)
        heads = op.operands[: len(op.operands) - len(op.dynamic_position)]
        whole = heads[-1] if isinstance(op, vector.InsertOp) else heads[0]
        new = [
            size if isinstance(number, int) and number >= limit else number
            for size, number, limit in zip(old, folded(old, -1), shape_of(whole.type), strict=False)
        ]
        if any(a is not b for a, b in zip(old, new, strict=True)):
            static, dynamic = split(new)
            rewriter.replace(op, access_like(op, heads, static, dynamic))


class PoisonPosition(RewritePattern):
    """Replace an element at the place -1 by poison."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Access, rewriter: PatternRewriter, /) -> None:
        if -1 in position_of(op):
            rewriter.replace(op, poison(op.results[0].type))


class ExtractOfBroadcast(RewritePattern):
    """Broadcast to the type of what is taken out of a broadcast to more dimensions, or take it out
    of what is broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        source, to = broadcast_source(op.vector), op.result.type
        if source is None or -1 in position_of(op):
            return
        inner, outer = dims(source.type), dims(to)
        extra = len(shape_of(op.vector.type)) - len(inner)
        position = position_of(op)[extra:]
        is_element = is_shaped(source.type) and not is_shaped(to)
        if (position or is_element) and inner[len(position) :] == outer:
            # A dimension of size 1 that was repeated has one element only.
            place = [0 if size == 1 else i for i, size in zip(position, inner, strict=False)]
            static, dynamic = split(place)
            rewriter.replace(op, access_like(op, [source], static, dynamic))
            return
        if is_shaped(to) and fits(inner, outer):
            rewriter.replace(op, broadcast_to(source, to))


class ExtractOfShuffle(RewritePattern):
    """Take an element out of the vector that a shuffle took it out of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        made, position = op.vector.owner, position_of(op)
        if not isinstance(made, vector.ShuffleOp) or len(position) != 1:
            return
        mask, first = static_list(made.mask), (shape_of(made.v1.type) or (1,))[0]
        index = position[0]
        if not isinstance(index, int) or not 0 <= index < len(mask) or mask[index] < 0:
            return
        is_first = mask[index] < first
        source = made.v1 if is_first else made.v2
        place: list[Size] = [mask[index] if is_first else mask[index] - first]
        if not shape_of(source.type):
            return
        rewriter.replace(op, access_like(op, [source], split(place)[0], ()))


# Bits


def _fold_bitcast(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to:
        return source
    if isinstance(source.owner, vector.BitcastOp):
        op.operands[0] = source.owner.source
        return op.results[0]
    constant = constant_of(source)
    if constant is None or not is_dense(constant) or not is_shaped(to):
        return None
    return dense_of_bytes(constant.data.data, to) if _whole_bytes(source.type, to) else None


def _whole_bytes(*types: Attribute) -> bool:
    """Return whether the elements of vectors have no bits of padding."""
    widths = [getattr(element_of(type), "bitwidth", 1) for type in types]
    return all(isinstance(width, int) and width % 8 == 0 for width in widths)


def _fold_multi_reduction(op: Operation) -> Folded | None:
    """Fold a reduction of a vector of one dimension, along none."""
    source = op.operands[0]
    is_none = len(dims(source.type)) == 1 and not numbers_in(op.properties["reduction_dims"])
    return source if is_none and source.type == op.results[0].type else None


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.bitcast": _fold_bitcast,
    "vector.broadcast": _fold_broadcast,
    "vector.extract": _fold_extract,
    "vector.insert": _fold_insert,
    "vector.multi_reduction": _fold_multi_reduction,
}


class ReduceOne(RewritePattern):
    """Replace a reduction of one element by the element, combined with the accumulator."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ReductionOp, rewriter: PatternRewriter, /) -> None:
        shape = shape_of(op.vector.type)
        if math.prod(shape) != 1 or len(shape) > 1:
            return
        combine = _COMBINE.get(str(op.kind.data), None) if op.acc is not None else None
        if op.acc is not None and combine is None:
            return
        static, _ = split([0] * len(shape))
        element = vector.ExtractOp.create(
            operands=[op.vector],
            result_types=[op.dest.type],
            properties={"static_position": static},
        )
        if op.acc is None or combine is None:
            rewriter.replace(op, element)
            return
        is_float = issubclass(combine, arith.FloatingPointLikeBinaryOperation)
        both = combine.create(
            operands=[element.results[0], op.acc],
            result_types=[op.dest.type],
            properties={"fastmath": op.fastmath} if is_float else {},
        )
        rewriter.replace(op, [element, both])


_COMBINE: Final[Mapping[str, type[Operation]]] = {
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "minsi": arith.MinSIOp,
    "maxsi": arith.MaxSIOp,
    "minui": arith.MinUIOp,
    "maxui": arith.MaxUIOp,
    "minimumf": arith.MinimumfOp,
    "maximumf": arith.MaximumfOp,
    "minnumf": arith.MinnumfOp,
    "maxnumf": arith.MaxnumfOp,
}

_UNCAST: Final = {
    "vector.load": (0,),
    "vector.maskedload": (0,),
    "vector.maskedstore": (0,),
    "vector.store": (1,),
    "vector.transfer_read": (0,),
    "vector.transfer_write": (1,),
}
"""The operands that may as well be what was cast."""

NAMED: Final[Mapping[str, Sequence[Entry]]] = {"vector.insert": INSERTS}
PATTERNS: Final[tuple[RewritePattern, ...]] = (
    TakeUncast(_UNCAST),
    MergeBroadcasts(),
    MergeExtracts(),
    ConstantPosition(),
    PoisonPosition(),
    ExtractOfBroadcast(),
    ExtractOfShuffle(),
    ReduceOne(),
    *EXTRACTS,
    *TRANSFERS,
)
