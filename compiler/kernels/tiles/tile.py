"""A tile of a contraction: sums that stay in registers while products are added to them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.dialects import vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, volume
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Store
from ..contraction.contraction import Contraction, Coordinates
from ..scalars import convert, fills_bytes
from .blocks import ColumnBlock, below, is_multiple, padded
from .cost_model import shares_columns
from .following_weights import Following, following_weights, weights_ahead
from .schedule import Cut, Edges, Schedule
from .schedules import extents_of
from .transposed import MIN_SIDE, segment_of, transpose_lanes

T = TypeVar("T")

UNROLLED = ForKind.UNROLLED
VECTORIZED = ForKind.VECTORIZED


@dataclass(frozen=True)
class TermPart:
    """An input of a block of terms, counted from the first one of the block."""

    first_input: Index
    input: Index
    following: Following | None
    """The weights that are prefetched meanwhile."""


@dataclass(eq=False)
class ContractionTile:
    """The sums of some rows of lhs and some columns of a block."""

    b: KernelBuilder
    contraction: Contraction
    schedule: Schedule
    block: ColumnBlock
    m_tile: Index
    """The number of the tile among those of rows of lhs."""
    column_tile: Index
    """The number of the tile among those of columns of the block."""
    first: Index
    """The first column, counted from that of the block."""
    m: int
    """The rows of lhs, or with `by_rows` the columns. The last tile in place has the columns that
    are left."""
    number: Index
    count: Index
    """The number of the tile among all tiles of columns of the block, and how many these are."""
    is_whole: bool = False
    """True if all columns of the tile are in the block."""

    def __post_init__(self) -> None:
        b, block = self.b, self.block
        self.first_m = self.m_tile * self.schedule.rows_of_tile
        self.sums = b.alloc(self.shape, self.contraction.total, "local")
        self.columns = block.rows * block.columns
        """The number of columns of the block."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The extents of the sums: rows (or columns), vectors and lanes."""
        return self.m, self.schedule.vectors, self.schedule.lanes

    def sums_in_registers(self) -> AbstractContextManager[list[Index]]:
        """Build the body of loops over the sums that leave them in registers."""
        return self.b.nest(self.shape, (UNROLLED, UNROLLED, VECTORIZED))

    def places(self, i: Index, v: Index, lane: Index) -> tuple[Index, Index]:
        """Return the row of lhs and the column in the tile of a sum."""
        s = self.schedule
        return in_order(s, (i, v * s.lanes + lane))

    def at(self, i: Index, v: Index, lane: Index) -> tuple[Index, Index]:
        """Return the row of lhs and the column in the block of a sum."""
        # With 2 vectors of 8 lanes, sum (i, v, lane) = (3, 1, 5) is row 3 and column 13 of the
        # tile, or by rows, row 13 and column 3.
        row, column = self.places(i, v, lane)
        return self.first_m + row, self.first + column

    def image_place(self, column: Index, i: Index) -> tuple[Index, Index]:
        """Return the row and the column of the image for column `column` of the block, which is
        column `i` of the tile."""
        b, t, block = self.b, self.contraction, self.block
        if not has_rows(t, self.schedule):
            return block.first_row, block.first_column + column
        # `first` is a multiple of t.columns here, so the two quotients can be added: with rows of 7
        # columns and tiles of 14, column 9 of tile 1 is column 2 of row 2 + 1. Where products are
        # added, `i` is unrolled, and its quotient and remainder are constants.
        row = b.floordiv(self.first, t.columns) + b.floordiv(i, t.columns)
        return block.first_row + row, b.mod(i, t.columns)

    def clear(self) -> None:
        """Set the sums to zero."""
        b = self.b
        with self.sums_in_registers() as index:
            b.store(b.number(0, self.contraction.total), self.sums, index)

    def load(self, sums: SSAValue, place: Sequence[Index]) -> None:
        """Read the sums that are at `place` in a buffer of tiles."""
        b = self.b
        with self.sums_in_registers() as index:
            b.store(b.load(sums, [*place, *index]), self.sums, index)

    def store(self, sums: SSAValue, place: Sequence[Index]) -> None:
        """Write the sums to `place` in a buffer of tiles."""
        b = self.b
        with self.sums_in_registers() as index:
            b.store(b.load(self.sums, index), sums, [*place, *index])

    def add(self, terms: tuple[Index, Index]) -> None:
        """Write loops that add the products of some terms, given by the first input and the number
        of inputs."""
        weights = self.contraction.weights
        if self.block.panel is not None:
            self.add_packed_columns(self.block.panel, terms)
        elif weights is not None and not weights.is_lhs:
            self.add_packed_weights(terms)
        else:
            self.add_columns(terms)

    def add_packed_columns(self, panel: SSAValue, terms: tuple[Index, Index]) -> None:
        """Write a loop that adds the products of some terms; columns are in `panel`."""
        b, taps = self.b, volume(self.contraction.terms[1:])
        first_input, inputs = terms
        with b.loop(inputs * taps) as k, self.each_sum(self.m) as index:
            right = b.load(panel, [k, self.at(*index)[1]])
            self.add_product(index, first_input * taps + k, right)

    def add_packed_weights(self, terms: tuple[Index, Index]) -> None:
        """Write a loop that adds the products of some terms; columns are a packed constant."""
        b, block = self.b, self.block
        first_input, inputs = terms
        tile = block.first_column // self.schedule.tile + self.column_tile
        following = weights_ahead(b, self.contraction, block, tile)
        with b.loop(inputs) as k:
            k = first_input + k
            if following is not None:
                following.prefetch(b, k)
            with self.each_sum(self.m) as index:
                # The columns of a packed constant are padded to whole tiles with zeros
                # (`pack_rows`): the last tile needs no mask.
                place = self.places(*index)[1]
                right = read_weights(b, self.contraction, block, tile, k, place)
                self.add_product(index, k, right)

    def add_columns(self, terms: tuple[Index, Index]) -> None:
        """Write loops that add the products of some terms; columns are read where they are."""
        b, t, s, block = self.b, self.contraction, self.schedule, self.block
        taps = t.terms[1:-1] if t.is_blocked else t.terms[1:]
        kinds = [ForKind.SERIAL] * len(taps)
        if shares_columns(s, extents_of(t), b.target):
            kinds[-1] = UNROLLED
        following = None
        if s.in_place and not s.lhs_inside:
            places = (self.m_tile, self.number, self.count)
            # With lhs inside, tiles read the weights in the order in which they are in memory: a
            # stream, which the processor prefetches by itself.
            following = following_weights(b, t, s, block, places, terms)
        first_input, inputs = terms
        with b.loop(inputs) as channel:
            part = TermPart(first_input, channel, following)
            if t.edges is not None:
                self.add_taps_inside(t.edges, part)
                return
            with b.nest(taps, kinds) as tap:
                self.add_tap(part, tap)

    def add_taps_inside(self, edges: Edges, part: TermPart) -> None:
        """Write loops that add the products of the taps of an input that are not beyond the edges
        of the image."""
        b, t, s = self.b, self.contraction, self.schedule
        row = b.unflat(self.block.first_row, t.rows) if t.rows else []
        # A tile has the left edge, the right one or none (`has_one_edge`), or is a whole row. Each
        # has code of its own, as the columns of a tile are unrolled. For a whole row of 5 columns
        # with padding 1:
        #
        #     tap 0: columns 1 2 3 4    tap 1: columns 0 1 2 3 4    tap 2: columns 0 1 2 3
        #
        # Which of the three a tile takes is decided once for a tap, not for each column.
        with edges.rows(b, row) as down:
            if s.m == edges.columns:
                for cut in edges.cuts():
                    with b.loop(cut.count, min=cut.first) as across:
                        self.add_tap(part, [*down, across], (cut.before, cut.after))
                return
            with b.loop(edges.windows[-1].size) as across:
                others: list[SSAValue] = []
                for cut, widths, edge in self.cuts(edges):
                    taps = b.inside_bounds(across, cut.first, cut.first + cut.count)
                    with b.when([*taps, *edge]):
                        self.add_tap(part, [*down, across], widths)
                    others.append(b.negation(b.all([*taps, *edge])))
                with b.when(others):
                    self.add_tap(part, [*down, across])

    def cuts(self, edges: Edges) -> Iterator[tuple[Cut, tuple[int, int], list[SSAValue]]]:
        """Yield the taps that the edges of the image cut off, for each edge that the tile may have.

        With the taps are the numbers of columns that lack them, at the start and at the end of the
        tile, and the conditions under which the tile has that edge.
        """
        b, s, columns = self.b, self.schedule, edges.columns
        for cut in edges.cuts():
            if cut.before and self.m == s.m:
                # The last tile of a row is never its first: a row of one tile is whole, see above.
                yield cut, (cut.before, 0), [b.equal(self.first, 0)]
            if cut.after and self.m < s.m:
                yield cut, (0, cut.after), []
            elif cut.after and columns is not None and columns % s.m == 0:
                yield cut, (0, cut.after), [b.equal(self.first, columns - s.m)]

    def add_tap(self, part: TermPart, tap: Sequence[Index], cut: tuple[int, int] = (0, 0)) -> None:
        """Write the products of a tap of an input, or a loop over the products of a block of
        channels. `cut` has the numbers of columns that are left out at the start and at the end of
        the tile."""
        b, t, s, block = self.b, self.contraction, self.schedule, self.block
        before, after = cut
        if (m := self.m - before - after) <= 0:
            return
        with b.loops([t.terms[-1]] if t.is_blocked else []) as channel:
            if part.following is not None:
                part.following.prefetch(b, b.flat([part.input, *tap, *channel], t.terms))
            # What does not depend on the sums is computed here, not in the unrolled loops.
            indices = [part.first_input + part.input, *tap, *channel]
            k = b.flat(indices, t.terms)
            with self.each_sum(m) as (i, *of_lhs):
                index = [i + before, *of_lhs]
                column = self.at(*index)[1]
                inside = []
                if not s.in_place and not t.margin:
                    inside = below(b, column, self.columns, s.tile)
                with b.when(inside):
                    first_row, source = self.image_place(column, index[0])
                    known = t.margin or self.is_whole or isinstance(t.columns, int)
                    if t.is_blocked and not known:
                        # The last tile of a row has more columns than the row: they repeat its last
                        # one, and their sums are not used. An image with a margin has elements
                        # there.
                        source = b.min(source, t.columns - 1)
                    row = b.unflat(first_row, t.rows) if t.rows else []
                    right = t.rhs(b, indices, Coordinates(block.batch, 0, row, source))
                    self.add_product(index, k, right)

    @contextmanager
    def each_sum(self, m: int) -> Generator[list[Index]]:
        """Build the body of loops over `m` of the sums and all vectors. The smaller operand of a
        tile stays in registers, the other is read one by one."""
        b, s = self.b, self.schedule
        # For 6 rows of lhs and 2 vectors of columns, an iteration loads the 2 vectors, and then,
        # row by row, one element of lhs for 2 products: 12 sums, 2 vectors and 1 element are in
        # registers.
        if s.m < s.vectors:
            with b.nest((s.vectors, m, s.lanes), (UNROLLED, UNROLLED, VECTORIZED)) as (v, i, lane):
                yield [i, v, lane]
        else:
            with b.nest((m, s.vectors, s.lanes), (UNROLLED, UNROLLED, VECTORIZED)) as index:
                yield index

    def add_product(self, index: Sequence[Index], k: Index, right: SSAValue) -> None:
        """Add the product of an element of lhs at term `k` and an element of rhs to a sum."""
        b, t, block = self.b, self.contraction, self.block
        i, v, lane = index
        if t.weights is not None and t.weights.is_lhs:
            left = read_weights(b, t, block, self.m_tile, k, self.places(i, v, lane)[0])
        else:
            m = self.first_m + i
            # Rows beyond the last one repeat it: their sums are not used.
            whole = is_multiple(t.m, self.schedule.m)
            left = t.lhs(b, block.batch, m if whole else b.min(m, t.m - 1), k)
        total = t.multiply_add(b, b.load(self.sums, index), left, right)
        b.store(total, self.sums, index)

    def finish(
        self, finish: Store, sums: SSAValue | None = None, place: Sequence[Index] = ()
    ) -> None:
        """Write loops that call `finish` for the sums inside of the matrix and the block: those at
        `place` in a buffer of tiles, or those of this tile."""
        b, t = self.b, self.contraction
        if sums is None:
            # A copy: the loops below index sums by variables, which would keep them in memory.
            sums = b.alloc(self.shape, t.total, "local")
            self.store(sums, place)
        self.finish_sums(finish, sums, place)

    def finish_sums(self, finish: Store, sums: SSAValue, place: Sequence[Index]) -> None:
        """Write loops that call `finish` for the sums at `place` in a buffer of tiles."""
        b, t, s = self.b, self.contraction, self.schedule
        if s.by_rows and t.rows_together % s.lanes:
            self.finish_rows(finish, sums, place)
            return
        with b.nest(self.shape, (ForKind.SERIAL, ForKind.SERIAL, VECTORIZED)) as (i, v, lane):
            self.finish_sum(i, v, lane, b.load(sums, [*place, i, v, lane]), finish)

    def finish_rows(self, finish: Store, sums: SSAValue, place: Sequence[Index]) -> None:
        """Write loops that call `finish` for sums whose lanes are rows: of one row after the other,
        as columns are next to each other in the result."""
        b, s = self.b, self.schedule
        # The sums s[i][lane] of 6 columns and 8 rows of lhs are 6 vectors of 8 rows. In the result,
        # the 6 columns of a row are adjacent: 8 vectors, of 6 lanes each, are stored.
        transposes = s.lanes >= MIN_SIDE and fills_bytes(self.contraction.total)
        with b.loop(s.vectors) as v:
            rows = transpose_vectors(b, sums, place, v, self.shape) if transposes else None
            with b.loop(s.lanes) as lane, b.loop(self.m, VECTORIZED) as i:
                if rows is None:
                    total = b.load(sums, [*place, i, v, lane])
                else:
                    total = b.load(rows, [lane, i])
                self.finish_sum(i, v, lane, total, finish)

    def finish_sum(self, i: Index, v: Index, lane: Index, total: SSAValue, finish: Store) -> None:
        """Write a call of `finish` for a sum if it is inside of the matrix and the block."""
        b, t, s = self.b, self.contraction, self.schedule
        m, column = self.at(i, v, lane)
        with (
            b.when([] if is_multiple(t.m, s.rows_of_tile) else [b.less(m, t.m)]),
            b.when(self.in_block(column)),
        ):
            row, at = self.image_place(column, i)
            block = replace(self.block, first_row=row, first_column=0)
            if not s.in_place:
                block, at = self.block, column
            finish_column(b, t, block, m, at, total, finish)

    def in_block(self, column: Index) -> list[SSAValue]:
        """Return the condition that a column of the tile is in the block; no condition if it always
        is."""
        b, s = self.b, self.schedule
        if self.is_whole:
            return []
        if not s.in_place:
            return below(b, column, self.columns, s.tile)
        columns = self.contraction.columns
        return [] if isinstance(columns, int) else [b.less(column, columns)]


