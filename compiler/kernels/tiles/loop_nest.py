"""The loops of contractions, as the cost model schedules them.

The kinds of the loops say how they are to run; passes on tir unroll and vectorize them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ....dialects.tir.index_builder import IndexValue
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, KernelBuilder, Store, is_more
from ..contraction.contraction import Contraction, Coordinates
from ..contraction.dot_products import FEW_ROWS, write_dot_products
from .blocks import ColumnBlock, block_extents, padded, part
from .cost_model import LINE, peak_share, rest_columns
from .schedule import ContractionOperand, Schedule
from .schedules import Schedules, extents_of
from .tile import ContractionTile, columns_in_order, has_rows

# The columns of a block of a contraction, copied into a panel: those of a term next to each other.


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


def pack_columns(
    b: KernelBuilder, t: Contraction, s: Schedule, block: ColumnBlock, terms: tuple[Index, Index]
) -> None:
    """Write loops that copy the columns of a block into its panel, row after row."""
    assert block.panel is not None
    count = s.rows * s.columns
    first_input, inputs = terms
    taps = t.terms[1:]
    widths = None
    if isinstance(t.columns, int):
        widths = (s.columns, t.columns % s.columns or s.columns)
    # The panel of columns 0 1 2 3 4 of the image, in tiles of 4, has for each term
    #
    #     x0 x1 x2 x3   x4 0 0 0
    #
    # so that a tile reads vectors at a fixed distance, and the last one needs no mask: its sums
    # beyond the columns are never stored.
    with b.loop(inputs) as channel, b.loops(taps) as tap:
        k = b.flat([channel, *tap], [1, *taps])
        if widths is None:
            clear_rest(b, t, s, block, k)
        elif count % s.tile:  # the lanes of the last tile beyond the block
            whole = count // s.lanes * s.lanes
            with b.covering(padded(count, s.tile) - whole, s.lanes) as place:
                b.store(b.number(0, t.total), block.panel, [k, whole + place])
        vectors = b.covering(block.columns, s.lanes, widths)
        if t.margin:  # a vector may end in the next row of the panel, which is packed later
            vectors = whole_vectors(b, block.columns, s.lanes)
        with b.loop(block.rows) as r, vectors as column:
            row = b.unflat(block.first_row + r, t.rows) if t.rows else []
            source = Coordinates(block.batch, 0, row, block.first_column + column)
            value = t.rhs(b, [first_input + channel, *tap], source)
            b.store(value, block.panel, [k, r * block.width + column])


@contextmanager
def whole_vectors(b: KernelBuilder, count: Index, lanes: int) -> Generator[Index]:
    """Build the body of a vectorized loop over `count` elements, rounded up to whole vectors."""
    with b.loop(b.ceildiv(count, lanes)) as chunk, b.loop(lanes, ForKind.VECTORIZED) as lane:
        yield chunk * lanes + lane


def clear_rest(b: KernelBuilder, t: Contraction, s: Schedule, block: ColumnBlock, k: Index) -> None:
    """Write loops that set the lanes of the last tile beyond the end of the block to zero, at term
    `k` of the panel. The extents of the block are unknown."""
    assert block.panel is not None
    count = block.rows * block.columns
    whole = count // s.lanes * s.lanes
    end = b.ceildiv(count, s.tile) * s.tile
    vectors = (end - whole) // s.lanes
    with b.loop(vectors) as v, b.loop(s.lanes, ForKind.VECTORIZED) as lane:
        place = whole + v * s.lanes + lane
        b.store(b.number(0, t.total), block.panel, [k, place])


def write_contraction(b: KernelBuilder, t: Contraction, finish: Store) -> None:
    """Write loops that compute all elements of `t`, and call `finish` for each."""
    if 0 in (*t.batch, t.m, *t.rows, t.columns):
        return
    extents = extents_of(t)
    # A matrix that is multiplied by few rows is read once: to pack it, or to transpose it in
    # registers, takes as long as the products. Its rows are multiplied as they are in memory, each
    # a sum over lanes.
    is_matrix = t.rhs_along_terms and len(t.terms) == 1
    if is_matrix and extents.m <= FEW_ROWS and extents.constant is not ContractionOperand.RHS:
        write_dot_products(b, t, finish)
        return
    schedule = b.decide(Schedules(extents, b.target))
    registers = schedule.m * schedule.vectors
    b.remark(
        "analysis",
        "Schedule",
        f"{schedule}",
        Sums=f"{registers} of {b.target.vector_registers} registers",
        PeakPercent=round(100 * peak_share(schedule, extents, b.target)),
    )
    weights = None
    if t.weights is not None:
        width = schedule.rows_of_tile if t.weights.is_lhs else schedule.tile
        weights = t.packed_weights(b, t.weights, width)
    if is_row_special(t, schedule):
        # A decoder computes one token most of the time. For one row, tiles of 8 rows would take
        # twice as long as weights take to arrive from a cache, and a tenth longer than they take
        # from memory.
        is_row = b.equal(t.m, 1)
        with b.when([is_row]):
            write_blocks(b, t, replace(schedule, m=1), weights, finish)
        with b.when([b.negation(is_row)]):
            write_blocks(b, t, schedule, weights, finish)
    else:
        write_blocks(b, t, schedule, weights, finish)


def is_row_special(t: Contraction, s: Schedule) -> bool:
    """Return whether loops for one row are written beside those for any number of rows. They are if
    the number is unknown, and the columns of a constant make the vectors."""
    is_constant = t.weights is not None and not t.weights.is_lhs
    return is_constant and not isinstance(t.m, int) and not s.by_rows and s.m > 1


def write_blocks(
    b: KernelBuilder, t: Contraction, s: Schedule, weights: Buffer | None, finish: Store
) -> None:
    """Write loops over blocks of columns; `weights` are those of `t`, packed."""
    # The loops of Goto and van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008):
    #
    #     for each block of columns:              its packed panel stays in the second cache
    #       for each block of terms:              sums are in memory between them
    #         pack the terms of these columns     so that a tile reads neighbors
    #         for each row of tiles, each tile:   m x vectors sums in registers, see tile.py
    #           for each term: m x vectors products
    #
    # The blocks are divided among the threads, not the tiles: each thread has a panel of its own.
    image_rows = volume(t.rows)
    rows, columns = block_extents(b, t, s)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loop(b.ceildiv(image_rows, rows), ForKind.PARALLEL) as row_block,
        b.loop(b.ceildiv(t.columns, columns), ForKind.PARALLEL) as column_block,
    ):
        first_row, first_column = row_block * rows, column_block * columns
        block = ColumnBlock(
            batch,
            first_row,
            part(b, first_row, rows, image_rows),
            first_column,
            part(b, first_column, columns, t.columns),
            b.alloc(panel_shape(t, s), t.total) if s.packs else None,
            weights,
            columns,
        )
        if s.in_place and not s.lhs_inside:
            with b.loop(b.ceildiv(t.m, s.rows_of_tile)) as m_tile:
                write_terms(b, t, s, block, finish, m_tile)
        else:
            write_terms(b, t, s, block, finish)


def write_terms(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: ColumnBlock,
    finish: Store,
    m_tile: Index | None = None,
) -> None:
    """Write loops over blocks of terms that compute the tiles of a block of columns, or of one row
    of its tiles, `m_tile`. Between blocks of terms, the sums are in memory."""
    # With all terms in one block, the sums of a tile never leave the registers until they are
    # finished; else a tile loads them, adds the products of a block of terms, and stores them.
    inputs = t.terms[0]
    if not is_more(inputs, s.inputs):
        if block.panel is not None:
            pack_columns(b, t, s, block, (0, inputs))

        def write(tile: ContractionTile) -> None:
            tile.clear()
            tile.add((0, inputs))
            tile.finish(finish)

        for_tiles(b, t, s, block, m_tile, write)
        return
    shape = sums_shape(t, s, m_tile is None)
    sums = b.alloc(shape, t.total)
    b.fill(sums, shape, t.total)

    def place(tile: ContractionTile) -> tuple[Index, Index]:
        return tile.number, tile.m_tile if m_tile is None else 0

    with b.loop(b.ceildiv(inputs, s.inputs)) as term_block:
        first = term_block * s.inputs
        terms = first, part(b, first, s.inputs, inputs)
        if block.panel is not None:
            pack_columns(b, t, s, block, terms)

        def add(tile: ContractionTile) -> None:
            tile.load(sums, place(tile))
            tile.add(terms)
            tile.store(sums, place(tile))

        for_tiles(b, t, s, block, m_tile, add)

    for_tiles(b, t, s, block, m_tile, lambda tile: tile.finish(finish, sums, place(tile)))


def sums_shape(t: Contraction, s: Schedule, all_rows: bool) -> Shape:
    """Return the shape of the sums of all tiles of a block of columns, or of one row of tiles."""
    assert not isinstance(t.m, IndexValue)
    down = (t.m + (s.rows_of_tile - 1)) // s.rows_of_tile if all_rows else 1
    across = -(-s.rows * s.columns // s.tile)
    if s.in_place and not has_rows(t, s):
        across = s.rows * -(-s.columns // s.tile)
    return (across, down, s.m, s.vectors, s.lanes)


def for_tiles(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: ColumnBlock,
    m_tile: Index | None,
    write: Callable[[ContractionTile], None],
) -> None:
    """Write loops over the tiles of a block of columns, or over those in one row of tiles."""
    down = b.ceildiv(t.m, s.rows_of_tile)
    if s.in_place:
        m_tiles = (0, down) if m_tile is None else (m_tile, 1)
        for_tiles_in_place(b, t, s, block, m_tiles, write)
        return
    count = b.ceildiv(block.rows * block.columns, s.tile)
    loops = (count, down) if s.lhs_inside else (down, count)
    with b.loop(loops[0]) as outer, b.loop(loops[1]) as inner:
        column_tile, m_tile = (outer, inner) if s.lhs_inside else (inner, outer)
        first = column_tile * s.tile
        write(ContractionTile(b, t, s, block, m_tile, column_tile, first, s.m, column_tile, count))


def for_tiles_in_place(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: ColumnBlock,
    m_tiles: tuple[Index, Index],
    write: Callable[[ContractionTile], None],
) -> None:
    """Write the loops of `for_tiles` for columns that are read one by one where they are. Each tile
    is a part of one row of the image, or several rows; those at the end of a row may be smaller.
    The inner loop is over the tiles of lhs: `m_tiles` has the first one and their number."""
    columns = columns_in_order(t, s)
    if isinstance(columns, int):
        whole, last = columns // s.tile, columns % s.tile
        others: Index = 1 if last else 0
    else:
        whole, last = columns // s.tile, rest_columns(s)
        others = b.ceildiv(columns - whole * s.tile, last)
    across = whole + others
    if has_rows(t, s):
        lines, count = 1, across
    else:
        lines = block.rows
        count = (s.rows if isinstance(t.columns, int) else lines) * across
    first, down = m_tiles
    with b.loop(lines) as row:
        line = block
        if not has_rows(t, s):
            line = replace(block, first_row=block.first_row + row, rows=1)

        def write_tile(column_tile: Index, column: Index, m: int, is_whole: bool) -> None:
            number = row * across + column_tile
            with b.loop(down, min=first) as m_tile:
                place = m_tile, column_tile
                write(ContractionTile(b, t, s, line, *place, column, m, number, count, is_whole))

        if whole != 0:
            with b.loop(whole) as column_tile:
                write_tile(column_tile, column_tile * s.tile, s.m, is_whole=True)
        if others != 0:
            with b.loop(others) as i:
                column = whole * s.tile + i * last
                write_tile(whole + i, column, last, is_whole=isinstance(columns, int))
