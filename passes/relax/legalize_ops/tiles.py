"""Kernels of sums of products: in tiles that stay in registers, of columns that stay in caches.

The loops say how they are to be run, and the passes on tir do it: rows of a tile are unrolled, its
columns vectorized, tiles of columns parallel. Source of the scheme: K. Goto, R. van de Geijn,
Anatomy of High-Performance Matrix Multiplication, 2008.
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
from .kernel_builder import Contraction, KernelBuilder

__all__ = ["Finish", "write_contraction"]

Finish = Callable[[Sequence[Index], SSAValue], None]
"""Writes what is done with the element at an index."""

ROWS = (12, 8, 6, 10, 7, 9, 11, 5, 4)
"""How many elements of lhs a tile may have, the best first. With two vectors of columns, from 4 on
all are as fast, within 20 %."""

SUMS = 24
"""How many vectors of sums are in registers; with 32 registers, some are for the operands."""

FEW = 4
"""From so many rows on the columns are copied: each is used once for each row."""


@dataclass(frozen=True)
class Tile:
    """The part of a matrix product that is computed at once: elements of lhs, and columns of rhs in
    several rows."""

    m: int
    rows: int
    columns: int

    @staticmethod
    def of(t: Contraction, lanes: int) -> Tile:
        """Two vectors of columns for many rows; more for fewer, as many sums have to be under
        way. A power of two, as LLVM keeps no others in registers."""
        m = rows_of(t.m, 2) if t.m >= FEW else t.m
        most = 2 if m >= FEW else 4 if m > 1 else 8
        needed = -(-t.columns // lanes)
        vectors = 1 << min(most, needed).bit_length() - 1
        rows = min(most // vectors, t.rows[-1]) if t.rows else 1
        return Tile(m, rows, lanes * vectors)

    @staticmethod
    def of_image(t: Contraction, lanes: int) -> Tile | None:
        """All columns of a small image, row after row, if rows are so narrow that vectors of each
        would be half empty: vectors of them, as rows of the tile; None if there is no such tile."""
        if t.pitch is None or len(t.rows) != 1 or t.columns >= lanes or t.m < FEW:
            return None
        vectors = -(-((t.rows[0] - 1) * t.pitch + t.columns) // lanes)
        return Tile(rows_of(t.m, vectors), vectors, lanes) if vectors <= 4 else None


def rows_of(m: int, vectors: int) -> int:
    """How many of m elements of lhs a tile has, with so many vectors of columns: a number that
    divides them all if there is one, as what is left over costs another tile."""
    fitting = [rows for rows in ROWS if rows * vectors <= SUMS]
    return next((rows for rows in fitting if m % rows == 0), fitting[min(1, len(fitting) - 1)])


def write_contraction(w: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Write loops that compute all elements of a contraction, `finish` for each."""
    if 0 in (*t.batch, t.m, *t.rows, t.columns):
        return
    if t.rhs_along_terms and t.m < FEW:
        write_dot_products(w, t, finish)
    elif (tile := Tile.of_image(t, w.lanes)) is not None:
        write_images(w, t, tile, finish)
    else:
        write_tiles(w, t, Tile.of(t, w.lanes), finish)


