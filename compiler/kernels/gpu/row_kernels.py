"""Tile programs for fused groups along rows, and the sizes of their tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects.cuda_tile.module_ops import EntryOp
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.types import tensor_type
from ....dialects.target import Target
from ....dialects.tir.functions import Extent, Shape, volume
from .row_frame import ParameterOp, RowFrame, RowOp, after_reduction, frame_of, is_fill, parameter_axes
from .row_operations import ROW_OPERATIONS, RowTiles, is_split, part_of, total_type
from .row_program import Operand, Place, RowProgram, Tile, cached
from .tile_writer import TileWriter, device_element, power_of_two

__all__ = ["TileLaunch", "row_kernel"]

ROW_LIMIT = 8192
"""The elements of the longest rows that a block keeps: 64 registers of 128 threads."""
BLOCK = 2048
"""The elements of a tile of short rows: 16 registers of 128 threads."""
COLUMNS = 64
"""The adjacent elements that a block reads where rows run across them."""


@dataclass(frozen=True)
class TileLaunch:
    """A launch of an entry by a kernel."""

    entry: EntryOp
    grid: Sequence[Extent]
    tensors: Sequence[int]
    """The tensors that it gets: parameters of the kernel by number, then buffers between entries."""
    sizes: Sequence[Extent]
    """The sizes that it gets after them."""


@dataclass(frozen=True)
class TileKernel:
    """The entries of a kernel, in the order in which they run, and the buffers between them."""

    launches: Sequence[TileLaunch]
    buffers: Sequence[tuple[Shape, Attribute]] = ()


# The sizes of tiles.


def tile_for(frame: RowFrame, target: Target) -> tuple[list[int], bool]:
    """Return the sizes of tiles in the dimensions of `frame`, and whether whole rows fit in one."""
    shape, reduced = frame.shape, frame.reduced
    tile = [1] * len(shape)
    if not reduced[-1]:
        tile[-1] = _least(shape[-1], COLUMNS if any(reduced) else BLOCK)
    row = [power_of_two(n) if isinstance(n, int) else None for n in _inside(frame, shape)]
    fits = None not in row and prod(filter(None, row)) * tile[-1] <= ROW_LIMIT
    _grow(tile, shape, [axis for axis, r in enumerate(reduced) if r], ROW_LIMIT if fits else BLOCK)
    _grow(tile, shape, [axis for axis, r in enumerate(reduced) if not r], BLOCK)
    # Many small tiles are better than multiprocessors without one.
    for axis, inside in enumerate(reduced):
        least = COLUMNS if axis == len(shape) - 1 else 1
        while not inside and tile[axis] > least and _blocks(frame, tile) < 2 * target.cores:
            tile[axis] //= 2
    return tile, fits


def _inside(frame: RowFrame, shape: Sequence[Extent]) -> list[Extent]:
    return [n for n, inside in zip(shape, frame.reduced, strict=True) if inside]


def _least(extent: Extent, limit: int) -> int:
    return min(power_of_two(extent), limit) if isinstance(extent, int) else limit


def _grow(tile: list[int], shape: Shape, axes: Sequence[int], limit: int) -> None:
    """Enlarge a tile along `axes`, the last first, up to `limit` elements."""
    for axis in reversed(axes):
        room = max(1, limit // (prod(tile) // tile[axis]))
        tile[axis] = max(tile[axis], _least(shape[axis], room))


def _blocks(frame: RowFrame, tile: Sequence[int]) -> float:
    """Return the number of tiles of rows; infinity if it is not known."""
    count = volume(kept_tiles(frame, tile))
    return count if isinstance(count, int) else float("inf")


def kept_tiles(frame: RowFrame, tile: Sequence[int]) -> list[Extent]:
    """Return the number of tiles in each dimension, 1 in those that are reduced."""
    rows = zip(frame.shape, tile, frame.reduced, strict=True)
    return [1 if inside else -(-n // t) for n, t, inside in rows]


# Programs.


@dataclass
class GroupTiles:
    """The values of a group on tiles."""

    func: FuncOp
    sizes: Mapping[SSAValue, Shape]
    program: RowProgram
    elementwise: Callable[[TileWriter, Operation, Sequence[SSAValue]], SSAValue]
    pointers: Mapping[SSAValue, SSAValue]
    tiles: dict[SSAValue, Tile] = field(default_factory=dict[SSAValue, Tile])
    operands: dict[tuple[SSAValue, Shape], Tile] = field(
        default_factory=dict[tuple[SSAValue, Shape], Tile]
    )

    def __post_init__(self) -> None:
        self.late = after_reduction([*self.func.body.block.ops])

    @property
    def frame(self) -> RowFrame:
        return self.program.frame

    def compute(self, until: Operation | None = None) -> None:
        """Write the folds of all operations, or of those before one."""
        *ops, _ = self.func.body.block.ops
        for op in ops:
            if op is until:
                return
            self.tiles[op.results[0]] = cached(self.of(op))

    def of(self, op: Operation) -> Tile:
        """Return the function of the tiles of the result of `op`."""
        if is_fill(op):
            return self.filled(op)
        if isinstance(op, RowOp):
            return ROW_OPERATIONS[type(op)](op, self.row(op))
        late = op.results[0] in self.late
        shape = self.program.tile_shape(self.frame.merged(self.sizes[op.results[0]], after=late))
        operands = [self.operand(v, self.frame.merged(self.sizes[v], after=late)) for v in op.operands]
        w = self.program.writer
        return lambda at: self.elementwise(w, op, [w.broadcast(t(at), shape) for t in operands])

    def row(self, op: RowOp) -> RowTiles:
        """Return the operands of an operation along rows."""
        data, *parameters = op.operands
        axes = parameter_axes(op, self.frame.rank) if isinstance(op, ParameterOp) else ()
        shapes = [self.frame.merged(self.frame.placed(self.sizes[v], axes)) for v in parameters]
        return RowTiles(
            self.program,
            self.operand(data, self.frame.merged(self.sizes[data])),
            tensor_type(data).element_type,
            [*map(self.operand, parameters, shapes)],
        )

    def operand(self, value: SSAValue, shape: Shape) -> Tile:
        """Return the tiles of a value; a parameter of the group is loaded, with `shape`."""
        if not isinstance(value, BlockArgument):
            return self.tiles[value]
        if (value, shape) not in self.operands:
            element = tensor_type(value).element_type
            view = self.view(self.pointers[value], shape)
            source = Operand(view, shape, element)
            self.operands[value, shape] = cached(lambda at: self.program.at(at, source))
        return self.operands[value, shape]

    def view(self, pointer: SSAValue, shape: Shape) -> SSAValue:
        return self.program.writer.view(pointer, shape, self.program.tile_shape(shape))

    def filled(self, op: Operation) -> Tile:
        value = op.value.value.data if isinstance(op, FullOp) else op.value.get_values()[0]
        element = tensor_type(op.results[0]).element_type
        ones = (1,) * len(self.frame.shape)
        return lambda _: self.program.writer.number(value, element, ones)

    def store(self, results: Sequence[SSAValue], pointers: Sequence[SSAValue]) -> None:
        """Store results: those with one element for each row once, others at all places."""
        shapes = [self.frame.merged(self.sizes[v], after=v in self.late) for v in results]
        views = [self.view(p, s) for p, s in zip(pointers, shapes, strict=True)]
        per_row = [all(n == 1 for n in _inside(self.frame, shape)) for shape in shapes]

        def write(place: Place, which: bool) -> None:
            for value, view, shape, row in zip(results, views, shapes, per_row, strict=True):
                if row is which:
                    tile = self.program.writer.broadcast(
                        self.tiles[value](place), self.program.tile_shape(shape)
                    )
                    self.program.writer.store(tile, view, self.program.index_in(place, shape))

        write(self.program.whole, True)
        if not all(per_row):
            self.program.for_each(lambda place: write(place, False))
