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


def write_contraction(b: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Write loops that compute all elements of a contraction, `finish` for each."""
    if 0 in (*t.batch, t.m, *t.rows, t.columns):
        return
    if t.rhs_along_terms and t.m < FEW:
        write_dot_products(b, t, finish)
    elif (tile := Tile.of_image(t, b.lanes)) is not None:
        write_images(b, t, tile, finish)
    else:
        write_tiles(b, t, Tile.of(t, b.lanes), finish)


def write_tiles(b: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """Tiles of rows and columns, those at the edges as large as the others."""
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
        def place(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            """The row and the column at a place in the tile; what is written is done if they are
            there."""
            row, column = b.add(first_row, r), b.add(first_column, v)
            with (
                b.when([] if rows_fit else [b.less(row, last_rows)]),
                b.when([] if columns_fit else [b.likely(b.less(column, t.columns))]),
            ):
                yield [*outer, row] if t.rows else [], column

        with sum_products(b, t, batch, tile, place) as (first_m, sums):
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with b.nest((tile.m, tile.rows, tile.columns), kinds) as (i, r, v):
                m = b.add(first_m, i)
                with b.when(in_bounds(b, t, tile, m)), place(r, v) as (row, column):
                    value = t.element_of(b, b.load(sums, [i, r, v]))
                    finish(t.place(b, batch, m, row, column), value)


def write_images(b: KernelBuilder, t: Contraction, tile: Tile, finish: Finish) -> None:
    """A tile for all columns of all rows, and of what lies between the rows in memory."""
    assert t.pitch is not None
    columns = (t.rows[0] - 1) * t.pitch + t.columns
    with b.loops(t.batch, ForKind.PARALLEL) as batch:

        @contextmanager
        def place(r: Index, v: Index) -> Generator[tuple[list[Index], Index]]:
            column = b.add(b.mul(r, tile.columns), v)
            fits = columns % tile.columns == 0
            with b.when([] if fits else [b.likely(b.less(column, columns))]):
                yield [], column

        with sum_products(b, t, batch, tile, place) as (first_m, sums):
            sums = b.view(sums, (tile.m, tile.rows * tile.columns))
            kinds = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with b.nest((tile.m, t.rows[0], b.lanes), kinds) as (i, r, v):
                m = b.add(first_m, i)
                with (
                    b.when(in_bounds(b, t, tile, m)),
                    b.when([b.likely(b.less(v, t.columns))]),
                ):
                    value = b.load(sums, [i, b.add(b.mul(r, t.pitch), v)])
                    finish(t.place(b, batch, m, [r], v), t.element_of(b, value))


def in_bounds(b: KernelBuilder, t: Contraction, tile: Tile, m: Index) -> list[SSAValue]:
    """What must hold for there to be an m."""
    return [] if t.m % tile.m == 0 else [b.less(m, t.m)]


Place: TypeAlias = Callable[[Index, Index], AbstractContextManager[tuple[list[Index], Index]]]


@contextmanager
def sum_products(
    b: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, place: Place
) -> Generator[tuple[Index, SSAValue]]:
    """Write a loop over tiles of m that computes each, and go on there with the first m and a
    buffer of the sums.

    All terms are added to sums in registers, one after the other. The columns are copied first,
    term by term, if each is used often.
    """
    shape = (tile.m, tile.rows, tile.columns)
    panel = copy_columns(b, t, batch, tile, place) if t.m >= FEW else None
    with b.loop(-(-t.m // tile.m)) as m_tile:
        first_m = b.mul(m_tile, tile.m)
        sums = b.alloc(shape, t.total, "local")
        unrolled = [ForKind.UNROLLED, ForKind.UNROLLED, ForKind.VECTORIZED]
        with b.nest(shape, unrolled) as index:
            b.store(b.number(0, t.total), sums, index)

        def add_product(i: Index, r: Index, v: Index, k: Index, right: SSAValue) -> None:
            m = b.add(first_m, i)
            left = t.lhs(b, batch, m if t.m % tile.m == 0 else b.min(m, t.m - 1), k)
            total = t.multiply_add(b, b.load(sums, [i, r, v]), left, right)
            b.store(total, sums, [i, r, v])

        if panel is None:
            with b.loops(t.terms) as terms, b.nest(shape, unrolled) as (i, r, v):
                with place(r, v) as (row, column):
                    right = t.rhs(b, batch, terms, row, column)
                    add_product(i, r, v, b.flat(terms, t.terms), right)
        else:
            with b.loop(prod(t.terms)) as k, b.nest(shape, unrolled) as (i, r, v):
                add_product(i, r, v, k, b.load(panel, [k, r, v]))
        # What follows indexes its tile by variables, which would keep the sums in memory
        result = b.alloc(shape, t.total, "local")
        with b.nest(shape, unrolled) as index:
            b.store(b.load(sums, index), result, index)
        yield first_m, result


def copy_columns(
    b: KernelBuilder, t: Contraction, batch: Sequence[Index], tile: Tile, place: Place
) -> SSAValue:
    """Write loops that copy the columns of a tile: a buffer of terms, rows and columns."""
    panel = b.alloc((prod(t.terms), tile.rows, tile.columns), t.total)
    with (
        b.loops(t.terms) as terms,
        b.loop(tile.rows) as r,
        b.loop(tile.columns, ForKind.VECTORIZED) as v,
        place(r, v) as (row, column),
    ):
        k = b.flat(terms, t.terms)
        b.store(t.rhs(b, batch, terms, row, column), panel, [k, r, v])
    return panel


def write_dot_products(b: KernelBuilder, t: Contraction, finish: Finish) -> None:
    """Products of rows, as the terms of both operands are next to each other: each lane has a sum
    of its own."""
    (terms,) = t.terms
    lanes = b.lanes
    at_once = next(n for n in (4, 2, 1) if t.columns % n == 0)
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
            finish(t.place(b, batch, m, [], b.add(first, j)), value)