def in_order(s: Schedule, pair: tuple[T, T]) -> tuple[T, T]:
    """Return a pair, for rows of lhs and for columns, in the order of vectors: the dimension of the
    lanes comes last."""
    first, second = pair
    return (second, first) if s.by_rows else (first, second)


def has_rows(t: Contraction, s: Schedule) -> bool:
    """Return whether each tile consists of some whole rows of the image, which is one block."""
    return s.in_place and isinstance(t.columns, int) and s.tile > t.columns


def columns_in_order(t: Contraction, s: Schedule) -> Extent:
    """Return the number of columns that are divided into tiles in place: those of a row, or of the
    image."""
    return volume((*t.rows, t.columns)) if has_rows(t, s) else t.columns


def transpose_vectors(
    b: KernelBuilder,
    sums: SSAValue,
    tile: Sequence[Index],
    v: Index,
    shape: tuple[int, int, int],
) -> SSAValue:
    """Return a buffer whose row `i` has lane `i` of the vectors `sums[tile, :, v]`; its last
    columns are not used. `shape` is that of the sums of a tile."""
    assert isa(sums.type, MemRefType)
    element = sums.type.element_type
    count, _, lanes = shape
    # The m x lanes sums are transposed in squares of lanes x lanes. 6 vectors of 8 lanes are one
    # square: 2 of its rows are repeated, and 2 columns of the result are not read.
    result = b.alloc((lanes, padded(count, lanes)), element, "local")
    type, zero, place = VectorType(element, [lanes]), b.index(0), b.index(v)
    outer = [*map(b.index, tile)]
    for first in range(0, count, lanes):
        # Vectors beyond the last one repeat it.
        places = [b.index(min(first + i, count - 1)) for i in range(lanes)]
        loads = [vector.LoadOp(sums, [*outer, i, place, zero], type) for i in places]
        vectors = [b.insert(load).results[0] for load in loads]
        for lane, row in enumerate(transpose_lanes(b, vectors, segment_of(element))):
            b.insert(vector.StoreOp(row, result, [b.index(lane), b.index(first)]))
    return result


def read_weights(
    b: KernelBuilder, t: Contraction, block: ColumnBlock, tile: Index, k: Index, place: Index
) -> SSAValue:
    """Return an element of the packed constant."""
    assert t.weights is not None and block.weights is not None
    value = b.read(block.weights, [t.weights.group_of(block.batch), tile, k, place])
    return convert(b, value, t.total)


def finish_column(
    b: KernelBuilder,
    t: Contraction,
    block: ColumnBlock,
    m: Index,
    column: Index,
    total: SSAValue,
    finish: Store,
) -> None:
    """Write the call of `finish` for the element at a row of lhs and a column of a block."""
    if t.merged:
        first = block.first_row * t.columns + block.first_column
        row, column = [], first + column
    else:
        row = b.unflat(block.first_row, t.rows) if t.rows else []
        column = block.first_column + column
    at = Coordinates(block.batch, m, row, column)
    finish(t.index_of(b, at), t.element_of(b, total))
