"""The values of a fused group on tiles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.types import tensor_type
from ....dialects.tir.functions import Shape
from .row_frame import ParameterOp, RowFrame, RowOp, after_reduction, is_fill, parameter_axes
from .row_operations import ROW_OPERATIONS, RowTiles
from .row_program import Operand, RowProgram, Tile, TilePlace, cached
from .tile_builder import TileGroup

__all__ = ["GroupTiles"]


@dataclass
class GroupTiles:
    """The values of a group on tiles."""

    group: TileGroup
    program: RowProgram
    tiles: dict[SSAValue, Tile] = field(default_factory=dict[SSAValue, Tile])
    operands: dict[tuple[SSAValue, Shape], Tile] = field(
        default_factory=dict[tuple[SSAValue, Shape], Tile]
    )

    def __post_init__(self) -> None:
        self.late = after_reduction(self.group.ops)

    @property
    def frame(self) -> RowFrame:
        return self.program.frame

    def compute(self) -> None:
        """Write the folds of all operations."""
        for op in self.group.ops:
            if op.results[0] not in self.tiles:
                self.tiles[op.results[0]] = cached(self.located(op))

    def located(self, op: Operation) -> Tile:
        """Return the function of the tiles of the result of `op`, which have its location."""
        w = self.program.writer
        with w.at(op):
            tile = self.of(op)

        def computed(place: TilePlace) -> SSAValue:
            with w.at(op):
                return tile(place)

        return computed

    def of(self, op: Operation) -> Tile:
        """Return the function of the tiles of the result of `op`."""
        if is_fill(op):
            return self.filled(op)
        if isinstance(op, RowOp):
            return ROW_OPERATIONS[type(op)](op, self.row(op))
        late = op.results[0] in self.late
        shape = self.program.tile_shape(
            self.frame.merged(self.group.sizes[op.results[0]], after=late)
        )
        operands = [
            self.operand(v, self.frame.merged(self.group.sizes[v], after=late)) for v in op.operands
        ]
        w = self.program.writer
        return lambda at: self.group.elementwise(
            w, op, [w.broadcast(t(at), shape) for t in operands]
        )

    def row(self, op: RowOp) -> RowTiles:
        """Return the operands of an operation along rows."""
        data, *parameters = op.operands
        axes = parameter_axes(op, self.frame.rank) if isinstance(op, ParameterOp) else ()
        shapes = [
            self.frame.merged(self.frame.placed(self.group.sizes[v], axes)) for v in parameters
        ]
        return RowTiles(
            self.program,
            self.operand(data, self.frame.merged(self.group.sizes[data])),
            tensor_type(data).element_type,
            [*map(self.operand, parameters, shapes)],
        )

    def operand(self, value: SSAValue, shape: Shape) -> Tile:
        """Return the tiles of a value; a parameter of the group is loaded, with `shape`."""
        if not isinstance(value, BlockArgument):
            return self.tiles[value]
        if (value, shape) not in self.operands:
            element = tensor_type(value).element_type
            view = self.view(self.program.writer.pointers[value.index], shape)
            source = Operand(view, shape, element)
            self.operands[value, shape] = cached(lambda at: self.program.at(at, source))
        return self.operands[value, shape]

    def view(self, pointer: SSAValue, shape: Shape) -> SSAValue:
        return self.program.writer.view(pointer, shape, self.program.tile_shape(shape))

    def filled(self, op: Operation) -> Tile:
        assert isinstance(op, FullOp | ConstantOp)
        value = op.value.value.data if isinstance(op, FullOp) else op.value.get_values()[0]
        assert isinstance(value, float | int)
        element = tensor_type(op.results[0]).element_type
        ones = (1,) * len(self.frame.shape)
        return lambda _: self.program.writer.number(value, element, ones)

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of the results in the frame."""
        results = self.group.results
        return [self.frame.merged(self.group.sizes[v], after=v in self.late) for v in results]

    @property
    def per_row(self) -> list[bool]:
        """Whether each result has one element for each row."""
        return [all(n == 1 for n in self.frame.inside(shape)) for shape in self.shapes]

    def store(self, pointers: Sequence[SSAValue], which: Collection[bool] = (True, False)) -> None:
        """Store the results: those with one element for each row once, others at all places; only
        those whose `per_row` is in `which`."""
        rows = zip(self.group.results, pointers, self.shapes, self.per_row, strict=True)
        stored = [(v, self.view(p, s), s, row) for v, p, s, row in rows if row in which]

        def write(place: TilePlace, per_row: bool) -> None:
            for value, view, shape, row in stored:
                if row is per_row:
                    tile = self.program.writer.broadcast(
                        self.tiles[value](place), self.program.tile_shape(shape)
                    )
                    self.program.writer.store(tile, view, self.program.index_in(place, shape))

        write(self.program.whole, True)
        if not all(row for *_, row in stored):
            self.program.for_each(lambda place: write(place, False))
