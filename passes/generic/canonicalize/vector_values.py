"""Shapes, elements and positions of vectors, for the patterns of `vector`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ....passmanager.ir.text.printer import is_dense
from .by_dialect import Folded
from .constants import constant_of, dense_of_numbers, numbers_of, uniform_attribute
from .scalar_folds import MAX_ELEMENTS
from .scalar_values import Number, is_shaped
from .shapes import Size, mixed

Access: TypeAlias = vector.ExtractOp | vector.InsertOp


def shape_of(type: Attribute) -> tuple[int, ...]:
    """Return the sizes of a vector; none for a scalar."""
    return tuple(type.get_shape()) if is_shaped(type) else ()


def position_of(op: Access) -> list[Size]:
    """Return the place of the element, or of the vector, that an operation is about."""
    return mixed(op.static_position, op.dynamic_position)


def offset_in(position: Sequence[Size], shape: Sequence[int]) -> int | None:
    """Return the number of elements before a place in row-major order, or None."""
    offset = 0
    for index, size in zip(position, shape, strict=False):
        if not isinstance(index, int) or not 0 <= index < size:
            return None
        offset = offset * size + index
    return offset * math.prod(shape[len(position) :])


def known_elements(value: SSAValue) -> Sequence[Number] | None:
    """Return the elements of a constant vector of known size, if they are not too many."""
    constant = constant_of(value)
    if constant is None or not is_dense(constant) or len(constant) > MAX_ELEMENTS:
        return None
    if min(dims(value.type), default=1) < 0:
        return None  # the number of elements is not known
    return numbers_of(constant)


def made_of(numbers: Sequence[Number], type: Attribute) -> Folded | None:
    return (
        dense_of_numbers(numbers, type) if is_shaped(type) else uniform_attribute(numbers[0], type)
    )


def splat_value(value: SSAValue) -> SSAValue | None:
    """Return the scalar that all elements of a vector are, or None."""
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp) and not is_shaped(owner.source.type):
        return owner.source
    return None


def access_like(
    op: Access, heads: Sequence[SSAValue], static: Attribute, dynamic: Sequence[SSAValue]
) -> Operation:
    return op.__class__.create(
        operands=[*heads, *dynamic],
        result_types=[op.results[0].type],
        properties={**op.properties, "static_position": static},
    )


def is_poison(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "ub.poison"


def indices_of(number: int, shape: Sequence[int]) -> list[int]:
    """Return the indices of an element by its place in row-major order."""
    indices: list[int] = []
    for size in reversed(shape):
        number, index = divmod(number, size)
        indices.append(index)
    return indices[::-1]


def dims(type: Attribute) -> tuple[int, ...]:
    """Return the sizes of a vector, those of scalable dimensions negative; none for a scalar."""
    if not isinstance(type, VectorType):
        return ()
    made = cast("VectorType[Attribute]", type)
    flags = [bool(flag.value.data) for flag in made.scalable_dims]
    return tuple(
        -size if flag else size for size, flag in zip(made.get_shape(), flags, strict=True)
    )


def core(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return sizes without the leading ones."""
    first = next((i for i, size in enumerate(sizes) if size != 1), len(sizes))
    return tuple(sizes[first:])


def without_ones(sizes: Sequence[int]) -> list[int]:
    """Return sizes without ones."""
    return [size for size in sizes if size != 1]


def fits(inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Return whether a vector can be broadcast to other sizes."""
    rows = zip(reversed(inner), reversed(outer), strict=False)
    return len(inner) <= len(outer) and all(a in (1, b) for a, b in rows)


def owner_named(value: SSAValue, name: str) -> Operation | None:
    """Return the operation that makes a value if it has this name, else None."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def broadcast_source(value: SSAValue) -> SSAValue | None:
    """Return the operand of a broadcast, or of a `shape_cast` that adds leading dimensions."""
    if isinstance(made := value.owner, vector.BroadcastOp):
        return made.source
    if (made := owner_named(value, "vector.shape_cast")) is not None:
        source = made.operands[0]
        inner, outer = dims(source.type), dims(value.type)
        if outer == (1,) * (len(outer) - len(inner)) + inner:
            return source
    return None


def broadcast_to(source: SSAValue, type: Attribute) -> Operation:
    """Return a broadcast of a value to a type."""
    return vector.BroadcastOp.create(operands=[source], result_types=[type])


def numbers_in(attribute: Attribute) -> list[int]:
    """Return the numbers of a property, a list of integers or an array of them."""
    if hasattr(attribute, "get_values"):
        return [int(number) for number in cast(Any, attribute).get_values()]
    return [int(item.value.data) for item in cast(Any, attribute)]


def offsets_of(op: Operation) -> list[int] | None:
    """Return the offset of a part in each dimension of the whole vector; None if it has strides."""
    if not set(numbers_in(op.properties["strides"])) <= {1}:
        return None
    rank = len(dims(op.operands[-1].type))
    offsets = numbers_in(op.properties["offsets"])
    return offsets + [0] * (rank - len(offsets))
