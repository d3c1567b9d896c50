"""Folds and patterns of `vector`, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.text.printer import is_dense
from ....passmanager.releases.poison import poison
from .by_dialect import Fold, Folded
from .constants import (
    constant_of,
    dense_of_bytes,
    dense_of_numbers,
    signed_integer,
    uniform_attribute,
    uniform_number,
)
from .scalar_folds import MAX_ELEMENTS
from .scalar_values import Number, element_of, is_shaped
from .shapes import Size, folded, split, static_list
from .slice_patterns import TakeUncast
from .vector_extract_patterns import EXTRACTS
from .vector_transfer_patterns import TRANSFERS
from .vector_values import (
    Access,
    access_like,
    broadcast_source,
    broadcast_to,
    core,
    dims,
    fits,
    indices_of,
    is_poison,
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


# Shuffles and bits


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


def _fold_constant_mask(op: Operation) -> Folded | None:
    """Fold a mask of which all or no elements are set."""
    to, sizes = op.results[0].type, numbers_in(op.properties["mask_dim_sizes"])
    if 0 in sizes:
        return uniform_attribute(0, to)
    return uniform_attribute(1, to) if sizes == [*shape_of(to)] and sizes else None


def _fold_mask(op: Operation) -> Folded | None:
    """Fold a mask of which all or no elements are set."""
    shape, sizes = shape_of(op.results[0].type), [signed_integer(size) for size in op.operands]
    type = cast("VectorType[Attribute]", op.results[0].type)
    is_scalable = any(bool(flag.value.data) for flag in type.scalable_dims)
    if any(size is not None and size <= 0 for size in sizes) and shape:
        return uniform_attribute(0, type)
    known = [size for size in sizes if size is not None]
    if is_scalable or len(known) < len(sizes) or not shape:
        return None
    if all(size >= limit for size, limit in zip(known, shape, strict=True)):
        return uniform_attribute(1, type)
    if math.prod(shape) > MAX_ELEMENTS:
        return None
    numbers = [
        int(all(index < size for index, size in zip(indices_of(i, shape), known, strict=True)))
        for i in range(math.prod(shape))
    ]
    return dense_of_numbers(numbers, type)


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.bitcast": _fold_bitcast,
    "vector.broadcast": _fold_broadcast,
    "vector.constant_mask": _fold_constant_mask,
    "vector.create_mask": _fold_mask,
    "vector.extract": _fold_extract,
    "vector.insert": _fold_insert,
    "vector.shuffle": _fold_shuffle,
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

PATTERNS: Final[tuple[RewritePattern, ...]] = (
    TakeUncast(_UNCAST),
    MergeBroadcasts(),
    MergeExtracts(),
    ConstantPosition(),
    PoisonPosition(),
    ExtractOfBroadcast(),
    ExtractOfShuffle(),
    ShuffleOfPoison(),
    ReduceOne(),
    *EXTRACTS,
    *TRANSFERS,
)
