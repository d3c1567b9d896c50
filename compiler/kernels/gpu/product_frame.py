"""Frames of products: the dimensions of the values of a group as batches, rows, columns, terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.types import tensor_type
from ....dialects.tir.functions import Extent, Shape, volume
from ..choices import NoKernel
from .row_frame import is_fill
from .tile_builder import TileGroup
from .tile_writer import TileWriter

__all__ = ["Axis", "ProductBlock", "ProductFrame", "Reader", "Values"]

Axis: TypeAlias = str | int
"""What a dimension runs along: "m", "n" or "k", or the number of a dimension of the batch."""
Reader: TypeAlias = Callable[[SSAValue | None], SSAValue]
"""A function that computes a tile, for the number of the tile of terms."""


@dataclass(frozen=True)
class ProductFrame:
    """The dimensions that values share. Those of the largest value are `shape`; others broadcast.

    For x[8, 16, 32] times a matrix, of which the rows of all batches are merged:

        ProductFrame(shape=(8, 16, 32), axes=("m", "k"), groups=((0, 1), (2,)))
    """

    shape: Shape
    axes: Sequence[Axis]
    """What each dimension runs along, after splitting and merging: two that are no batch."""
    groups: Sequence[Sequence[int]]
    """The dimensions that are merged, after splitting; an empty group is a dimension of size 1."""
    split: tuple[int, int] | None = None
    """A dimension, and into how many parts it is split: two dimensions."""

    @property
    def sizes(self) -> Shape:
        """The sizes after splitting and merging."""
        return self.placed(self.shape)

    @property
    def sides(self) -> tuple[Axis, Axis]:
        """The axes of the matrices in memory order."""
        first, second = (axis for axis in self.axes if isinstance(axis, str))
        return first, second

    def placed(self, shape: Shape) -> Shape:
        """Return the sizes of a value of `shape` in the frame; NoKernel if it cannot be placed."""
        full, own = self._split(self.shape), self._split(shape)
        sizes: list[Extent] = []
        for group in self.groups:
            parts = [own[axis] for axis in group]
            if any(part not in (1, full[axis]) for part, axis in zip(parts, group, strict=True)):
                raise NoKernel("an operand is broadcast along an unknown size")
            whole = parts == [full[axis] for axis in group]
            if not whole and any(part != 1 for part in parts):
                raise NoKernel("an operand is broadcast along a part of merged dimensions")
            sizes.append(volume(parts))
        return tuple(sizes)

    def _split(self, shape: Shape) -> list[Extent]:
        sizes: list[Extent] = [*(1,) * (len(self.shape) - len(shape)), *shape]
        if self.split is not None:
            axis, parts = self.split
            size = sizes[axis]
            sizes[axis : axis + 1] = [1, 1] if size == 1 else [parts, size // parts]
        return sizes


@dataclass
class ProductBlock:
    """A tile of a product that a tile block computes: what its program is written with."""

    group: TileGroup
    writer: TileWriter
    tile: Mapping[Axis, int]
    """The sizes of tiles along m, n and k."""
    index: Mapping[Axis, SSAValue]
    """The number of the tile along m, n, and in each dimension of the batch."""
    pointers: Mapping[SSAValue, SSAValue]
    batch: Shape

    def batch_index(self, axis: int, size: Extent) -> SSAValue:
        """Return the index in a dimension of the batch of a value that has `size` there, or 1."""
        w = self.writer
        if size == 1:
            return w.size(0)
        if isinstance(size, int) or size == self.batch[axis]:
            return self.index[axis]
        # An unknown size may be 1.
        return w.apply("minimum", self.index[axis], w.subtract(w.size(size), w.size(1)))

    def starts(self, axis: Axis, number: SSAValue) -> SSAValue:
        """Return the positions along an axis of the elements of tile `number`."""
        w = self.writer
        return w.add(w.scaled(number, self.tile[axis]), w.iota((self.tile[axis],), 0))


@dataclass
class Values:
    """The values of a group in a frame, as matrices of the tiles of a block."""

    block: ProductBlock
    frame: ProductFrame
    readers: dict[SSAValue, Reader] = field(default_factory=dict[SSAValue, Reader])

    def reader(self, value: SSAValue) -> Reader:
        """Return the function that computes the tiles of a value; views are made at once."""
        if value not in self.readers:
            self.readers[value] = self._loaded(value)
        return self.readers[value]

    def _loaded(self, value: SSAValue) -> Reader:
        if isinstance(value, BlockArgument):
            return self.load(value)
        op = value.owner
        assert isinstance(op, Operation)
        if is_fill(op):
            return self.filled(op)
        operands = [self.reader(v) for v in op.operands]
        group, w, shape = self.block.group, self.block.writer, self.matrix_of(value)
        memo: dict[SSAValue | None, SSAValue] = {}

        def read(number: SSAValue | None) -> SSAValue:
            if number not in memo:
                tiles = [w.broadcast(operand(number), shape) for operand in operands]
                memo[number] = group.elementwise(w, op, tiles)
            return memo[number]

        return read

    def filled(self, op: Operation) -> Reader:
        assert isinstance(op, FullOp | ConstantOp)
        value = op.value.value.data if isinstance(op, FullOp) else op.value.get_values()[0]
        assert isinstance(value, float | int)
        element = tensor_type(op.results[0]).element_type
        return lambda _: self.block.writer.number(value, element, (1, 1))

    def load(self, value: SSAValue) -> Reader:
        """Return the function that loads the tiles of a parameter."""
        w, element = self.block.writer, tensor_type(value).element_type
        view, index = self.view(value, self.block.pointers[value])

        def read(number: SSAValue | None) -> SSAValue:
            place = [number if i is None and number is not None else i for i in index]
            tile = w.load(view, [i for i in place if i is not None], element)
            return w.reshape(tile, self.matrix_of(value))

        return read

    def store(self, tile: SSAValue, value: SSAValue, pointer: SSAValue) -> None:
        """Store a matrix as the tile of a result."""
        w = self.block.writer
        view, index = self.view(value, pointer)
        tile = w.broadcast(tile, self.matrix_of(value))
        tile = w.reshape(tile, self.tile_of_value(value))
        w.store(tile, view, [i for i in index if i is not None])

    def view(self, value: SSAValue, pointer: SSAValue) -> tuple[SSAValue, list[SSAValue | None]]:
        """Return the view of a value, and the index of its tile in it, without those of terms."""
        w, sizes = self.block.writer, self.frame.placed(self.block.group.sizes[value])
        view = w.view(pointer, sizes, self.tile_of_value(value))
        rows = zip(self.frame.axes, sizes, self.frame.sizes, strict=True)
        index: list[SSAValue | None] = []
        for axis, size, full in rows:
            if isinstance(axis, int):
                index.append(self.block.batch_index(axis, size))
            else:
                index.append(w.size(0) if size != full else self.block.index.get(axis))
        return view, index

    def tile_of_value(self, value: SSAValue) -> list[int]:
        """Return the sizes of the tile of a value in the dimensions of the frame."""
        sizes = self.frame.placed(self.block.group.sizes[value])
        rows = zip(self.frame.axes, sizes, self.frame.sizes, strict=True)
        return [
            self.block.tile[a] if isinstance(a, str) and n == full else 1 for a, n, full in rows
        ]

    def matrix_of(self, value: SSAValue) -> tuple[int, int]:
        """Return the shape of the tile of a value as a matrix."""
        pairs = zip(self.frame.axes, self.tile_of_value(value), strict=True)
        rows, columns = (size for axis, size in pairs if isinstance(axis, str))
        return rows, columns
