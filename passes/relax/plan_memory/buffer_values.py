"""The values of a function on buffers: tensors as views of storage, tuples as their leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import prod
from typing import TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FixedBitwidthType,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.dialects.tensor import DimOp, FromElementsOp, ReshapeOp
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from ....compiler.analysis.memory.storage_plan import ALIGNMENT
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.dynamic.data_movement import DynamicReshapeOp
from ....dialects.relax.types import Element, is_ranked
from ....dialects.signature import name_in, with_name
from ....dialects.sizes import Size
from ....passmanager.ir.walk import symbol_of, walk
from ....passmanager.releases.floats import byte_size

INDEX_SIZE = 8
"""The size of an index in memory, in bytes."""

Memref: TypeAlias = MemRefType[Attribute]


@dataclass(eq=False)
class Storage:
    """The memory of a tensor and of all views of it.

    A storage that is computed has a live range `first` to `last`, in the times of the bufferizer.
    """

    element: Attribute
    count: int | Size
    """The number of elements, an int if it is known."""
    base: BlockArgument | OpResult | GlobalOp | None = None
    """The parameter or global with the elements, or the buffer that an operation returned; None if
    they are in the arena or an allocation of their own."""
    depth: int = 0
    """The number of regions around the operation that computes the elements."""
    block: Block | None = None
    """The block of that operation; None for a parameter or a global."""
    fill: FullOp | FromElementsOp | None = None
    """The elements that have not been stored yet: they are written before the first use."""
    joined: Storage | None = None
    """The storage into which the elements are computed: a result of the enclosing operation or of
    the function."""
    offset: int = 0
    """The position in `joined`, in bytes."""
    has_parts: bool = False
    """Whether other storage is joined at an offset: then a parameter cannot take its place."""
    sizes: tuple[Size, ...] = ()
    """The sizes of the unknown dimensions of `base`."""
    owned: bool = False
    """Whether the block yields it: then it is an allocation of its own, which the block does not
    free."""
    hint: str | None = None
    """The name hint of the tensor."""
    first: int = -1
    """The time of the first use, -1 before there is one."""
    last: int = -1
    """The time of the last use."""

    @property
    def element_size(self) -> int:
        """The size of an element in bytes."""
        element = self.element
        return byte_size(element) if isinstance(element, FixedBitwidthType) else INDEX_SIZE

    @property
    def size(self) -> int:
        """The size in bytes, which is known."""
        assert isinstance(self.count, int)
        return self.count * self.element_size

    @property
    def bytes(self) -> Size:
        """The size in bytes."""
        return extent(self.count) * Size.of(self.element_size)


def extent(count: int | Size) -> Size:
    """Return a number of elements as a size."""
    return count if isinstance(count, Size) else Size.of(count)


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
class TensorBuffer:
    """A tensor: storage, and the type with the shape in which it is read."""

    storage: Storage
    type: Memref
    sizes: tuple[Size, ...] = ()
    """The sizes of the unknown dimensions of the type."""


Value: TypeAlias = "TensorBuffer | SSAValue | tuple[Value, ...]"
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


def has_unknown_sizes(type: Attribute) -> bool:
    """Return whether `type` is that of a tensor of known rank with unknown dimensions."""
    return is_ranked(type) and DYNAMIC_INDEX in type.get_shape()


def shape_of(type: Memref, sizes: Sequence[Size]) -> list[Size]:
    """Return the sizes of all dimensions of a buffer, those of unknown ones being `sizes`."""
    unknown = iter(sizes)
    return [next(unknown) if n == DYNAMIC_INDEX else Size.of(n) for n in type.get_shape()]


def returns_buffers(type: FunctionType) -> bool:
    """Return whether a function on tensors of `type` has a result of unknown size: as a function on
    buffers it returns its results, which it allocates, instead of writing into parameters."""
    return any(map(_has_unknown_leaves, type.outputs))


def is_dynamic(func: FuncOp) -> bool:
    """Return whether a function on tensors computes with sizes: a tensor has unknown dimensions, or
    is made of scalars."""
    types = chain(func.function_type.inputs, func.function_type.outputs)
    return any(map(_has_unknown_leaves, types)) or any(
        isinstance(op, DimOp | DynamicReshapeOp | FromElementsOp | ReshapeOp)
        or any(map(_has_unknown_leaves, op.result_types))
        for op in walk(func)
    )


def _has_unknown_leaves(type: Attribute) -> bool:
    return any(map(has_unknown_sizes, leaf_types(type)))


def is_buffer(type: Attribute) -> TypeIs[Memref]:
    """Return whether `type` is the type of a buffer."""
    return isinstance(type, MemRefType)


# Tuples


def nested(type: Attribute, leaves: Iterator[Value]) -> Value:
    """Build a value of `type` from the values of its leaves."""
    if not isinstance(type, TupleType):
        return next(leaves)
    return tuple(nested(element, leaves) for element in type.types)


def leaf_values(value: Value) -> Iterator[TensorBuffer | SSAValue]:
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


def leaves_of(types: Iterable[Attribute]) -> list[Attribute]:
    """Return the types of the leaves of values of `types`."""
    return [leaf for type in types for leaf in leaf_types(type)]


# The constants of functions on tensors as globals of a module.


LARGE = 4096
"""The size in bytes above which constants are compared by the identity of their data: reading and
hashing the weights of a network costs more than it saves."""


class ConstantGlobals:
    """The globals that hold the constants of the functions `planned`, which become functions on
    buffers, and the symbols of their module. Constants with equal elements share one global."""

    def __init__(self, module: ModuleOp, planned: Iterable[FuncOp]) -> None:
        self.by_name = {name: op for op in module.ops if (name := symbol_of(op))}
        funcs = [*planned]
        self.planned = {op.sym_name.data for op in funcs}
        self.dynamic = {op.sym_name.data for op in funcs if is_dynamic(op)}
        """The planned functions that compute with sizes: they become `func.func`s."""
        self.globals: list[GlobalOp] = []
        self.by_elements: dict[tuple[Attribute, bytes | int], GlobalOp] = {}
        """The globals by the type and the bytes of their elements; by the identity of the bytes if
        there are more than `LARGE`."""
        self.suffixes: dict[str, int] = {}
        """The last number that was appended to each name."""

    def constant(self, op: ConstantOp | FullOp) -> GlobalOp:
        """Return the global with the elements of a constant; its type may have another shape, if a
        constant of that shape came first."""
        value = op.value if isinstance(op, ConstantOp) else _splat(op)
        data = value.data.data
        # An identity stays valid: the global of the key keeps the bytes alive.
        key = value.type.element_type, id(data) if len(data) > LARGE else data
        if (found := self.by_elements.get(key)) is None:
            self.by_elements[key] = found = GlobalOp.get(
                StringAttr(self.name_of(op)),
                MemRefType(value.type.element_type, value.get_shape()),
                value,
                constant=UnitAttr(),
                alignment=ALIGNMENT,
            )
            found.location = op.location
            self.by_name[found.sym_name.data] = found
            self.globals.append(found)
        return found

    def name_of(self, op: ConstantOp | FullOp) -> str:
        """Return an unused symbol name: the name hint of a constant, numbered if it is taken."""
        name = stem = op.result.name_hint or "constant"
        while name in self.by_name:
            self.suffixes[stem] = suffix = self.suffixes.get(stem, 0) + 1
            name = f"{stem}_{suffix}"
        return name


def _splat(op: FullOp) -> DenseIntOrFPElementsAttr:
    """Return the elements of a fill as dense data."""
    value = op.value
    type = cast(TensorType[Element], TensorType(value.type, [1]))
    number = DenseIntOrFPElementsAttr.from_list(type, [value.value.data])  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    one = cast(DenseIntOrFPElementsAttr, number).data.data
    result = cast(TensorType[Element], op.result.type)
    return DenseIntOrFPElementsAttr(result, BytesAttr(one * prod(result.get_shape())))
