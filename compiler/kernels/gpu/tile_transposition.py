"""The tile program of transpositions: a block loads a tile by rows, and stores it by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import BlockArgument, SSAValue

from ....dialects.relax.data.manipulation import TransposeOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.tir.functions import Extent, Shape, volume
from ..choices import NoKernel
from ..merged_dimensions import order_of
from .product_frame import Axis, ProductBlock, ProductFrame, Values
from .row_frame import is_fill
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_writer import TileWriter, power_of_two

__all__ = ["transposition"]

SIDE = 64
"""The rows and columns of a tile, if there are so many."""
ELEMENTS = SIDE * SIDE
LONGEST = 256
"""The largest side of a tile, where the other one is short."""


def transposition(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of a transposition, and of element-wise operations before and behind
    it; None if the last dimension stays the last, as lanes then load and store neighbors.

    Errors: NoKernel if the group has other operations.
    """
    op = next(op for op in group.ops if isinstance(op, TransposeOp))
    others = (other for other in group.ops if other is not op)
    if not all(isinstance(other, Elementwise) or is_fill(other) for other in others):
        raise NoKernel("a group of a transposition and operations that are not element-wise")
    shape = group.sizes[op.result]
    if any(isinstance(v, BlockArgument) or group.sizes[v] != shape for v in group.results):
        raise NoKernel("a result that is not computed of the transposition")
    order = order_of(op)
    parts = moved_together(order)
    if not parts or order[-1] == len(order) - 1 or 0 in shape:
        return None
    return TileLaunches([Transposition(group, op, order, parts).launch()])


def moved_together(order: Sequence[int]) -> list[list[int]]:
    """Return the dimensions of the result in groups that are neighbors in the data, too."""
    parts: list[list[int]] = []
    for axis, source in enumerate(order):
        if axis and source == order[axis - 1] + 1:
            parts[-1].append(axis)
        else:
            parts.append([axis])
    return parts


@dataclass(frozen=True)
class Transposition:
    """A transposition with merged dimensions."""

    group: TileGroup
    op: TransposeOp
    order: Sequence[int]
    """The dimension of the data of each dimension of the result."""
    parts: Sequence[Sequence[int]]
    """The merged dimensions of the result."""

    @property
    def axes(self) -> list[Axis]:
        """The axes of the merged dimensions of the result: n is the last, m that of the data."""
        numbers = range(len(self.parts))
        last = max(numbers, key=lambda number: self.order[self.parts[number][0]])
        return ["n" if i == numbers[-1] else "m" if i == last else i for i in numbers]

    @property
    def result_frame(self) -> ProductFrame:
        return ProductFrame(self.group.sizes[self.op.result], self.axes, self.parts)

    @property
    def data_frame(self) -> ProductFrame:
        sources = [[self.order[axis] for axis in part] for part in self.parts]
        pairs = sorted(zip(sources, self.axes, strict=True), key=lambda pair: pair[0])
        shape = self.group.sizes[self.op.data]
        return ProductFrame(shape, [axis for _, axis in pairs], [part for part, _ in pairs])

    def launch(self) -> TileLaunch:
        """Return the launch of the entry: a block for each tile of rows and columns."""
        group, frame = self.group, self.result_frame
        sizes = dict(zip(self.axes, frame.sizes, strict=True))
        tile = tile_of_sides(sizes["m"], sizes["n"])
        counts = [-(-n // tile.get(axis, 1)) for axis, n in sizes.items()]
        w = TileWriter(group.func.sym_name.data, elements_of(group.tensors))
        index = dict(zip(self.axes, w.decomposed(w.block_indices()[0], counts), strict=True))
        pointers = dict[SSAValue, SSAValue](zip(group.func.args, w.pointers))
        batch: Shape = tuple(sizes.get(axis, 1) for axis in range(len(self.parts)))
        block = ProductBlock(group, w, tile, index, pointers, batch)
        data = Values(block, self.data_frame)
        turned = w.transpose(w.broadcast(data.reader(self.op.data)(None), (tile["n"], tile["m"])))
        values = Values(block, frame, {self.op.result: lambda _: turned})
        for value, pointer in zip(group.results, w.pointers[len(pointers) :], strict=True):
            values.store(values.reader(value)(None), value, pointer)
        return TileLaunch(w.finish(), (volume(counts),), range(len(group.tensors)), [*w.sizes])


def tile_of_sides(m: Extent, n: Extent) -> dict[Axis, int]:
    """Return the sizes of a tile along the last dimensions of the data and of the result."""
    most = [power_of_two(size) if isinstance(size, int) else SIDE for size in (m, n)]
    columns = min(most[1], max(SIDE, min(LONGEST, ELEMENTS // min(most[0], SIDE))))
    return {"m": min(most[0], LONGEST, ELEMENTS // columns), "n": columns}
