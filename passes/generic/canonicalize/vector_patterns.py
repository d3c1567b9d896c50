"""Folds and patterns of `vector`, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.text.printer import is_dense
from .by_dialect import Fold, Folded
from .constants import (
    constant_of,
    dense_of_bytes,
    dense_of_numbers,
    numbers_of,
    signed_integer,
    uniform_attribute,
    uniform_number,
)
from .scalar_folds import MAX_ELEMENTS
from .scalar_values import Number, element_of, is_shaped
from .shapes import Size, folded, mixed, split, static_list
from .slice_patterns import TakeUncast, fold_cast

Access: TypeAlias = vector.ExtractOp | vector.InsertOp


def _shape(type: Attribute) -> tuple[int, ...]:
    """Return the sizes of a vector; none for a scalar."""
    return tuple(type.get_shape()) if is_shaped(type) else ()


def _position(op: Access) -> list[Size]:
    """Return the place of the element, or of the vector, that an operation is about."""
    return mixed(op.static_position, op.dynamic_position)


def _offset(position: Sequence[Size], shape: Sequence[int]) -> int | None:
    """Return the number of elements before a place in row-major order, or None."""
    offset = 0
    for index, size in zip(position, shape, strict=False):
        if not isinstance(index, int) or not 0 <= index < size:
            return None
        offset = offset * size + index
    return offset * math.prod(shape[len(position) :])


def _known_elements(value: SSAValue) -> Sequence[Number] | None:
    """Return the elements of a constant vector, if they are not too many."""
    constant = constant_of(value)
    if constant is None or not is_dense(constant) or len(constant) > MAX_ELEMENTS:
        return None
    return numbers_of(constant)


def _made_of(numbers: Sequence[Number], type: Attribute) -> Folded | None:
    return (
        dense_of_numbers(numbers, type) if is_shaped(type) else uniform_attribute(numbers[0], type)
    )


# Broadcasts


def _fold_broadcast(op: Operation) -> Folded | None:
    source, to = op.operands[0], op.results[0].type
    if source.type == to:
        return source
    number = uniform_number(constant_of(source))
    return None if number is None else uniform_attribute(number, to)


def _splat_value(value: SSAValue) -> SSAValue | None:
    """Return the scalar that all elements of a vector are, or None."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp) and not is_shaped(owner.source.type):
        return owner.source
    return None


class MergeBroadcasts(RewritePattern):
    """Replace two broadcasts by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.BroadcastOp, rewriter: PatternRewriter, /) -> None:
        inner = op.source.owner
        if isinstance(inner, vector.BroadcastOp):
            op.operands[0] = inner.source
            rewriter.handle_operation_modification(op)


# Elements


def _fold_extract(op: Operation) -> Folded | None:
    assert isinstance(op, vector.ExtractOp)
    position, source, to = _position(op), op.vector, op.result.type
    if not position and source.type == to:
        return source
    if (number := uniform_number(constant_of(source))) is not None and -1 not in position:
        return uniform_attribute(number, to)
    if (splat := _splat_value(source)) is not None and not is_shaped(to) and -1 not in position:
        return splat
    if (broadcast := _of_broadcast(op)) is not None:
        return broadcast
    start = _offset(position, _shape(source.type))
    if start is not None and (numbers := _known_elements(source)) is not None:
        return _made_of(numbers[start : start + math.prod(_shape(to))], to)
    return _of_insertions(op, position)


def _of_broadcast(op: vector.ExtractOp) -> Folded | None:
    """Return the operand of a broadcast to leading dimensions, all of which are indexed."""
    made = op.vector.owner
    if not isinstance(made, vector.BroadcastOp) or made.source.type != op.result.type:
        return None
    extra = len(_shape(op.vector.type)) - len(_shape(op.result.type))
    return made.source if extra == len(_position(op)) and -1 not in _position(op) else None


def _of_insertions(op: vector.ExtractOp, position: Sequence[Size]) -> Folded | None:
    """Return what was inserted at a place; or take it out of what was inserted elsewhere into."""
    value, changed = op.vector, False
    while isinstance(made := value.owner, vector.InsertOp):
        place = _position(made)
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
    position, source, dest = _position(op), op.source, op.dest
    if not position and source.type == dest.type:
        return source
    start = _offset(position, _shape(dest.type))
    splat = _splat_value(dest)
    if splat is not None and (splat is source or _splat_value(source) is splat):
        return dest if -1 not in position else None
    below = dest.owner
    if isinstance(below, vector.InsertOp) and _same_place(_position(below), position):
        op.operands[1] = below.dest  # it is overwritten
        return op.result
    if start is None:
        return None
    number = uniform_number(constant_of(source))
    count = math.prod(_shape(source.type))
    new = [number] * count if number is not None else _known_elements(source)
    if new is None or (numbers := _known_elements(dest)) is None:
        return None
    return _made_of([*numbers[:start], *new, *numbers[start + count :]], op.result.type)


class MergeExtracts(RewritePattern):
    """Take an element out of the vector that another vector was taken out of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        inner = op.vector.owner
        if isinstance(inner, vector.ExtractOp):
            position = [*_position(inner), *_position(op)]
            static, dynamic = split(position)
            rewriter.replace(op, _access(op, [inner.vector], static, dynamic))