def write_tiles(w: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """Tiles of rows and columns, those at the edges as large as the others."""
    *outer_rows, last_rows = t.rows or (1,)
    with (
        w.loops(t.batch, ForKind.PARALLEL) as batch,
        w.loops(outer_rows, ForKind.PARALLEL) as outer,
        w.loop(-(-last_rows // tile.rows), ForKind.PARALLEL) as row_tile,
        w.loop(-(-t.columns // tile.columns), ForKind.PARALLEL) as column_tile,
    ):
        first_row, first_column = w.mul(row_tile, tile.rows), w.mul(column_tile, tile.columns)
        rows_fit, columns_fit = last_rows % tile.rows == 0, t.columns % tile.columns == 0

        @contextmanager
        def place(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            """The row and the column at a place in the tile; what is written is done if they are
            there."""
            row, column = w.add(first_row, r), w.add(first_column, v)
            with (
                w.when([] if rows_fit else [w.less(row, last_rows)]),
                w.when([] if columns_fit else [w.likely(w.less(column, t.columns))]),
            ):
                yield [*outer, row] if t.rows else [], column

        with sum_products(w, t, batch, tile, place) as (first_m, sums):
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with w.nest((tile.m, tile.rows, tile.columns), kinds) as (i, r, v):
                m = w.add(first_m, i)
                with w.when(in_bounds(w, t, tile, m)), place(r, v) as (row, column):
                    value = t.element_of(w, w.load(sums, [i, r, v]))
                    finish(t.place(w, batch, m, row, column), value)


def write_images(w: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """A tile for all columns of all rows, and of what lies between the rows in memory."""
    assert t.pitch is not None
    columns = (t.rows[0] - 1) * t.pitch + t.columns
    with w.loops(t.batch, ForKind.PARALLEL) as batch:

        @contextmanager
        def place(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            column = w.add(w.mul(r, tile.columns), v)
            fits = columns % tile.columns == 0
            with w.when([] if fits else [w.likely(w.less(column, columns))]):
                yield [], column

        with sum_products(w, t, batch, tile, place) as (first_m, sums):
            sums = w.view(sums, (tile.m, tile.rows * tile.columns))
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with w.nest((tile.m, t.rows[0], w.lanes), kinds) as (i, r, v):
                m = w.add(first_m, i)
                with (
                    w.when(in_bounds(w, t, tile, m)),
                    w.when([w.likely(w.less(v, t.columns))]),
                ):
                    value = w.load(sums, [i, w.add(w.mul(r, t.pitch), v)])
                    finish(t.place(w, batch, m, [r], v), t.element_of(w, value))


def in_bounds(w: KernelBuilder, t: Contraction, tile: Tile, m: Index) -> list[SSAValue]:
    """What must hold for there to be an m."""
    return [] if t.m % tile.m == 0 else [w.less(m, t.m)]


Place: TypeAlias = Callable[[Index, Index], AbstractContextManager[tuple[list[Index], Index]]]


@contextmanager
def sum_products(
    w: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, place: Place
) -> Generator[tuple[Index, SSAValue]]:
    """Write a loop over tiles of m that computes each, and go on there with the first m and a
    buffer of the sums.

    All terms are added to sums in registers, one after the other. The columns are copied first,
    term by term, if each is used often.
    """
    shape = (tile.m, tile.rows, tile.columns)
    panel = copy_columns(w, t, batch, tile, place) if t.m >= FEW else None
    with w.loop(-(-t.m // tile.m)) as m_tile:
        first_m = w.mul(m_tile, tile.m)
        sums = w.alloc(shape, t.total, "local")
        unrolled = [ForKind.UNROLLED, ForKind.UNROLLED, ForKind.VECTORIZED]
        with w.nest(shape, unrolled) as index:
            w.store(w.number(0, t.total), sums, index)

        def add_product(i: Index, r: Index, v: Index, k: Index, right: SSAValue) -> None:
            m = w.add(first_m, i)
            left = t.lhs(w, batch, m if t.m % tile.m == 0 else w.min(m, t.m - 1), k)
            total = t.multiply_add(w, w.load(sums, [i, r, v]), left, right)
            w.store(total, sums, [i, r, v])

        if panel is None:
            with w.loops(t.terms) as terms, w.nest(shape, unrolled) as (i, r, v):
                with place(r, v) as (row, column):
                    right = t.rhs(w, batch, terms, row, column)
                    add_product(i, r, v, w.flat(terms, t.terms), right)
        else:
            with w.loop(prod(t.terms)) as k, w.nest(shape, unrolled) as (i, r, v):
                add_product(i, r, v, k, w.load(panel, [k, r, v]))
        # What follows indexes its tile by variables, which would keep the sums in memory
        result = w.alloc(shape, t.total, "local")
        with w.nest(shape, unrolled) as index:
            w.store(w.load(sums, index), result, index)
        yield first_m, result


def copy_columns(
    w: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, place: Place
) -> SSAValue:
    """Write loops that copy the columns of a tile: a buffer of terms, rows and columns."""
    panel = w.alloc((prod(t.terms), tile.rows, tile.columns), t.total)
    with (
        w.loops(t.terms) as terms,
        w.loop(tile.rows) as r,
        w.loop(tile.columns, ForKind.VECTORIZED) as v,
        place(r, v) as (row, column),
    ):
        k = w.flat(terms, t.terms)
        w.store(t.rhs(w, batch, terms, row, column), panel, [k, r, v])
    return panel


def write_dot_products(w: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Products of rows, as the terms of both operands are next to each other: each lane has a sum
    of its own."""
    (terms,) = t.terms
    lanes = w.lanes
    at_once = next(n for n in (4, 2, 1) if t.columns % n == 0)
    shape = (at_once, lanes)
    with (
        w.loops(t.batch, ForKind.PARALLEL) as batch,
        w.loop(t.columns // at_once, ForKind.PARALLEL) as column_tile,
        w.loop(t.m) as m,
    ):
        first = w.mul(column_tile, at_once)
        sums = w.alloc(shape, t.total, "local")
        unrolled = [ForKind.UNROLLED, ForKind.VECTORIZED]
        with w.nest(shape, unrolled) as index:
            w.store(w.number(0, t.total), sums, index)

        def add_term(j: Index, v: Index, k: Index) -> None:
            left = t.lhs(w, batch, m, k)
            right = t.rhs(w, batch, [k], [], w.add(first, j))
            w.store(t.multiply_add(w, w.load(sums, [j, v]), left, right), sums, [j, v])

        with w.loop(terms // lanes) as chunk, w.nest(shape, unrolled) as (j, v):
            add_term(j, v, w.add(w.mul(chunk, lanes), v))
        if terms % lanes:
            rest = terms - terms % lanes
            with w.nest((at_once, terms % lanes), unrolled) as (j, v):
                add_term(j, v, w.add(rest, v))
        tile_of_sums = w.alloc(shape, t.total, "local")
        with w.nest(shape, unrolled) as index:
            w.store(w.load(sums, index), tile_of_sums, index)
        with w.loop(at_once) as j:
            total = w.alloc((1,), t.total, "local")
            w.store(w.number(0, t.total), total, [0])
            with w.loop(lanes) as v:
                w.store(w.sum(w.load(total, [0]), w.load(tile_of_sums, [j, v])), total, [0])
            value = t.element_of(w, w.load(total, [0]))
            finish(t.place(w, batch, m, [], w.add(first, j)), value)
