"""The loops of contractions, as the cost model schedules them.

The kinds of the loops say how they are to run; passes on tir unroll and vectorize them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar, overload

from xdsl.dialects import vector
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, VectorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, SymbolicExtent, volume
from ....dialects.tir.ops import ForKind, PrefetchOp
from .choices import Form, Space
from .contraction import Contraction
from .cost_model import (
    LINE,
    LOADS,
    NOMINAL,
    NOMINAL_IMAGE,
    Extents,
    Operand,
    Schedule,
    candidates,
    cycles,
    peak_share,
    schedule_of,
    shares_columns,
)
from .kernel_builder import Buffer, KernelBuilder, Store, is_more
from .layouts import known
from .scalars import convert, fills_bytes
from .transposed import LEAST_SIDE, bytes_of, segment_of, transpose_lanes

__all__ = ["FEW_ROWS", "below", "nominal", "nominal_volume", "padded", "part", "write_contraction"]

T = TypeVar("T")

FEW_ROWS = 3
"""Up to this many rows of lhs, terms that are contiguous in both operands are summed up in lanes:
to pack them as columns would cost more than the products."""

DOT_PRODUCTS = (4, 2, 1)
"""The numbers of dot products that are computed together."""

UNROLLED = ForKind.UNROLLED
VECTORIZED = ForKind.VECTORIZED


def write_contraction(b: KernelBuilder, t: Contraction, finish: Store) -> None:
    """Write loops that compute all elements of `t`, and call `finish` for each."""
    if 0 in (*t.batch, t.m, *t.rows, t.columns):
        return
    extents = extents_of(t)
    if t.rhs_along_terms and extents.m <= FEW_ROWS and extents.constant is not Operand.RHS:
        write_dot_products(b, t, finish)
    else:
        schedule = b.decide(Schedules(extents, b.target))
        registers = schedule.m * schedule.vectors
        b.remark(
            "analysis",
            "Schedule",
            f"{schedule}",
            Sums=f"{registers} of {b.target.vector_registers} registers",
            PeakPercent=round(100 * peak_share(schedule, extents, b.target)),
        )
        write_blocks(b, t, schedule, finish)


@dataclass(frozen=True)
class Schedules(Space[Schedule]):
    """The schedules of a contraction."""

    extents: Extents
    target: Target

    kind = "schedule"

    def problem(self) -> Form:
        constant = self.extents.constant
        given = None if constant is None else constant.value
        form = {**vars(self.extents), "constant": given}
        return form if self.extents.margin else {k: v for k, v in form.items() if k != "margin"}

    def candidates(self) -> Iterator[Schedule]:
        return candidates(self.extents, self.target)

    def estimate(self, candidate: Schedule) -> float:
        return self.extents.batch * cycles(candidate, self.extents, self.target)

    def best(self) -> Schedule:
        return schedule_of(self.extents, self.target)


def extents_of(t: Contraction) -> Extents:
    """Return the extents of a contraction, for the cost model; nominal ones for those that are not
    known."""
    inputs, *taps = (nominal(extent) for extent in t.terms)
    block = taps.pop() if t.rhs_along_terms and taps else 1
    image = NOMINAL_IMAGE if t.rows else NOMINAL
    if isinstance(t.columns, SymbolicExtent) and len({*t.columns.size.symbols()}) > 1:
        image = NOMINAL_IMAGE**2  # all points of one
    assert isinstance(t.total, FixedBitwidthType)
    bits = max(8, t.total.bitwidth)
    constant = None
    if t.weights is not None:
        constant = Operand.LHS if t.weights.is_lhs else Operand.RHS
    rows, columns = (volume([nominal(n, image) for n in part]) for part in (t.rows, (t.columns,)))
    return Extents(
        nominal(t.m),
        rows,
        columns,
        max(1, inputs),
        volume(taps) * block,
        bits,
        t.merged,
        constant,
        taps[-1] if taps else 1,
        isinstance(t.columns, int),
        nominal_volume(t.batch),
        block,
        t.rows_together,
        t.margin,
    )


def nominal_volume(shape: Sequence[Index]) -> int:
    """Return the number of elements of a shape, with nominal extents for those that are not
    known."""
    return prod(map(nominal, shape))


def nominal(extent: Index, assumed: int = NOMINAL) -> int:
    """Return an extent, or the `assumed` one if it is not known."""
    return extent if isinstance(extent, int) else assumed


@dataclass(frozen=True)
class Block:
    """A block of columns: rows of the image from `first_row` on, or a part of one row."""

    batch: Sequence[Index]
    first_row: Index
    rows: Index
    first_column: Index
    columns: Index
    panel: SSAValue | None
    """The packed columns by terms, if the kernel packs them."""
    weights: Buffer | None
    """The constant operand, packed by the callers."""
    width: Index
    """The columns of a row in the panel."""


def write_blocks(b: KernelBuilder, t: Contraction, s: Schedule, finish: Store) -> None:
    """Write loops over blocks of columns and of terms."""
    image_rows, inputs = volume(t.rows), t.terms[0]
    weights = None
    if t.weights is not None:
        weights = t.weights.packed(b, s.rows_of_tile if t.weights.is_lhs else s.tile)
    rows, columns = block_extents(b, t, s)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loop(b.ceildiv(image_rows, rows), ForKind.PARALLEL) as row_block,
        b.loop(b.ceildiv(t.columns, columns), ForKind.PARALLEL) as column_block,
    ):
        first_row, first_column = b.mul(row_block, rows), b.mul(column_block, columns)
        block = Block(
            batch,
            first_row,
            part(b, first_row, rows, image_rows),
            first_column,
            part(b, first_column, columns, t.columns),
            b.alloc(panel_shape(t, s), t.total) if s.packs else None,
            weights,
            columns,
        )
        if not is_more(inputs, s.inputs):
            write_tiles(b, t, s, block, (0, inputs), finish)
            return
        assert not isinstance(t.m, SSAValue)  # parts of matrices have few terms
        shape = padded(t.m, s.rows_of_tile), padded(s.rows * s.columns, s.tile)
        shape = in_order(s, shape)
        sums = b.alloc(shape, t.total)
        b.fill(sums, shape, t.total)
        with b.loop(b.ceildiv(inputs, s.inputs)) as term_block:
            first = b.mul(term_block, s.inputs)
            write_tiles(b, t, s, block, (first, part(b, first, s.inputs, inputs)), sums)
        with (
            b.loop(t.m) as m,
            columns_of(b, block, s) as (column,),
        ):
            finish_column(b, t, block, m, column, b.load(sums, in_order(s, (m, column))), finish)


def block_extents(b: KernelBuilder, t: Contraction, s: Schedule) -> tuple[Index, Index]:
    """Return the rows and the columns of a block of the image: of an image of unknown extents, as
    many rows as the panel holds, or a part of one row."""
    if isinstance(t.columns, int):
        return s.rows, s.columns
    if not s.packs:
        return b.min(s.rows, volume(t.rows)), t.columns
    most = s.rows * s.columns
    columns = b.max(b.min(t.columns, most), 1)
    if not (t.merged and t.rows and s.packs):
        return 1, columns
    return b.max(b.min(b.floordiv(most, columns), volume(t.rows)), 1), columns


def in_order(s: Schedule, pair: tuple[T, T]) -> tuple[T, T]:
    """Return what is of rows of lhs and what is of columns in the order of vectors: that of which
    lanes are comes last."""
    first, second = pair
    return (second, first) if s.by_rows else (first, second)


def part(b: KernelBuilder, first: Index, extent: Index, whole: Extent) -> Index:
    """Return the extent of a part that begins at `first`: the last one may be smaller."""
    if isinstance(extent, int) and whole % extent == 0:
        return extent
    return b.min(extent, b.sub(whole, first))


@overload
def padded(extent: int, to: int) -> int: ...


@overload
def padded(extent: Extent, to: int) -> Extent: ...


def padded(extent: Extent, to: int) -> Extent:
    """Return `extent` rounded up to a multiple of `to`."""
    return (extent + to - 1) // to * to


def panel_shape(t: Contraction, s: Schedule) -> tuple[Extent, int]:
    """Return the terms and the columns of a panel. The terms are an odd number of cache lines
    apart: at a power of two, few sets of a cache would have to hold all of them."""
    assert isinstance(t.total, FixedBitwidthType)
    line = LINE * 8 // max(8, t.total.bitwidth)
    columns = padded(s.rows * s.columns, s.tile)
    if t.margin:  # the vectors of the last row may end after it
        columns += s.lanes
    lines = padded(columns, line) // line
    inputs = s.inputs if isinstance(t.terms[0], int) else t.terms[0]
    return inputs * volume(t.terms[1:]), (lines | 1) * line


@contextmanager
def columns_of(b: KernelBuilder, block: Block, s: Schedule) -> Generator[list[Index]]:
    """Write a vectorized loop over the columns of a block."""
    count = b.mul(block.rows, block.columns)
    with (
        b.loop(b.ceildiv(count, s.lanes)) as chunk,
        b.loop(s.lanes, VECTORIZED) as lane,
    ):
        column = b.add(b.mul(chunk, s.lanes), lane)
        with b.when(below(b, column, count, s.lanes)):
            yield [column]


def below(b: KernelBuilder, column: Index, count: Index, step: int) -> list[SSAValue]:
    """Return the condition that a column of a tile of `step` columns is in the block."""
    count = b.known(count)
    if isinstance(count, int) and count % step == 0:
        return []
    return [b.likely(b.less(column, count))]


def write_tiles(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: Block,
    terms: tuple[Index, Index],
    result: Store | SSAValue,
) -> None:
    """Write loops over the tiles of a block that sum up some terms, given by the first input and
    the number of inputs. The sums are added to a buffer, or finished."""
    if s.in_place:
        write_tiles_in_place(b, t, s, block, terms, result)
        return
    if block.panel is not None:
        pack_columns(b, t, s, block, terms)
    count = b.mul(block.rows, block.columns)
    loops = [b.ceildiv(count, s.tile), b.ceildiv(t.m, s.rows_of_tile)]
    if not s.lhs_inside:
        loops.reverse()
    with b.loop(loops[0]) as outer, b.loop(loops[1]) as inner:
        column_tile, m_tile = (outer, inner) if s.lhs_inside else (inner, outer)
        write_tile(b, t, s, block, terms, m_tile, column_tile, result)


def write_tiles_in_place(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: Block,
    terms: tuple[Index, Index],
    result: Store | SSAValue,
) -> None:
    """Write loops over the tiles of a block whose columns are read one by one where they are: each
    tile is a part of one row, or some rows."""
    across, down = b.ceildiv(columns_in_order(t, s), s.tile), b.ceildiv(t.m, s.rows_of_tile)
    rows = s.rows if isinstance(t.columns, int) else block.rows
    lines = block.rows
    if has_rows(t, s):
        rows = lines = 1

    def write(row: Index, column_tile: Index, m_tile: Index) -> None:
        line = block
        if not has_rows(t, s):
            line = replace(block, first_row=b.add(block.first_row, row), rows=1)
        following = None
        if not s.lhs_inside:
            number = b.add(b.mul(row, across), column_tile)
            following = following_weights(b, t, s, block, m_tile, (number, b.mul(rows, across)))
        write_tile(b, t, s, line, terms, m_tile, column_tile, result, following)

    if s.lhs_inside:
        with b.loop(lines) as row, b.loop(across) as column_tile, b.loop(down) as m_tile:
            write(row, column_tile, m_tile)
    else:
        with b.loop(down) as m_tile, b.loop(lines) as row, b.loop(across) as column_tile:
            write(row, column_tile, m_tile)


def has_rows(t: Contraction, s: Schedule) -> bool:
    """Return whether each tile consists of some whole rows of the image, which is one block."""
    return s.in_place and isinstance(t.columns, int) and s.tile > t.columns


def columns_in_order(t: Contraction, s: Schedule) -> Extent:
    """Return the number of columns that tiles which are read in place divide: those of a row, or of
    the image."""
    return volume((*t.rows, t.columns)) if has_rows(t, s) else t.columns


def write_tile(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: Block,
    terms: tuple[Index, Index],
    m_tile: Index,
    column_tile: Index,
    result: Store | SSAValue,
    following: Following | None = None,
) -> None:
    """Write the loop over terms of a tile, its sums in registers. It prefetches the weights that
    are `following`."""
    tile = Tile.start(b, t, s, block, m_tile, column_tile)
    with tile.sums_in_registers() as index:
        if callable(result):
            start = b.number(0, t.total)
        else:
            start = b.load(result, in_order(s, tile.at(*index)))
        b.store(start, tile.sums, index)
    if block.panel is not None:
        tile.add_packed_columns(block.panel, terms)
    elif t.weights is not None and not t.weights.is_lhs:
        tile.add_packed_weights(terms)
    else:
        tile.add_columns(terms, following)
    if callable(result):
        tile.finish(result)
        return
    with tile.sums_in_registers() as index:
        b.store(b.load(tile.sums, index), result, in_order(s, tile.at(*index)))


@dataclass(frozen=True)
class Tile:
    """The sums of some rows of lhs and some columns of a block."""

    b: KernelBuilder
    contraction: Contraction
    schedule: Schedule
    block: Block
    m_tile: Index
    """The number of the tile among those of rows of lhs."""
    column_tile: Index
    """The number of the tile among those of columns of the block."""
    first_m: Index
    first: Index
    """The first column, counted from that of the block."""
    sums: SSAValue
    columns: Index
    """The number of columns of the block."""
    is_whole: bool = False
    """True in code that runs for tiles only whose columns are all in the block, and in no other."""

    @staticmethod
    def start(
        b: KernelBuilder,
        t: Contraction,
        s: Schedule,
        block: Block,
        m_tile: Index,
        column_tile: Index,
    ) -> Tile:
        """Return a tile, and allocate its sums."""
        first_m = b.mul(m_tile, s.rows_of_tile)
        if s.in_place:  # the last tile overlaps the one before it, so that it reads nothing else
            first = b.chunk_start(column_tile, s.tile, columns_in_order(t, s))
            if not isinstance(t.columns, int):  # they may be less than a tile
                first = b.max(first, 0)
        else:
            first = b.mul(column_tile, s.tile)
        sums = b.alloc((s.m, s.vectors, s.lanes), t.total, "local")
        count = b.mul(block.rows, block.columns)
        return Tile(b, t, s, block, m_tile, column_tile, first_m, first, sums, count)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The extents of the sums: rows (or columns), vectors and lanes."""
        return self.schedule.m, self.schedule.vectors, self.schedule.lanes

    def sums_in_registers(self) -> AbstractContextManager[list[Index]]:
        """Build the body of loops over the sums that leave them in registers."""
        return self.b.nest(self.shape, (UNROLLED, UNROLLED, VECTORIZED))

    def places(self, i: Index, v: Index, lane: Index) -> tuple[Index, Index]:
        """Return the row of lhs and the column in the tile of a sum."""
        b, s = self.b, self.schedule
        return in_order(s, (i, b.add(b.mul(v, s.lanes), lane)))

    def at(self, i: Index, v: Index, lane: Index) -> tuple[Index, Index]:
        """Return the row of lhs and the column in the block of a sum."""
        row, column = self.places(i, v, lane)
        return self.b.add(self.first_m, row), self.b.add(self.first, column)

    def image_place(self, column: Index, i: Index) -> tuple[Index, Index]:
        """Return the row and the column of the image for column `column` of the block, `i` of the
        tile."""
        b, t, block = self.b, self.contraction, self.block
        if not has_rows(t, self.schedule):
            return block.first_row, b.add(block.first_column, column)
        row = b.add(b.floordiv(self.first, t.columns), b.floordiv(i, t.columns))
        return b.add(block.first_row, row), b.mod(i, t.columns)

    def add_packed_columns(self, panel: SSAValue, terms: tuple[Index, Index]) -> None:
        """Write a loop that adds the products of some terms; columns are in `panel`."""
        b, taps = self.b, volume(self.contraction.terms[1:])
        first_input, inputs = terms
        with b.loop(b.mul(inputs, taps)) as k, self.sums_in_registers() as index:
            right = b.load(panel, [k, self.at(*index)[1]])
            self.add_product(index, b.add(b.mul(first_input, taps), k), right)

    def add_packed_weights(self, terms: tuple[Index, Index]) -> None:
        """Write a loop that adds the products of some terms; columns are a packed constant."""
        b, block = self.b, self.block
        first_input, inputs = terms
        tile = b.add(b.floordiv(block.first_column, self.schedule.tile), self.column_tile)
        with b.loop(inputs) as k, self.sums_in_registers() as index:
            k = b.add(first_input, k)
            place = self.places(*index)[1]
            right = read_weights(b, self.contraction, block, tile, k, place)
            self.add_product(index, k, right)

    def add_columns(self, terms: tuple[Index, Index], following: Following | None = None) -> None:
        """Write loops that add the products of some terms; columns are read where they are. They
        prefetch the weights that are `following`."""
        b, t, s, block = self.b, self.contraction, self.schedule, self.block
        first_input, inputs = terms
        taps = t.terms[1:]
        kinds = [ForKind.SERIAL] * len(taps)
        if shares_columns(s, extents_of(t), b.target):
            kinds[-1] = UNROLLED
        with b.loop(inputs) as channel, b.nest(taps, kinds) as tap:
            indices = [b.add(first_input, channel), *tap]
            if following is not None:
                following.prefetch(b, b.flat(indices, t.terms))
            with self.sums_in_registers() as index:
                column = self.at(*index)[1]
                inside = []
                if not s.in_place and not t.margin:
                    inside = below(b, column, self.columns, s.tile)
                with b.when(inside):
                    first_row, source = self.image_place(column, index[0])
                    row = b.unflat(first_row, t.rows) if t.rows else []
                    right = t.rhs(b, block.batch, indices, row, source)
                    self.add_product(index, b.flat(indices, t.terms), right)

    def add_product(self, index: Sequence[Index], k: Index, right: SSAValue) -> None:
        """Add the product of an element of lhs at term `k` and an element of rhs to a sum."""
        b, t, block = self.b, self.contraction, self.block
        i, v, lane = index
        if t.weights is not None and t.weights.is_lhs:
            left = read_weights(b, t, block, self.m_tile, k, self.places(i, v, lane)[0])
        else:
            m = b.add(self.first_m, i)
            # Rows beyond the last one repeat it: their sums are not used.
            whole = is_multiple(t.m, self.schedule.m)
            left = t.lhs(b, block.batch, m if whole else b.min(m, b.sub(t.m, 1)), k)
        total = t.multiply_add(b, b.load(self.sums, index), left, right)
        b.store(total, self.sums, index)

    def finish(self, finish: Store) -> None:
        """Write loops that call `finish` for the sums inside of the matrix and the block."""
        b, t, s = self.b, self.contraction, self.schedule
        # A copy: the loops below index sums by variables, which would keep them in memory.
        copy = b.alloc(self.shape, t.total, "local")
        with self.sums_in_registers() as index:
            b.store(b.load(self.sums, index), copy, index)
        if s.in_place and not isinstance(t.columns, int):
            end = b.mul(b.add(self.column_tile, 1), s.tile)
            whole = b.less(b.sub(end, 1), t.columns)
            with b.when([whole]):
                replace(self, is_whole=True).finish_rows(copy, finish)
            with b.when([b.negation(whole)]):
                self.finish_rows(copy, finish)
            return
        if s.by_rows and t.rows_together % s.lanes:
            self.finish_rows(copy, finish)
            return
        with b.nest(self.shape, (ForKind.SERIAL, ForKind.SERIAL, VECTORIZED)) as (i, v, lane):
            self.finish_sum(i, v, lane, b.load(copy, [i, v, lane]), finish)

    def finish_rows(self, sums: SSAValue, finish: Store) -> None:
        """Write loops that call `finish` for sums whose lanes are rows: of one row after the other,
        as columns are next to each other in the result."""
        b, s = self.b, self.schedule
        transposes = s.lanes >= LEAST_SIDE and fills_bytes(self.contraction.total)
        with b.loop(s.vectors) as v:
            rows = transpose_vectors(b, sums, v, self.shape) if transposes else None
            with b.loop(s.lanes) as lane, b.loop(s.m, VECTORIZED) as i:
                total = b.load(sums, [i, v, lane]) if rows is None else b.load(rows, [lane, i])
                self.finish_sum(i, v, lane, total, finish)

    def finish_sum(self, i: Index, v: Index, lane: Index, total: SSAValue, finish: Store) -> None:
        """Write a call of `finish` for a sum if it is inside of the matrix and the block."""
        b, t, s = self.b, self.contraction, self.schedule
        m, column = self.at(i, v, lane)
        with (
            b.when([] if is_multiple(t.m, s.rows_of_tile) else [b.less(m, t.m)]),
            b.when(self.own(column)),
        ):
            row, at = self.image_place(column, i)
            block = replace(self.block, first_row=row, first_column=0)
            if not s.in_place:
                block, at = self.block, column
            finish_column(b, t, block, m, at, total, finish)

    def own(self, column: Index) -> list[SSAValue]:
        """Return the condition that a column is in the block, and in no tile before this one."""
        b, s = self.b, self.schedule
        if self.is_whole:
            return []
        if not s.in_place:
            return below(b, column, self.columns, s.tile)
        columns = self.contraction.columns
        if is_multiple(columns_in_order(self.contraction, s), s.tile):
            return []
        conditions = [b.less(b.sub(b.mul(self.column_tile, s.tile), 1), column)]
        return conditions if isinstance(columns, int) else [*conditions, b.less(column, columns)]


