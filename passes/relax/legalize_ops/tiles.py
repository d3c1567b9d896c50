"""The schedule of contractions: tiles of sums in vector registers, packed columns in caches.

A tile is a block of rows of lhs times a block of columns of rhs, the columns one or more vectors
wide. Its sums stay in registers while the loop over the terms runs:

    for tile of columns, parallel:                       panel = columns of rhs, packed
      for tile of m:                                     sums[m][columns] = 0, unrolled
        for k: sums[i][v] += lhs[m + i, k] * panel[k, v]          i unrolled, v vectorized

The kinds of the loops say how they are to run; passes on tir unroll and vectorize them.
Source: K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.ops import ForKind
from .contraction import Contraction
from .kernel_builder import KernelBuilder

__all__ = ["Finish", "write_contraction"]

Finish: TypeAlias = Callable[[Sequence[Index], SSAValue], None]
"""A function that writes the use of the element at an index."""

# The constants of the schedule, measured on AVX-512 (32 vector registers).

SUMS = 24
"""The largest number of vectors of sums in a tile: the other registers hold operands."""

ROWS = (12, 8, 6, 10, 7, 9, 11, 5, 4)
"""The numbers of rows of lhs in a tile, the preferred first. With two vectors of columns, all
numbers from 4 on are equally fast within 20 %."""

PACK = 4
"""Pack columns if at least this many rows of lhs reuse them."""

VECTORS = 2
"""The vectors of columns of a tile with at least PACK rows."""

VECTORS_OF_FEW_ROWS = 4
"""The same with two or three rows: enough independent sums to hide the latency of multiply-add."""

VECTORS_OF_ONE_ROW = 8
"""The same with one row."""

IMAGE_VECTORS = 4
"""The largest image, in vectors, that is one tile."""

DOT_PRODUCTS = (4, 2, 1)
"""The numbers of dot products that are computed together, the preferred first."""


@dataclass(frozen=True)
class Tile:
    """The extents of a tile: rows of lhs, and rows and columns of the image rhs."""

    m: int
    rows: int
    columns: int

    @staticmethod
    def of(t: Contraction, lanes: int) -> Tile:
        """Return the tile for `t`: the fewer rows, the more vectors of columns.

        The number of vectors is a power of two: LLVM keeps no other tile in registers.
        """
        m = rows_of(t.m, VECTORS) if t.m >= PACK else t.m
        most = VECTORS if m >= PACK else VECTORS_OF_FEW_ROWS if m > 1 else VECTORS_OF_ONE_ROW
        needed = -(-t.columns // lanes)
        vectors = 1 << min(most, needed).bit_length() - 1
        rows = min(most // vectors, t.rows[-1]) if t.rows else 1
        return Tile(m, rows, lanes * vectors)

    @staticmethod
    def of_image(t: Contraction, lanes: int) -> Tile | None:
        """Return the tile for a whole small image as one long row, its vectors as rows of the tile;
        None if the image is large, or its rows fill vectors by themselves.

        Used for rows narrower than a vector, of which most lanes would be empty otherwise.
        """
        if t.pitch is None or len(t.rows) != 1 or t.columns >= lanes or t.m < PACK:
            return None
        vectors = -(-((t.rows[0] - 1) * t.pitch + t.columns) // lanes)
        return Tile(rows_of(t.m, vectors), vectors, lanes) if vectors <= IMAGE_VECTORS else None


def rows_of(m: int, vectors: int) -> int:
    """Return how many of `m` rows of lhs a tile with `vectors` vectors of columns has.

    A divisor of `m` if possible: a remainder costs a whole tile. Otherwise the second choice, which
    is smaller, so that the last tile computes fewer rows in vain.
    """
    fitting = [rows for rows in ROWS if rows * vectors <= SUMS]
    return next((rows for rows in fitting if m % rows == 0), fitting[min(1, len(fitting) - 1)])


def write_contraction(b: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Write loops that compute all elements of `t`, and call `finish` for each."""
    if 0 in (*t.batch, t.m, *t.rows, t.columns):
        return
    if t.rhs_along_terms and t.m < PACK:
        write_dot_products(b, t, finish)
    elif (tile := Tile.of_image(t, b.lanes)) is not None:
        write_images(b, t, tile, finish)
    else:
        write_tiles(b, t, Tile.of(t, b.lanes), finish)


