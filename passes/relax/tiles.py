"""Kernels of sums of products: in tiles that stay in registers, of columns that stay in caches.

The loops say how they are to be run, and the passes on tir do it: rows of a tile are unrolled, its
columns vectorized, tiles of columns parallel. Source of the scheme: K. Goto, R. van de Geijn,
Anatomy of High-Performance Matrix Multiplication, 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ...dialects.relax.definitions.tensors import Contraction, Writer
from ...dialects.tir.building import Index
from ...dialects.tir.ops import ForKind

__all__ = ["Finish", "write_contraction"]

Finish = Callable[[Sequence[Index], SSAValue], None]
"""Writes what is done with the element at an index."""

ROWS = (12, 8, 6, 10, 7, 9, 11, 5, 4)
"""How many elements of lhs a tile has: the first that divides them all, as what is left over would
cost another tile. With two vectors of columns, from 4 on all are as fast, within 20 %."""

FEW = 4
"""From so many rows on the columns are copied: each is used once for each row."""


@dataclass(frozen=True)
class Tile:
    """The part of a matrix product that is computed at once."""

    m: int
    rows: int
    columns: int

    @staticmethod
    def of(t: Contraction, lanes: int) -> Tile:
        """Two vectors of columns for many rows; more for fewer, as many sums have to be under
        way."""
        m = next((m for m in ROWS if t.m % m == 0), 8) if t.m >= FEW else t.m
        width = lanes * (2 if m >= FEW else 4 if m > 1 else 8)
        columns = min(width, -(-t.columns // lanes) * lanes)
        rows = min(width // columns, t.rows[-1]) if t.rows else 1
        return Tile(m, rows, columns)


def write_contraction(w: Writer, t: Contraction, finish: Finish) -> None:
    """Write loops that compute all elements of a contraction, `finish` for each."""
    if t.rhs_along_terms and t.m < FEW:
        write_dot_products(w, t, finish)
    else:
        write_tiles(w, t, finish)


def write_tiles(w: Writer, t: Contraction, finish: Finish) -> None:
    """Tiles: all terms are added to sums in registers, one after the other."""
    tile = Tile.of(t, w.lanes)
    *outer_rows, last_rows = t.rows or (1,)
    places = prod(t.terms)
    with (
        w.loops(t.batch, ForKind.PARALLEL) as batch,
        w.loops(outer_rows, ForKind.PARALLEL) as outer,
        w.loop(-(-last_rows // tile.rows), ForKind.PARALLEL) as row_tile,
        w.loop(-(-t.columns // tile.columns), ForKind.PARALLEL) as column_tile,
    ):
        first_row, first_column = (
            w.mul(row_tile, tile.rows),
            w.mul(column_tile, tile.columns),
        )
        rows_fit = last_rows % tile.rows == 0
        columns_fit = t.columns % tile.columns == 0

        def at(r: Index, v: Index) -> tuple[list[Index], Index]:
            """The row and the column at a place in the tile."""
            return [*outer, w.add(first_row, r)] if t.rows else [], w.add(first_column, v)

        @contextmanager
        def where_there_is(row: Sequence[Index], column: Index) -> Generator[None]:
            """Write what is done only with rows and columns that there are."""
            with (
                w.when([] if rows_fit else [w.less(row[-1], last_rows)]),
                w.when([] if columns_fit else [w.likely(w.less(column, t.columns))]),
            ):
                yield

        def rhs(terms: Sequence[Index], row: Sequence[Index], column: Index) -> SSAValue:
            return t.rhs(w, batch, terms, row, column)

        shape = (tile.m, tile.rows, tile.columns)
        panel = None
        if t.m >= FEW:
            panel = w.alloc((places, tile.rows, tile.columns), t.total)
            with (
                w.loops(t.terms) as terms,
                w.loop(tile.rows) as r,
                w.loop(tile.columns, ForKind.VECTORIZED) as v,
            ):
                row, column = at(r, v)
                with where_there_is(row, column):
                    place = w.flat(terms, t.terms)
                    w.store(rhs(terms, row, column), panel, [place, r, v])
        with w.loop(-(-t.m // tile.m)) as m_tile:
            first_m = w.mul(m_tile, tile.m)
            m_fits = t.m % tile.m == 0
            sums = w.alloc(shape, t.total, "local")
            unrolled = [ForKind.UNROLLED, ForKind.UNROLLED, ForKind.VECTORIZED]
            with w.nest(shape, unrolled) as index:
                w.store(w.number(0, t.total), sums, index)
            # The terms are one loop where nothing needs their indices
            extents = t.terms if panel is None else (places,)
            with w.loops(extents) as terms:
                k = w.flat(terms, extents)
                with w.nest(shape, unrolled) as (i, r, v):
                    m = w.add(first_m, i)
                    row, column = at(r, v)
                    with where_there_is(row, column) if panel is None else nullcontext():
                        left = t.lhs(w, batch, m if m_fits else w.min(m, t.m - 1), k)
                        if panel is None:
                            right = rhs(terms, row, column)
                        else:
                            right = w.load(panel, [k, r, v])
                        total = t.multiply_add(w, w.load(sums, [i, r, v]), left, right)
                        w.store(total, sums, [i, r, v])
            # What follows indexes its tile by variables, which would keep the sums in memory
            tile_of_sums = w.alloc(shape, t.total, "local")
            with w.nest(shape, unrolled) as index:
                w.store(w.load(sums, index), tile_of_sums, index)
            serial = [ForKind.SERIAL, ForKind.SERIAL, ForKind.VECTORIZED]
            with w.nest(shape, serial) as (i, r, v):
                m = w.add(first_m, i)
                row, column = at(r, v)
                fits = [] if m_fits else [w.less(m, t.m)]
                with w.when(fits), where_there_is(row, column):
                    value = w.load(tile_of_sums, [i, r, v])
                    finish(t.place(w, batch, m, row, column), t.element_of(w, value))


def write_dot_products(w: Writer, t: Contraction, finish: Finish) -> None:
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