@dataclass(frozen=True)
class Following:
    """The packed weights of the next tile of rows, of which a tile of columns prefetches a part:
    weights come from memory once in a call, and nothing else hides how long that takes."""

    buffer: SSAValue
    """The weights in groups, tiles, and the elements of a tile."""
    place: Sequence[Index]
    """The group and the tile."""
    first: Index
    """The number of the first element of the part, divided by `step`."""
    step: int
    """The elements of a term."""
    line: int
    """The elements of a line of a cache."""

    def prefetch(self, b: KernelBuilder, k: Index) -> None:
        """Write the prefetch of the elements of term `k`."""
        start = b.mul(b.add(self.first, k), self.step)
        for line in range(0, self.step, self.line):
            index = [*self.place, b.add(start, line)]
            b.insert(PrefetchOp(self.buffer, [*map(b.index, index)]))


def following_weights(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: Block,
    m_tile: Index,
    column_tile: tuple[Index, Index],
) -> Following | None:
    """Return the part of the next weights that a tile of columns prefetches, given its number and
    the number of all; None if the first cache has all weights, or if there is no next tile."""
    numbers, count = column_tile
    if t.weights is None or block.weights is None or not isinstance(count, int):
        return None
    *outer, terms, width = (known(extent) for extent in block.weights.shape)
    if outer[1] == 1 or volume(block.weights.shape) * bytes_of(t.total) <= b.target.l1_cache:
        return None
    step = -(-width // count)
    part = b.min(numbers, width // step - 1)
    return Following(
        b.view(block.weights.buffer, (*outer, terms * width)),
        [t.weights.group_of(block.batch), b.min(b.add(m_tile, 1), outer[1] - 1)],
        b.mul(part, terms),
        step,
        max(1, LINE // bytes_of(t.total)),
    )


def transpose_vectors(
    b: KernelBuilder, sums: SSAValue, v: Index, shape: tuple[int, int, int]
) -> SSAValue:
    """Return a buffer whose row `i` has lane `i` of the vectors `sums[:, v]`; its last columns are
    not used. `shape` is that of the sums."""
    assert isa(sums.type, MemRefType)
    element = sums.type.element_type
    count, _, lanes = shape
    result = b.alloc((lanes, padded(count, lanes)), element, "local")
    type, zero, place = VectorType(element, [lanes]), b.index(0), b.index(v)
    for first in range(0, count, lanes):
        # Vectors beyond the last one repeat it.
        places = [b.index(min(first + i, count - 1)) for i in range(lanes)]
        vectors = [b.insert(vector.LoadOp(sums, [i, place, zero], type)).results[0] for i in places]
        for lane, row in enumerate(transpose_lanes(b, vectors, segment_of(element))):
            b.insert(vector.StoreOp(row, result, [b.index(lane), b.index(first)]))
    return result


def is_multiple(extent: Index, of: int) -> bool:
    """Return whether an extent is known to be a multiple of a number."""
    return not isinstance(extent, SSAValue) and extent % of == 0


def read_weights(
    b: KernelBuilder, t: Contraction, block: Block, tile: Index, k: Index, place: Index
) -> SSAValue:
    """Return an element of the packed constant."""
    assert t.weights is not None and block.weights is not None
    value = b.read(block.weights, [t.weights.group_of(block.batch), tile, k, place])
    return convert(b, value, t.total)


def finish_column(
    b: KernelBuilder,
    t: Contraction,
    block: Block,
    m: Index,
    column: Index,
    total: SSAValue,
    finish: Store,
) -> None:
    """Write the use of the element at a row of lhs and a column of a block."""
    if t.merged:
        first = b.add(b.mul(block.first_row, t.columns), block.first_column)
        row, column = [], b.add(first, column)
    else:
        row = b.unflat(block.first_row, t.rows) if t.rows else []
        column = b.add(block.first_column, column)
    finish(t.index_of(b, block.batch, m, row, column), t.element_of(b, total))


def pack_columns(
    b: KernelBuilder, t: Contraction, s: Schedule, block: Block, terms: tuple[Index, Index]
) -> None:
    """Write loops that copy the columns of a block into its panel, row after row."""
    assert block.panel is not None
    count = s.rows * s.columns
    first_input, inputs = terms
    taps = t.terms[1:]
    widths = None
    if isinstance(t.columns, int):
        widths = (s.columns, t.columns % s.columns or s.columns)
    with b.loop(inputs) as channel, b.loops(taps) as tap:
        k = b.flat([channel, *tap], [1, *taps])
        if widths is None:
            clear_rest(b, t, s, block, k)
        elif count % s.tile:  # the lanes of the last tile beyond the block
            whole = count // s.lanes * s.lanes
            with b.covering(padded(count, s.tile) - whole, s.lanes) as place:
                b.store(b.number(0, t.total), block.panel, [k, b.add(whole, place)])
        vectors = b.covering(block.columns, s.lanes, widths)
        if t.margin:  # a vector may end in the next row of the panel, which is packed later
            vectors = whole_vectors(b, block.columns, s.lanes)
        with b.loop(block.rows) as r, vectors as column:
            row = b.unflat(b.add(block.first_row, r), t.rows) if t.rows else []
            source = b.add(block.first_column, column)
            value = t.rhs(b, block.batch, [b.add(first_input, channel), *tap], row, source)
            b.store(value, block.panel, [k, b.add(b.mul(r, block.width), column)])


@contextmanager
def whole_vectors(b: KernelBuilder, count: Index, lanes: int) -> Generator[Index]:
    """Build the body of a vectorized loop over `count` elements, and over those that fill the last
    vector."""
    with b.loop(b.ceildiv(count, lanes)) as chunk, b.loop(lanes, VECTORIZED) as lane:
        yield b.add(b.mul(chunk, lanes), lane)


def clear_rest(b: KernelBuilder, t: Contraction, s: Schedule, block: Block, k: Index) -> None:
    """Write loops that set the lanes of the last tile beyond a block of unknown extents to zero, at
    term `k` of the panel."""
    assert block.panel is not None
    count = b.mul(block.rows, block.columns)
    whole = b.mul(b.floordiv(count, s.lanes), s.lanes)
    end = b.mul(b.ceildiv(count, s.tile), s.tile)
    vectors = b.floordiv(b.sub(end, whole), s.lanes)
    with b.loop(vectors) as v, b.loop(s.lanes, VECTORIZED) as lane:
        place = b.add(b.add(whole, b.mul(v, s.lanes)), lane)
        b.store(b.number(0, t.total), block.panel, [k, place])


@dataclass(frozen=True)
class DotProducts(Space[int]):
    """The numbers of dot products that are computed together."""

    fitting: Sequence[int]
    batch: int
    m: int
    columns: int
    terms: int
    lanes: int

    kind = "dot products"

    def problem(self) -> Form:
        names = ("batch", "m", "columns", "terms", "lanes")
        return {name: vars(self)[name] for name in names}

    def candidates(self) -> Iterator[int]:
        return iter(self.fitting)

    def estimate(self, candidate: int) -> float:
        """Return the cycles of the loads, which bound short products: lhs once for all of them."""
        vectors = self.batch * self.m * self.columns * -(-self.terms // self.lanes)
        return vectors * (1 + 1 / candidate) / LOADS

    def form(self, candidate: int) -> Form:
        return {"together": candidate}


def write_dot_products(b: KernelBuilder, t: Contraction, finish: Store) -> None:
    """Write loops for terms that are contiguous in both operands: each lane sums up every
    `lanes`-th term, and the lanes are added at the end."""
    (terms,) = t.terms
    lanes = b.lanes
    columns = nominal(t.columns, 1)  # of an unknown number, one is computed at once
    fitting = [n for n in DOT_PRODUCTS if columns % n == 0]
    batch, m = nominal_volume(t.batch), nominal(t.m)
    at_once = b.decide(DotProducts(fitting, batch, m, columns, nominal(terms), lanes))
    shape = (at_once, lanes)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loop(t.columns // at_once, ForKind.PARALLEL) as column_tile,
        b.loop(t.m) as m,
    ):
        first = b.mul(column_tile, at_once)
        sums = b.alloc(shape, t.total, "local")
        unrolled = [UNROLLED, VECTORIZED]
        with b.nest(shape, unrolled) as index:
            b.store(b.number(0, t.total), sums, index)

        def add_term(j: Index, v: Index, k: Index) -> None:
            left = t.lhs(b, batch, m, k)
            right = t.rhs(b, batch, [k], [], b.add(first, j))
            b.store(t.multiply_add(b, b.load(sums, [j, v]), left, right), sums, [j, v])

        with b.loop(terms // lanes) as chunk, b.nest(shape, unrolled) as (j, v):
            add_term(j, v, b.add(b.mul(chunk, lanes), v))
        if not isinstance(terms, int):
            with b.loop(terms % lanes) as v, b.loop(at_once, UNROLLED) as j:
                add_term(j, 0, b.add(terms // lanes * lanes, v))
        elif terms % lanes:
            rest = terms - terms % lanes
            with b.nest((at_once, terms % lanes), unrolled) as (j, v):
                add_term(j, v, b.add(rest, v))
        tile_of_sums = b.alloc(shape, t.total, "local")
        with b.nest(shape, unrolled) as index:
            b.store(b.load(sums, index), tile_of_sums, index)
        with b.loop(at_once) as j:
            total = b.alloc((1,), t.total, "local")
            b.store(b.number(0, t.total), total, [0])
            with b.loop(lanes) as v:
                b.store(b.sum(b.load(total, [0]), b.load(tile_of_sums, [j, v])), total, [0])
            value = t.element_of(b, b.load(total, [0]))
            finish(t.index_of(b, batch, m, [], b.add(first, j)), value)
