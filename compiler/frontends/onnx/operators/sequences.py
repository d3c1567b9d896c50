"""Converters of operators on sequences and optional values.

A sequence is a `relax.tuple`, whose length is known: its elements are resolved while the model is
imported. An optional value that is there is that value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType, i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.graph import TupleOp
from .....dialects.relax.types import is_tensor
from ..errors import Unsupported
from ..node import Converters, Node, direct
from .elementwise import identity
from .manipulation import dynamic_split

# Sequences


def elements(node: Node, value: SSAValue) -> list[SSAValue]:
    """Return the elements of a sequence."""
    if isinstance(value.owner, TupleOp):
        return list(value.owner.operands)
    if not isinstance(value.type, TupleType):
        raise Unsupported(f"input of type {value.type}, expected a sequence")
    return [node.op("tuple_get_item", value, index=i) for i in range(len(value.type.types))]


def place(node: Node, index: int, count: int, default: int) -> int:
    """Return the place of an input in a sequence, from 0 to `count`; negative ones count from the
    end."""
    if not node.has(index):
        return default
    if (number := node.int_of(index)) is None:
        raise Unsupported("the position in a sequence is not known")
    if not -count <= number <= count:
        raise Unsupported(f"position {number} of a sequence of {count} elements")
    return number + count if number < 0 else number


def check_place(position: int, count: int) -> None:
    """Raise Unsupported unless a sequence has an element at `position`."""
    if not 0 <= position < count:
        raise Unsupported(f"position {position} of a sequence of {count} elements")


def at(node: Node) -> SSAValue:
    """Convert SequenceAt; a position that is computed takes from the stacked elements, if they have
    the same shape."""
    values = elements(node, node.input(0))
    if node.constant(1) is None and values:
        if len({node.static_shape(value) for value in values}) > 1:
            raise Unsupported("a computed position in a sequence of elements of other shapes")
        index = node.cast(node.scalar(node.input(1)), i64)
        return node.op("take", node.op("stack", *values, axis=0), index, axis=0, mode="raise")
    position = place(node, 1, len(values), 0)
    check_place(position, len(values))
    return values[position]


def insert(node: Node) -> SSAValue:
    values = elements(node, node.input(0))
    values.insert(place(node, 2, len(values), len(values)), node.input(1))
    return node.op("tuple", *values)


def erase(node: Node) -> SSAValue:
    values = elements(node, node.input(0))
    position = place(node, 1, len(values), len(values) - 1)
    check_place(position, len(values))
    del values[position]
    return node.op("tuple", *values)


def concat(node: Node) -> Sequence[SSAValue]:
    values, axis = elements(node, node.input(0)), node.int("axis")
    if not values:
        raise Unsupported("the sequence is empty")
    if node.bool("new_axis"):
        return [node.op("stack", *values, axis=axis)]
    return values if len(values) == 1 else [node.op("concatenate", *values, axis=axis)]


def split(node: Node) -> SSAValue:
    """Convert SplitToSequence: into parts of given sizes, or of a size, by default of one element,
    whose dimension is removed unless `keepdims`."""
    x = node.input(0)
    axis = node.axis(node.int("axis"), x)
    if node.has(1) and node.constant(1) is None and node.rank(1) == 1:
        (count,) = node.sizes(1, 1)
        return node.op("tuple", *dynamic_split(node, x, axis, count))
    sizes = part_sizes(node, node.shape(x)[axis])
    places = [*accumulate(sizes[:-1])]
    parts = node.ops("split", x, indices=places, axis=axis) if len(sizes) > 1 else [x]
    if not node.has(1) and not node.int("keepdims", 1):
        parts = [node.op("squeeze", part, axis=[axis]) for part in parts]
    return node.op("tuple", *parts)


def part_sizes(node: Node, size: int) -> list[int]:
    """Return the sizes of the parts of a dimension of `size` elements."""
    given = node.constant(1)
    if node.has(1) and given is None:
        raise Unsupported("the sizes of the parts are not known")
    if given is not None and given.ndim:
        return [int(part) for part in given]
    if size == DYNAMIC_INDEX:
        raise Unsupported("the number of parts is not known")
    if (part := 1 if given is None else int(given)) < 1 or not size:
        raise Unsupported(f"a dimension of size {size} in parts of {part}")
    node.check_size(-(-size // part))
    return [min(part, size - start) for start in range(0, size, part)]


def sequence_map(node: Node) -> Sequence[SSAValue]:
    """Convert SequenceMap: its graph, applied to each element; inputs that are not sequences are
    passed as they are."""
    first, *others = node.all_inputs()
    count = len(elements(node, first))
    columns = [
        [value] * count if is_tensor(value.type) else elements(node, value)
        for value in (first, *others)
    ]
    if any(len(column) != count for column in columns):
        raise Unsupported("sequences of different lengths")
    rows = [node.convert_graph("body", row) for row in zip(*columns, strict=True)]
    outputs = zip(*rows, strict=True) if rows else [()] * len(node.graph("body").output)
    return [node.op("tuple", *values) for values in outputs]


# Optional values


def optional(node: Node) -> SSAValue:
    if not node.has(0):
        raise Unsupported("an optional value that is absent")
    return node.input(0)


SEQUENCES: Converters = {
    "ConcatFromSequence": concat,
    "Optional": optional,
    "OptionalGetElement": identity,
    "OptionalHasElement": lambda node: node.full(node.has(0), i1),
    "SequenceAt": at,
    "SequenceConstruct": direct("tuple"),
    "SequenceEmpty": direct("tuple"),
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": lambda node: node.full(len(elements(node, node.input(0))), i64),
    "SequenceMap": sequence_map,
    "SplitToSequence": split,
}
