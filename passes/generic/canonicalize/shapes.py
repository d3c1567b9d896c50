"""Sizes that are numbers or values, as operations of `memref` and `tensor` have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ....passmanager.releases.memref import offset_of, strides_of
from .constants import signed_integer

DYNAMIC = -(1 << 63)
"""The number in a list of static sizes that stands for an operand."""

Size: TypeAlias = int | SSAValue
Shaped: TypeAlias = "MemRefType[Attribute] | TensorType[Attribute]"


class PartOperands(Protocol):
    """An operation on a part of a buffer or tensor: an offset, size and stride by dimension."""

    offsets: Any
    sizes: Any
    strides: Any
    static_offsets: Any
    static_sizes: Any
    static_strides: Any


def static_list(attribute: Attribute) -> list[int]:
    """Return the numbers of a property like `static_sizes`."""
    return [int(number) for number in cast(Any, attribute).get_values()]


def mixed(static: Attribute, dynamic: Iterable[SSAValue]) -> list[Size]:
    """Return the sizes of a list of numbers, in which operands stand for DYNAMIC."""
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC else number for number in static_list(static)]


def split(sizes: Sequence[Size]) -> tuple[DenseArrayBase, list[SSAValue]]:
    """Return the list of numbers, and the operands, for sizes."""
    static = [DYNAMIC if isinstance(size, SSAValue) else size for size in sizes]
    made: Any = DenseArrayBase.from_list(i64, static)
    return made, [size for size in sizes if isinstance(size, SSAValue)]


def known(size: Size | None) -> int | None:
    """Return the number that a size is, or None."""
    if not isinstance(size, SSAValue):
        return size
    if isinstance(owner := size.owner, Operation) and owner.name == "index.constant":
        return int(cast(Any, owner.properties["value"]).value.data)
    return signed_integer(size)


def folded(sizes: Sequence[Size], least: int | None = None, nonzero: bool = False) -> list[Size]:
    """Return sizes with numbers for those that are constants, if they are valid numbers."""

    def fold(size: Size) -> Size:
        number = known(size)
        if number is None or (least is not None and number < least) or (nonzero and not number):
            return size
        return number

    return [fold(size) for size in sizes]


def slice_of(op: PartOperands) -> tuple[list[Size], list[Size], list[Size]]:
    """Return offsets, sizes and strides of an operation."""
    return (
        mixed(op.static_offsets, op.offsets),
        mixed(op.static_sizes, op.sizes),
        mixed(op.static_strides, op.strides),
    )


def same_sizes(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Return whether sizes are the same numbers or values, in which constants count as numbers."""
    return len(a) == len(b) and all(
        x is y or (known(x) is not None and known(x) == known(y)) for x, y in zip(a, b, strict=True)
    )


def rebuilt_slice(
    op: IRDLOperation,
    heads: Sequence[SSAValue],
    parts: Sequence[Sequence[Size]],
    *result_types: Attribute,
) -> Operation:
    """Return an operation like `op` on other operands: `heads`, then offsets, sizes and strides."""
    pairs = [split(sizes) for sizes in parts]
    names = ("static_offsets", "static_sizes", "static_strides")
    return type(op).build(
        operands=[*heads, *(dynamic for _, dynamic in pairs)],
        result_types=result_types,
        properties=dict(zip(names, (static for static, _ in pairs), strict=True)),
        attributes=op.attributes,
    )


# Types


def as_shaped(type: Attribute) -> Shaped | None:
    """Return a ranked buffer or tensor type, or None for any other type."""
    return cast(Shaped, type) if isinstance(type, MemRefType | TensorType) else None


def shape_of_type(type: Attribute) -> list[int] | None:
    """Return the sizes of a ranked type, DYNAMIC for an unknown one; None for any other type."""
    shaped = as_shaped(type)
    return None if shaped is None else [s if s >= 0 else DYNAMIC for s in shaped.get_shape()]


def with_shape(type: Attribute, shape: Iterable[int]) -> Attribute:
    """Return a type with other sizes."""
    sizes = [size if size >= 0 else DYNAMIC_INDEX for size in shape]
    if isinstance(type, TensorType):
        tensor = cast("TensorType[Attribute]", type)
        return TensorType(tensor.element_type, sizes, tensor.encoding)
    buffer = cast("MemRefType[Attribute]", type)
    return MemRefType(buffer.element_type, sizes, buffer.layout, buffer.memory_space)