def _access(
    op: Access, heads: Sequence[SSAValue], static: Attribute, dynamic: Sequence[SSAValue]
) -> Operation:
    return op.__class__.create(
        operands=[*heads, *dynamic],
        result_types=[op.results[0].type],
        properties={**op.properties, "static_position": static},
    )


class ConstantPosition(RewritePattern):
    """Write the constant indices of an element into the property."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Access, rewriter: PatternRewriter, /) -> None:
        if not op.dynamic_position:
            return
        old = _position(op)
        heads = op.operands[: len(op.operands) - len(op.dynamic_position)]
        whole = heads[-1] if isinstance(op, vector.InsertOp) else heads[0]
        new = [
            size if isinstance(number, int) and number >= limit else number
            for size, number, limit in zip(old, folded(old, 0), _shape(whole.type), strict=False)
        ]
        if any(a is not b for a, b in zip(old, new, strict=True)):
            static, dynamic = split(new)
            rewriter.replace(op, _access(op, heads, static, dynamic))


class PoisonPosition(RewritePattern):
    """Replace an element at the place -1 by poison."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Access, rewriter: PatternRewriter, /) -> None:
        if -1 in _position(op):
            from xdsl.dialects.ub import PoisonOp

            rewriter.replace(op, PoisonOp(op.results[0].type))


class ExtractOfBroadcast(RewritePattern):
    """Broadcast to the type of what is taken out of a broadcast to more dimensions, or take it out
    of what is broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        made, to = op.vector.owner, op.result.type
        if not isinstance(made, vector.BroadcastOp) or -1 in _position(op):
            return
        inner, outer = _shape(made.source.type), _shape(to)
        extra = len(_shape(op.vector.type)) - len(inner)
        if (position := _position(op)[extra:]) and inner[len(position) :] == outer:
            # A dimension of size 1 that was repeated has one element only.
            place = [0 if size == 1 else i for i, size in zip(position, inner, strict=False)]
            static, dynamic = split(place)
            rewriter.replace(op, _access(op, [made.source], static, dynamic))
            return
        if len(inner) <= len(outer) and is_shaped(to):
            if all(a in (1, b) for a, b in zip(reversed(inner), reversed(outer), strict=False)):
                rewriter.replace(
                    op, vector.BroadcastOp.create(operands=[made.source], result_types=[to])
                )


class ExtractOfShuffle(RewritePattern):
    """Take an element out of the vector that a shuffle took it out of."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ExtractOp, rewriter: PatternRewriter, /) -> None:
        made, position = op.vector.owner, _position(op)
        if not isinstance(made, vector.ShuffleOp) or len(position) != 1:
            return
        mask, first = static_list(made.mask), (_shape(made.v1.type) or (1,))[0]
        index = position[0]
        if not isinstance(index, int) or not 0 <= index < len(mask) or mask[index] < 0:
            return
        is_first = mask[index] < first
        source = made.v1 if is_first else made.v2
        place: list[Size] = [mask[index] if is_first else mask[index] - first]
        if not _shape(source.type):
            return
        rewriter.replace(op, _access(op, [source], split(place)[0], ()))


