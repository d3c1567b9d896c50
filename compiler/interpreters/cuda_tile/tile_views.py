"""The semantics of views: tensors in memory as numpy views, and the tiles that they consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import view_ops as ops
from ....dialects.cuda_tile.attributes import PaddingValue, PaddingValueAttr
from ....dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TileView,
)
from .block_axis import by_block
from .device_buffer import DeviceBuffer
from .device_memory import DeviceMemory, combination, poison
from .race_check import MemoryAccess
from .tile_values import Array, Compute, element_of_value, tile_dtype

__all__ = ["VIEWS"]

PADDING: Mapping[PaddingValue, float] = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: np.nan,
    PaddingValue.POS_INF: np.inf,
    PaddingValue.NEG_INF: -np.inf,
}


@dataclass
class TensorInMemory:
    """A tensor view."""

    array: Array
    buffer: DeviceBuffer
    indices: Array | None
    """The index of each element in the buffer, if accesses are checked."""


def tensor_view(op: ops.MakeTensorViewOp, memory: DeviceMemory) -> Compute:
    """Return the tensor at a pointer; InterpretationError if it exceeds its buffer."""
    type = op.result.type
    element = type.element_type

    def compute(base: Any, sizes: Sequence[Any], strides: Sequence[Any]) -> TensorInMemory:
        shape, steps = merged(type.get_shape(), sizes), merged(type.get_strides(), strides)
        buffer = memory.buffer_at(base)
        data, start = buffer.typed(element), int(buffer.elements(base, element))
        last = start + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        if all(shape) and not (start >= 0 and last < len(data)):
            raise InterpretationError(
                f"a tensor view up to element {last} exceeds {buffer.name}, which has {len(data)}"
            )
        array = strided(data, start, shape, steps)
        indices = None
        if memory.checker is not None:
            indices = strided(np.arange(len(data)), start, shape, steps)
        return TensorInMemory(array, buffer, indices)

    return compute


def merged(static: Sequence[int], dynamic: Sequence[Any]) -> list[int]:
    """Return sizes with the unknown ones taken from `dynamic`, as unsigned integers."""
    values = iter(dynamic)
    numbers = [next(values) if n == DYNAMIC_INDEX else n for n in static]
    return [as_unsigned_index(number) for number in numbers]


def as_unsigned_index(number: Any) -> int:
    """Return an integer of numpy read as an unsigned one."""
    value = int(number)
    return value if value >= 0 else value + (1 << 8 * number.dtype.itemsize)


def strided(data: Array, start: int, shape: Sequence[int], steps: Sequence[int]) -> Array:
    """Return a view of a flat array from an element on."""
    size = data.itemsize
    if not all(shape):
        return np.empty(shape, data.dtype)
    return np.ndarray(shape, data.dtype, data.data, start * size, [step * size for step in steps])


@dataclass
class TilesInMemory:
    """A view of tiles."""

    tensor: TensorInMemory
    array: Array
    """The tensor, with the dimensions of the tiles."""
    indices: Array | None
    tile: tuple[int, ...]
    steps: tuple[int, ...]
    """The distance of tiles in each dimension."""
    has_grid: bool
    """Whether the index of a tile must be less than the number of tiles."""

    def counts(self) -> list[int]:
        """Return the number of tiles in each dimension."""
        return [-(-size // step) for size, step in zip(self.array.shape, self.steps)]

    def check(self, op: Operation, index: Sequence[Any], memory: DeviceMemory) -> None:
        """Report an index that no tile has."""
        if memory.checker is None or not self.has_grid:
            return
        numbers = [*map(as_unsigned_index, index)]
        if any(i >= n for i, n in zip(numbers, self.counts(), strict=True)):
            memory.checker.report(op, f"has the index {numbers} outside of tiles {self.counts()}")

    def place(self, index: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the part of the tensor that a tile covers, and the part of the tile."""
        sources, targets = list[Any](), list[Any]()
        for i, size, length, step in zip(index, self.array.shape, self.tile, self.steps):
            if np.ndim(i):
                positions = i.astype(np.int64)
                inside = (positions >= 0) & (positions < size)
                sources.append(positions[inside])
                targets.append(inside)
                continue
            start = min(int(i) * step, size) if i >= 0 else size
            sources.append(slice(start, start + length))
            targets.append(slice(0, min(length, size - start)))
        return tuple(sources), tuple(targets)


