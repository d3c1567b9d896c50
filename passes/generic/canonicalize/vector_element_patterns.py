"""Folds and patterns of `vector.from_elements` and `vector.to_elements`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ....passmanager.releases.floats import pack
from ....passmanager.releases.poison import poison
from .by_dialect import Entry, Fold, Folded, known_op
from .constants import constant_of, dense_of_numbers, is_integer, uniform_attribute, uniform_number
from .scalar_folds import MAX_ELEMENTS
from .scalar_values import Float, Number, element_of
from .shapes import split
from .vector_values import (
    broadcast_to,
    dims,
    indices_of,
    is_poison,
    known_elements,
    offset_in,
    owner_named,
    position_of,
    shape_of,
    splat_value,
)


def _fold_to_elements(op: Operation) -> Sequence[Folded] | None:
    source = op.operands[0]
    if (made := owner_named(source, "vector.from_elements")) is not None:
        return tuple(made.operands)
    if (splat := splat_value(source)) is not None:
        return [splat] * len(op.results)
    if (numbers := known_elements(source)) is None or not op.results:
        return None
    element = op.results[0].type
    folded = [uniform_attribute(number, element) for number in numbers]
    known = [constant for constant in folded if constant is not None]
    return known if len(known) == len(op.results) else None


class ElementsOfBroadcast(RewritePattern):
    """Take the elements of what is broadcast."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.to_elements`."""
        made = op.operands[0].owner
        if not isinstance(made, vector.BroadcastOp) or splat_value(op.operands[0]) is not None:
            return
        inner, outer = shape_of(made.source.type), shape_of(op.operands[0].type)
        new = type(op).create(
            operands=[made.source], result_types=[op.results[0].type] * math.prod(inner)
        )
        rewriter.replace(
            op, new, [new.results[_place(at, inner, outer)] for at in range(len(op.results))]
        )


def _place(at: int, inner: Sequence[int], outer: Sequence[int]) -> int:
    """Return the place of an element of a broadcast among those of the operand."""
    indices = indices_of(at, outer)[len(outer) - len(inner) :]
    place = 0
    for index, size in zip(indices, inner, strict=True):
        place = place * size + (index if size != 1 else 0)
    return place


def _fold_from_elements(op: Operation) -> Folded | None:
    to = op.results[0].type
    if (taken := _all_elements_of(op.operands)) is not None and taken.type == to:
        return taken
    if len(op.operands) > MAX_ELEMENTS:
        return None
    numbers = [_number(value) for value in op.operands]
    known = [number for number in numbers if number is not None]
    return dense_of_numbers(known, to) if len(known) == len(numbers) and known else None


def _number(value: SSAValue) -> Number | None:
    """Return the number that a value is; the bits of a float that is an LLVM integer."""
    if (made := owner_named(value, "llvm.mlir.constant")) is None:
        return uniform_number(constant_of(value))
    match made.properties.get("value"):
        case IntegerAttr() as attribute:
            number = attribute.value.data
            return number & 1 if attribute.type == i1 else number
        case FloatAttr() as attribute if isinstance(attribute.type, Float):
            number = attribute.value.data
            is_bits = is_integer(value.type)
            return int.from_bytes(pack(attribute.type, [number]), "little") if is_bits else number
        case _:
            return None


def _all_elements_of(elements: Sequence[SSAValue]) -> SSAValue | None:
    """Return the vector of which values are all the elements, in order."""
    if not elements or (made := owner_named(elements[0], "vector.to_elements")) is None:
        return None
    if len(made.results) != len(elements):
        return None
    in_order = all(a is b for a, b in zip(elements, made.results, strict=True))
    return made.operands[0] if in_order else None


class BroadcastOfElement(RewritePattern):
    """Broadcast the one value that all elements are."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.from_elements`."""
        values, to = op.operands, op.results[0].type
        if not values:
            return
        if all(map(is_poison, values)):
            rewriter.replace(op, poison(to))
        elif all(value is values[0] for value in values):
            rewriter.replace(op, broadcast_to(values[0], to))


class ElementsInOrder(RewritePattern):
    """Replace the elements of a vector, in order, by a `vector.shape_cast` of the vector that
    consists of them. Source: `FromElementsToShapeCast` of MLIR."""

    def __init__(self, ctx: Context) -> None:
        self.made = known_op(ctx, "vector.shape_cast")

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.from_elements`."""
        count, to = len(op.operands), op.results[0].type
        first = op.operands[0].owner if count > 1 else None
        if self.made is None or not isinstance(first, vector.ExtractOp):
            return
        source, position = first.vector, position_of(first)
        shape = dims(source.type)
        if len(position) != len(shape) or any(isinstance(index, SSAValue) for index in position):
            return
        kept, size = len(position), 1
        while kept and position[kept - 1] == 0 and size < count:
            kept -= 1
            size *= shape[kept]
        start = offset_in(position, shape)
        if size != count or start is None:
            return
        for index, value in enumerate(op.operands):
            taken = value.owner
            if not isinstance(taken, vector.ExtractOp) or taken.vector is not source:
                return
            if offset_in(position_of(taken), shape) != start + index:
                return
        if kept:
            place, part = (
                split(position[:kept])[0],
                VectorType(element_of(source.type), shape[kept:]),
            )
            source = rewriter.insert(
                vector.ExtractOp.create(
                    operands=[source],
                    result_types=[part],
                    properties={"static_position": place},
                )
            ).result
        if source.type == to:
            rewriter.replace(op, (), [source])
        else:
            rewriter.replace(op, self.made.create(operands=[source], result_types=[to]))


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.from_elements": _fold_from_elements,
    "vector.to_elements": _fold_to_elements,
}
NAMED: Final[Mapping[str, Sequence[Entry]]] = {
    "vector.from_elements": (BroadcastOfElement(), ElementsInOrder),
    "vector.to_elements": (ElementsOfBroadcast(),),
}