def static_sizes(sizes: Sequence[Size]) -> list[int]:
    """Return the sizes that a type has for these."""
    return [DYNAMIC if isinstance(size, SSAValue) else size for size in sizes]


def dropped_dimensions(sizes: Sequence[int], reduced: Sequence[int]) -> set[int] | None:
    """Return the dimensions of size 1 that a result of fewer dimensions lacks; None if the sizes do
    not match. Source: `computeRankReductionMask` of MLIR."""
    dropped: set[int] = set()
    position = 0
    for index, size in enumerate(sizes):
        if position < len(reduced) and size == reduced[position]:
            position += 1
        elif size == 1:
            dropped.add(index)
        else:
            return None
    return dropped if position == len(reduced) else None


def layout_of(type: Attribute) -> tuple[list[int | None], int | None] | None:
    """Return the strides and the offset of a buffer type, None for unknown ones; None if it has
    another layout."""
    if not isinstance(type, MemRefType):
        return None
    buffer = cast("MemRefType[Attribute]", type)
    strides = strides_of(buffer)
    return None if strides is None else (strides, offset_of(buffer))


def subview_type(
    source: Attribute, parts: tuple[Sequence[Size], Sequence[Size], Sequence[Size]]
) -> Attribute | None:
    """Return the type of a part of a buffer or tensor, of all dimensions."""
    offsets, sizes, strides = parts
    shape = static_sizes(sizes)
    if source.name == TensorType.name:
        return with_shape(source, shape)
    if (layout := layout_of(source)) is None:
        return None
    source_strides, offset = layout
    if len(source_strides) != len(sizes):
        return None
    for start, step in zip(offsets, source_strides, strict=True):
        if offset is None or isinstance(start, SSAValue) or (step is None and start):
            offset = None
        else:
            offset += start * (step or 0)
    steps = [
        None if step is None or isinstance(stride, SSAValue) else step * stride
        for step, stride in zip(source_strides, strides, strict=True)
    ]
    buffer = cast("MemRefType[Attribute]", source)
    sizes_of_type = [size if size >= 0 else DYNAMIC_INDEX for size in shape]
    return MemRefType(
        buffer.element_type, sizes_of_type, StridedLayoutAttr(steps, offset), buffer.memory_space
    )


def without_dimensions(type: Attribute, dropped: set[int]) -> Attribute:
    """Return a type without some of its dimensions."""
    if not dropped:
        return type
    shape = [s for i, s in enumerate(shape_of_type(type) or ()) if i not in dropped]
    if (layout := layout_of(type)) is None:
        return with_shape(type, shape)
    strides, offset = layout
    kept = [s for i, s in enumerate(strides) if i not in dropped]
    buffer = cast("MemRefType[Attribute]", type)
    sizes = [size if size >= 0 else DYNAMIC_INDEX for size in shape]
    return MemRefType(
        buffer.element_type, sizes, StridedLayoutAttr(kept, offset), buffer.memory_space
    )


def loses_static_facts(source: Attribute, result: Attribute) -> bool:
    """Return whether a cast from `source` to `result` only forgets sizes, strides and the offset,
    so that a user may as well take what was cast."""
    old, new = shape_of_type(source), shape_of_type(result)
    if old is None or new is None or len(old) != len(new):
        return False
    if cast(Shaped, source).element_type != cast(Shaped, result).element_type:
        return False
    facts: list[tuple[int | None, int | None]] = [
        (a if a != DYNAMIC else None, b if b != DYNAMIC else None)
        for a, b in zip(old, new, strict=True)
    ]
    if source.name == MemRefType.name:
        before, after = layout_of(source), layout_of(result)
        if before is None or after is None:
            return False
        facts += [*zip(before[0], after[0], strict=True), (before[1], after[1])]
    return all(b is None or a == b for a, b in facts)


# Groups of dimensions


def reassociation(op: Operation) -> list[list[int]]:
    """Return the groups of dimensions of `expand_shape` or `collapse_shape`."""
    groups = cast("ArrayAttr[ArrayAttr[IntegerAttr]]", op.properties["reassociation"])
    return [[index.value.data for index in group] for group in groups]


def groups_attribute(groups: Sequence[Sequence[int]]) -> Attribute:
    """Return groups of dimensions as a property."""
    return ArrayAttr([ArrayAttr([IntegerAttr(i, i64) for i in group]) for group in groups])
