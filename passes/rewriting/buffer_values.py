"""The values of a function on buffers: tensors as views of storage, tuples as their leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import DictionaryAttr, FixedBitwidthType, MemRefType, TupleType
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from ...dialects.argument_names import name_in, with_name
from ...dialects.relax.constant import FullOp
from ...dialects.relax.types import is_ranked

__all__ = [
    "Buffer",
    "Memref",
    "Storage",
    "Value",
    "as_parameter",
    "is_buffer",
    "leaf_attributes",
    "leaf_names",
    "leaf_types",
    "leaf_values",
    "nested",
    "offset_of",
    "root_of",
    "tensor_buffer",
]

INDEX_SIZE = 8
"""The size of an index in memory, in bytes."""

Memref: TypeAlias = MemRefType[Attribute]


@dataclass(eq=False)
class Storage:
    """The memory of a tensor and of all views of it.

    A storage that is computed has a live range `first` to `last`, in the times of the bufferizer.
    """

    element: Attribute
    count: int
    """The number of elements."""
    base: BlockArgument | GlobalOp | None = None
    """The parameter or global with the elements; None if they are in the arena."""
    depth: int = 0
    """The number of regions around the operation that computes the elements."""
    block: Block | None = None
    """The block of that operation; None for a parameter or a global."""
    fill: FullOp | None = None
    """The fill that has not been stored yet: its loop is written before the first use."""
    joined: Storage | None = None
    """The storage into which the elements are computed: a result of the enclosing operation or of
    the function."""
    offset: int = 0
    """The position in `joined`, in bytes."""
    has_parts: bool = False
    """Whether other storage is joined at an offset: then a parameter cannot take its place."""
    hint: str | None = None
    """The name hint of the tensor."""
    first: int = -1
    """The time of the first use, -1 before there is one."""
    last: int = -1
    """The time of the last use."""

    @property
    def size(self) -> int:
        """The size in bytes."""
        element = self.element
        return self.count * (
            element.compile_time_size if isinstance(element, FixedBitwidthType) else INDEX_SIZE
        )


def root_of(storage: Storage) -> Storage:
    """Return the storage that `storage` is joined to, directly or through others, or itself."""
    while storage.joined is not None:
        storage = storage.joined
    return storage


def offset_of(storage: Storage) -> int:
    """Return the position of `storage` in its root, in bytes."""
    offset = 0
    while storage.joined is not None:
        offset += storage.offset
        storage = storage.joined
    return offset


@dataclass(frozen=True)
class Buffer:
    """A tensor: storage, and the type with the shape in which it is read."""

    storage: Storage
    type: Memref


Value: TypeAlias = "Buffer | SSAValue | tuple[Value, ...]"
"""A converted value: a tensor is a Buffer, a scalar stays as it is, a tuple has its elements."""


# Types


def tensor_buffer(type: Attribute) -> Memref:
    """Return the type of the buffer of a tensor."""
    assert is_ranked(type)
    return _memref(type.element_type, type.get_shape())


# Types are immutable, and xDSL verifies each one that is built.
@lru_cache(1 << 12)
def _memref(element: Attribute, shape: tuple[int, ...]) -> Memref:
    return MemRefType(element, shape)


def as_parameter(type: Attribute) -> Attribute:
    """Return the type of the buffer of a tensor, and any other type as it is."""
    return tensor_buffer(type) if is_ranked(type) else type


def is_buffer(type: Attribute) -> TypeIs[Memref]:
    """Return whether `type` is the type of a buffer."""
    return isinstance(type, MemRefType)


# Tuples


def nested(type: Attribute, leaves: Iterator[Value]) -> Value:
    """Build a value of `type` from the values of its leaves."""
    if not isinstance(type, TupleType):
        return next(leaves)
    return tuple(nested(element, leaves) for element in type.types)


def leaf_values(value: Value) -> Iterator[Buffer | SSAValue]:
    """Yield the elements of a tuple, recursively; any other value itself."""
    if not isinstance(value, tuple):
        yield value
        return
    for element in value:
        yield from leaf_values(element)


def leaf_names(name: str, type: Attribute) -> Iterator[str]:
    """Yield the names of the leaves of the value `name`: of a tuple `name.0`, `name.1`, ..."""
    if not isinstance(type, TupleType):
        yield name
        return
    for index, element in enumerate(type.types):
        yield from leaf_names(f"{name}.{index}", element)


def leaf_attributes(type: Attribute, attributes: DictionaryAttr) -> list[DictionaryAttr]:
    """Return the attributes of the leaves of a parameter or result: its own, with their names."""
    if (name := name_in(attributes)) is None:
        return [attributes for _ in leaf_types(type)]
    return [with_name(attributes, leaf) for leaf in leaf_names(name, type)]


def leaf_types(type: Attribute) -> Iterator[Attribute]:
    """Yield the types of the elements of a tuple, recursively; any other type itself."""
    if not isinstance(type, TupleType):
        yield type
        return
    for element in type.types:
        yield from leaf_types(element)