# Shuffles and bits


def _fold_shuffle(op: Operation) -> Folded | None:
    assert isinstance(op, vector.ShuffleOp)
    mask = static_list(op.mask)
    first, second = _shape(op.v1.type), _shape(op.v2.type)
    if not first or not second:
        return None
    count = first[0]
    if mask == list(range(count)):
        return op.v1
    if mask == list(range(count, count + second[0])):
        return op.v2
    a, b = _known_elements(op.v1), _known_elements(op.v2)
    if a is None or b is None or len(first) > 1 or -1 in mask:
        return None
    both = [*a, *b]
    return dense_of_numbers([both[index] for index in mask], op.result.type)


class ShuffleOfPoison(RewritePattern):
    """Take the elements of a shuffle of constants and poison, of which any value will do, from the
    constant; a shuffle of one scalar broadcast is the broadcast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ShuffleOp, rewriter: PatternRewriter, /) -> None:
        splat = _splat_value(op.v1)
        if splat is not None and _splat_value(op.v2) is splat:
            rewriter.replace(
                op, vector.BroadcastOp.create(operands=[splat], result_types=[op.result.type])
            )
            return
        shape = _shape(op.v1.type)
        a, b = _known_elements(op.v1), _known_elements(op.v2)
        poison = list(map(_is_poison, (op.v1, op.v2)))
        mask = static_list(op.mask)
        if len(shape) != 1 or (a is None and b is None):
            return
        if ((a is None or b is None) and not any(poison)) or (-1 not in mask and not any(poison)):
            return
        both: list[Number | None] = [*(a or [None] * shape[0])]
        both += b or [None] * _shape(op.v2.type)[0]
        numbers = [both[index] if index >= 0 else None for index in mask]
        found = [number for number in numbers if number is not None]
        if found:
            chosen = [found[0] if number is None else number for number in numbers]
            if (made := dense_of_numbers(chosen, op.result.type)) is not None:
                rewriter.replace(op, arith.ConstantOp(made))


def _is_poison(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "ub.poison"


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


def _fold_mask(op: Operation) -> Folded | None:
    """Fold a mask of which all or no elements are set."""
    shape, sizes = _shape(op.results[0].type), [signed_integer(size) for size in op.operands]
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
        int(all(index < size for index, size in zip(_indices(i, shape), known, strict=True)))
        for i in range(math.prod(shape))
    ]
    return dense_of_numbers(numbers, type)


def _indices(number: int, shape: Sequence[int]) -> list[int]:
    """Return the indices of an element by its place in row-major order."""
    indices: list[int] = []
    for size in reversed(shape):
        number, index = divmod(number, size)
        indices.append(index)
    return indices[::-1]


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.bitcast": _fold_bitcast,
    "vector.broadcast": _fold_broadcast,
    "vector.create_mask": _fold_mask,
    "vector.extract": _fold_extract,
    "vector.insert": _fold_insert,
    "vector.shape_cast": fold_cast,
    "vector.shuffle": _fold_shuffle,
}


class ReduceOne(RewritePattern):
    """Replace a reduction of one element by the element, combined with the accumulator."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.ReductionOp, rewriter: PatternRewriter, /) -> None:
        shape = _shape(op.vector.type)
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
)