def tiles(op: Any, memory: DeviceMemory) -> Compute:
    """Return the view of tiles of a tensor."""
    type = cast(TileView, op.result.type)
    tile = type.tile_type.get_shape()
    axes, steps, has_grid = range(len(tile)), tile, True
    if isinstance(type, PartitionViewType | StridedViewType):
        axes = [axis.data for axis in type.dim_map]
    if isinstance(type, StridedViewType):
        steps = tuple(step.data for step in type.traversal_strides)
    if isinstance(type, GatherScatterViewType):
        steps, has_grid = (1,) * len(tile), False

    def compute(tensor: TensorInMemory) -> TilesInMemory:
        indices = None if tensor.indices is None else tensor.indices.transpose(axes)
        return TilesInMemory(tensor, tensor.array.transpose(axes), indices, tile, steps, has_grid)

    return compute


def padding_of(type: TileView, memory: DeviceMemory) -> Any:
    """Return the value of the elements of a tile that are outside of the tensor."""
    if isinstance(type.padding_value, PaddingValueAttr):
        return PADDING[type.padding_value.data]
    return poison(type.tensor_view.element_type, memory)


def load_tile(op: ops.LoadViewTkoOp, memory: DeviceMemory) -> Compute:
    """Return the load of a tile."""
    access, type = MemoryAccess.of(op), cast(TileView, op.view.type)
    shape, dtype = type.tile_type.get_shape(), tile_dtype(type.tensor_view.element_type)
    padding = padding_of(type, memory)

    def compute(view: TilesInMemory, index: Sequence[Any], token: int | None) -> tuple[Array, int]:
        source, target = view.place(index)
        part = view.array[source]
        if part.shape == shape:
            result = part.copy()
        else:
            result = np.full(shape, padding, dtype)
            result[target] = part
        if view.indices is None:
            return result, 0
        view.check(op, index, memory)
        return result, memory.note(access, view.tensor.buffer, view.indices[source], token or 0)

    return compute


def store_tile(op: ops.StoreViewTkoOp, memory: DeviceMemory) -> Compute:
    """Return the store of a tile."""
    access = MemoryAccess.of(op)

    def compute(tile: Array, view: TilesInMemory, index: Sequence[Any], token: int | None) -> int:
        source, target = view.place(index)
        memory.keep(view.array, source)
        view.array[source] = tile[target]
        if view.indices is None:
            return 0
        view.check(op, index, memory)
        return memory.note(access, view.tensor.buffer, view.indices[source], token or 0)

    return compute


def combine_tile(op: ops.AtomicRedViewTkoOp, memory: DeviceMemory) -> Compute:
    """Return the atomic combination of a tile with that in memory."""
    access, function = MemoryAccess.of(op), combination(op.mode.data, element_of_value(op.value))

    def compute(view: TilesInMemory, index: Sequence[Any], value: Array, token: int | None) -> int:
        source, target = view.place(index)
        memory.keep(view.array, source)
        view.array[source] = function(view.array[source], value[target])
        if view.indices is None:
            return 0
        view.check(op, index, memory)
        return memory.note(access, view.tensor.buffer, view.indices[source], token or 0)

    return compute


def numbers_as(types: Sequence[Attribute], numbers: Sequence[int]) -> Any:
    """Return numbers as scalars of tile types; if there is one, as that alone."""
    dtypes = [tile_dtype(type.element_type) for type in cast(Any, types)]
    scalars = tuple(np.asarray(n).astype(d)[()] for n, d in zip(numbers, dtypes, strict=True))
    return scalars[0] if len(scalars) == 1 else scalars


def tensor_shape(op: ops.GetTensorShapeOp, memory: DeviceMemory) -> Compute:
    """Return the sizes of a tensor."""

    def compute(tensor: TensorInMemory) -> Any:
        return numbers_as(op.result_types, tensor.array.shape)

    return compute


def index_space(op: ops.GetIndexSpaceShapeOp, memory: DeviceMemory) -> Compute:
    """Return the number of tiles in each dimension."""

    def compute(view: TilesInMemory) -> Any:
        return numbers_as(op.result_types, view.counts())

    return compute


VIEWS: Mapping[type[Operation], Callable[[Any, DeviceMemory], Compute]] = {
    ops.AtomicRedViewTkoOp: by_block(combine_tile, always=True),
    ops.GetIndexSpaceShapeOp: by_block(index_space),
    ops.GetTensorShapeOp: by_block(tensor_shape),
    ops.LoadViewTkoOp: by_block(load_tile),
    ops.MakeGatherScatterViewOp: by_block(tiles),
    ops.MakePartitionViewOp: by_block(tiles),
    ops.MakeStridedViewOp: by_block(tiles),
    ops.MakeTensorViewOp: by_block(tensor_view),
    ops.StoreViewTkoOp: by_block(store_tile),
}
"""The semantics by class."""