def write_tiles(b: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """Write a loop over tiles, all of the same extents; tiles at the edges have guards."""
    *outer_rows, last_rows = t.rows or (1,)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loops(outer_rows, ForKind.PARALLEL) as outer,
        b.loop(-(-last_rows // tile.rows), ForKind.PARALLEL) as row_tile,
        b.loop(-(-t.columns // tile.columns), ForKind.PARALLEL) as column_tile,
    ):
        first_row, first_column = b.mul(row_tile, tile.rows), b.mul(column_tile, tile.columns)
        rows_fit, columns_fit = last_rows % tile.rows == 0, t.columns % tile.columns == 0

        @contextmanager
        def position(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            """Yield the row and the column at a position in the tile, guarded by their bounds."""
            row, column = b.add(first_row, r), b.add(first_column, v)
            with (
                b.when([] if rows_fit else [b.less(row, last_rows)]),
                b.when([] if columns_fit else [b.likely(b.less(column, t.columns))]),
            ):
                yield [*outer, row] if t.rows else [], column

        with sum_products(b, t, batch, tile, position) as (first_m, sums):
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with b.nest((tile.m, tile.rows, tile.columns), kinds) as (i, r, v):
                m = b.add(first_m, i)
                with b.when(in_bounds(b, t, tile, m)), position(r, v) as (row, column):
                    value = t.element_of(b, b.load(sums, [i, r, v]))
                    finish(t.index_of(b, batch, m, row, column), value)


def write_images(b: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """Write one tile for all rows as one long row.

    The gaps between rows are computed too, and dropped. Two rows of 3 columns, at a pitch of 4:

        lanes    0 1 2 3 4 5 6 7
        columns  0 1 2 - 0 1 2 -
    """
    assert t.pitch is not None
    columns = (t.rows[0] - 1) * t.pitch + t.columns
    with b.loops(t.batch, ForKind.PARALLEL) as batch:

        @contextmanager
        def position(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            column = b.add(b.mul(r, tile.columns), v)
            fits = columns % tile.columns == 0
            with b.when([] if fits else [b.likely(b.less(column, columns))]):
                yield [], column

        with sum_products(b, t, batch, tile, position) as (first_m, sums):
            sums = b.view(sums, (tile.m, tile.rows * tile.columns))
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with b.nest((tile.m, t.rows[0], b.lanes), kinds) as (i, r, v):
                m = b.add(first_m, i)
                with (
                    b.when(in_bounds(b, t, tile, m)),
                    b.when([b.likely(b.less(v, t.columns))]),
                ):
                    value = b.load(sums, [i, b.add(b.mul(r, t.pitch), v)])
                    finish(t.index_of(b, batch, m, [r], v), t.element_of(b, value))


def in_bounds(b: KernelBuilder, t: Contraction, tile: Tile, m: Index) -> list[SSAValue]:
    """Return the conditions under which the row `m` of lhs is in bounds."""
    return [] if t.m % tile.m == 0 else [b.less(m, t.m)]


Position: TypeAlias = Callable[[Index, Index], AbstractContextManager[tuple[list[Index], Index]]]


@contextmanager
def sum_products(
    b: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, position: Position
) -> Generator[tuple[Index, SSAValue]]:
    """Write a loop over tiles of m that sums up all terms; yield the first m of a tile and a buffer
    of its sums, for the rest of the loop body.

    Columns are packed before the loop if enough rows reuse them.
    """
    shape = (tile.m, tile.rows, tile.columns)
    panel = pack_columns(b, t, batch, tile, position) if t.m >= PACK else None
    with b.loop(-(-t.m // tile.m)) as m_tile:
        first_m = b.mul(m_tile, tile.m)
        sums = b.alloc(shape, t.total, "local")
        unrolled = [ForKind.UNROLLED, ForKind.UNROLLED, ForKind.VECTORIZED]
        with b.nest(shape, unrolled) as index:
            b.store(b.number(0, t.total), sums, index)

        def add_product(i: Index, r: Index, v: Index, k: Index, right: SSAValue) -> None:
            m = b.add(first_m, i)
            # Rows beyond the last one repeat it: their sums are not used (`in_bounds`).
            left = t.lhs(b, batch, m if t.m % tile.m == 0 else b.min(m, t.m - 1), k)
            total = t.multiply_add(b, b.load(sums, [i, r, v]), left, right)
            b.store(total, sums, [i, r, v])

        if panel is None:
            with b.loops(t.terms) as terms, b.nest(shape, unrolled) as (i, r, v):
                with position(r, v) as (row, column):
                    right = t.rhs(b, batch, terms, row, column)
                    add_product(i, r, v, b.flat(terms, t.terms), right)
        else:
            with b.loop(prod(t.terms)) as k, b.nest(shape, unrolled) as (i, r, v):
                add_product(i, r, v, k, b.load(panel, [k, r, v]))
        # A copy: the rest of the body indexes sums by variables, which would keep them in memory.
        result = b.alloc(shape, t.total, "local")
        with b.nest(shape, unrolled) as index:
            b.store(b.load(sums, index), result, index)
        yield first_m, result


def pack_columns(
    b: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, position: Position
) -> SSAValue:
    """Write loops that copy the columns of a tile; return a buffer of terms, rows and columns."""
    panel = b.alloc((prod(t.terms), tile.rows, tile.columns), t.total)
    with (
        b.loops(t.terms) as terms,
        b.loop(tile.rows) as r,
        b.loop(tile.columns, ForKind.VECTORIZED) as v,
        position(r, v) as (row, column),
    ):
        k = b.flat(terms, t.terms)
        b.store(t.rhs(b, batch, terms, row, column), panel, [k, r, v])
    return panel


def write_dot_products(b: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Write loops for terms that are contiguous in both operands: each lane sums up every
    `lanes`-th term, and the lanes are added at the end."""
    (terms,) = t.terms
    lanes = b.lanes
    at_once = next(n for n in DOT_PRODUCTS if t.columns % n == 0)
    shape = (at_once, lanes)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loop(t.columns // at_once, ForKind.PARALLEL) as column_tile,
        b.loop(t.m) as m,
    ):
        first = b.mul(column_tile, at_once)
        sums = b.alloc(shape, t.total, "local")
        unrolled = [ForKind.UNROLLED, ForKind.VECTORIZED]
        with b.nest(shape, unrolled) as index:
            b.store(b.number(0, t.total), sums, index)

        def add_term(j: Index, v: Index, k: Index) -> None:
            left = t.lhs(b, batch, m, k)
            right = t.rhs(b, batch, [k], [], b.add(first, j))
            b.store(t.multiply_add(b, b.load(sums, [j, v]), left, right), sums, [j, v])

        with b.loop(terms // lanes) as chunk, b.nest(shape, unrolled) as (j, v):
            add_term(j, v, b.add(b.mul(chunk, lanes), v))
        if terms % lanes:
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
