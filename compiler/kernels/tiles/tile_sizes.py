"""The choice of the sizes of tiles and blocks: the schedules that a contraction may have, and that
with the lowest estimate of the cost model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ....dialects.target import Target
from .cost_model import byte_dot_product, cycles
from .schedule import ContractionOperand, Extents, Schedule

__all__ = ["candidates", "has_one_edge", "registers_of", "schedule_of"]

IN_PLACE_REGISTERS = 32
"""From this many registers on, tiles are large enough for elements that are read one by one."""


@cache
def schedule_of(extents: Extents, target: Target) -> Schedule:
    """Return the schedule with the lowest estimate."""
    # All candidates are estimated: a 3x3 convolution of 64 channels has 810 on x86-64-v3, and 2643
    # on x86-64-v4, few enough for it. Of equal estimates the first one counts, so that kernels are
    # the same in each run.
    return min(candidates(extents, target), key=lambda s: cycles(s, extents, target))


def candidates(e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules that are worth an estimate. Columns of unknown extent are packed, as they
    would need masks otherwise, unless there are elements after them."""
    lanes = target.lanes(e.bits)
    # Half of the second cache: the tiles of lhs and of the result pass through the other half.
    panel = target.l2_cache // 2
    # An element that is read in place is broadcast to a vector for each term, which takes a load
    # for `vectors` products. With 16 registers, tiles are too small to pay for it: resnet50 was 9 %
    # slower than with packed columns. Blocks of channels, and rows together, save a copy and a
    # transposition.
    reads_in_place = e.constant is ContractionOperand.LHS and (
        e.block > 1 or e.rows_together % lanes == 0 or target.vector_registers >= IN_PLACE_REGISTERS
    )
    parts = [*parts_of(e.inputs)]
    if not e.m_known:
        # The sums of many rows would leave the caches between blocks of terms, so there are only as
        # many as it takes for the terms of two vectors of columns to stay in the second cache.
        fitting = [n for n in parts if n * e.taps * 2 * lanes * e.bits // 8 <= panel // 2]
        parts = fitting[:1] or parts[-1:]
    for m, vectors in tiles(e, target):
        few_vectors = registers_of(m, vectors, vectors, e, target) <= target.vector_registers
        if e.constant is ContractionOperand.RHS:
            if not few_vectors:
                continue
            for inputs in parts:
                for lhs_inside in (True, False):
                    for columns in shares(e.columns, vectors * lanes, target.cores):
                        yield Schedule(
                            m,
                            vectors,
                            lanes,
                            1,
                            columns,
                            inputs,
                            packs=False,
                            lhs_inside=lhs_inside,
                        )
            continue
        known = e.columns_known and fits(m, e, lanes)
        # Of an unknown number of columns, a tile may have some beyond the last one: it reads those
        # in the margin or, where channels are in blocks, the last column again.
        beyond = not e.columns_known and (m <= e.margin or e.block > 1)
        if reads_in_place and (known or beyond):
            # Blocks of terms only if lhs does not stay in the first cache for a whole row of tiles
            # anyway; the sums go to memory in between, so a block has to serve many columns.
            cached = inputs_in_cache(vectors * lanes, e, target)
            for rows in sorted({1, -(-e.rows // 4), e.rows} if m <= e.columns else {e.rows}):
                whole = Schedule(
                    m,
                    vectors,
                    lanes,
                    rows,
                    e.columns,
                    e.inputs,
                    packs=False,
                    lhs_inside=True,
                    by_rows=True,
                )
                yield whole
                yield replace(whole, lhs_inside=False)
                if known and cached < e.inputs:
                    yield replace(whole, lhs_inside=False, inputs=cached)
        if (e.block > 1 and e.constant is ContractionOperand.LHS) or not few_vectors:
            continue
        if not e.columns_known and vectors * lanes <= e.margin:
            yield Schedule(m, vectors, lanes, 1, e.columns, e.inputs, packs=False, lhs_inside=True)
        for inputs in parts:
            for columns in shares(e.columns, vectors * lanes, target.cores):
                if e.columns_known:
                    whole = inputs == e.inputs
                    yield Schedule(
                        m, vectors, lanes, 1, columns, inputs, packs=False, lhs_inside=whole
                    )
            terms = inputs * e.taps
            for by_rows in (False, True) if e.constant is ContractionOperand.LHS else (False,):
                tile = m if by_rows else vectors * lanes
                # At least a tile, even if its terms do not fit: `inputs` of another candidate are
                # fewer.
                most = max(tile, panel * 8 // (terms * e.bits))
                for rows, columns in blocks(e, most, tile, target.cores):
                    for inside in (True, False):
                        yield Schedule(
                            m,
                            vectors,
                            lanes,
                            rows,
                            columns,
                            inputs,
                            packs=True,
                            lhs_inside=inside,
                            by_rows=by_rows,
                        )


def fits(m: int, e: Extents, lanes: int) -> bool:
    """Return whether `m` columns are a part of a row of the image, or several whole rows: then the
    rows of lhs have to be next to each other in the result."""
    # Whole rows together are not combined with edges: each of the rows would have both.
    if e.edge is not None:
        return has_one_edge(m, e.columns, e.edge)
    if m <= e.columns:
        return True
    return m % e.columns == e.rows_together % lanes == 0 and m <= e.rows * e.columns


def has_one_edge(m: int, columns: int, edge: int) -> bool:
    """Return whether a tile of `m` columns, and the last one of a row, which may be smaller, have
    all of the `edge` columns at one side of the image, or are a whole row."""
    # Of 8 columns with 2 at each edge, tiles of 2 to 6 and of 8 do. 7 is left out: the last tile
    # has one column, and the other one of its edge is in the tile before.
    return m == columns or (edge <= m < columns and (columns % m == 0 or columns % m >= edge))


def tiles(e: Extents, target: Target) -> Iterator[tuple[int, int]]:
    """Yield the rows of lhs and the vectors of a tile that fit into registers: the sums, the
    whole smaller operand, and one vector of the other."""
    columns = e.columns * (e.rows if e.merged else 1)
    needed = -(-max(columns, e.m) // target.lanes(e.bits))
    # With two vectors, 14 rows are the most that 32 registers hold: 28 sums, 2 vectors and 1
    # element. x86-64-v3 gets 6 x 2 for a large product, as the kernels of BLIS for Haswell have (6
    # x 16 f32).
    for m in range(1, min(max(e.m, columns), 14) + 1):
        for vectors in range(1, min(needed, 12) + 1):
            if registers_of(m, vectors, min(m, vectors), e, target) <= target.vector_registers:
                yield m, vectors


# With one register too many, LLVM spills a sum in the innermost loop. Tests look for spills in the
# assembly of each target (`test_tile_sizes.py`).
def registers_of(m: int, vectors: int, kept: int, e: Extents, target: Target) -> int:
    """Return the registers of a tile that keeps some elements or vectors of an operand: the sums,
    those, one of the other operand, and without fused multiply-add a product."""
    match byte_dot_product(e, target):
        case "vpmaddubsw":  # beside those a product and ones
            return m * vectors + kept + 3
        case "vpmaddwd":  # an operand takes two registers; beside those a product and a mask
            return m * vectors + 2 * kept + 4
        case _:
            return m * vectors + kept + (1 if target.has("fma") else 2)


def parts_of(extent: int) -> Iterator[int]:
    """Yield the extents of about equal parts: the whole, halves, quarters ..."""
    parts = 1
    # Of 100: 100, 50, 25, 13. Parts of fewer than 8 spend their time on loading and storing sums.
    while parts == 1 or extent // parts >= 8:
        yield -(-extent // parts)
        parts *= 2


def inputs_in_cache(rows: int, e: Extents, target: Target) -> int:
    """Return the inputs of even blocks of terms: the first cache holds `rows` rows of lhs of a
    block, beside others."""
    # l1_cache * 4 bits are half of the first cache. If 100 of 512 inputs fit, blocks have 86: 6
    # blocks of about equal size, not 5 and a small one.
    most = max(1, target.l1_cache * 4 // (rows * e.taps * e.bits))
    return -(-e.inputs // -(-e.inputs // most))


def shares(columns: int, tile: int, cores: int) -> Iterator[int]:
    """Yield the columns of a block: all, and as many whole tiles as each core gets."""
    yield columns
    if (share := -(-columns // (tile * cores)) * tile) < columns:
        yield share


def blocks(e: Extents, most: int, tile: int, cores: int = 1) -> Iterator[tuple[int, int]]:
    """Yield the rows and the columns of blocks of at most `most` columns in all; for several cores,
    also those that each core gets as many of."""
    if e.columns > most:
        yield 1, most // tile * tile
        return
    # If 200 of 28 rows of 28 columns fit, blocks have 7 rows (an equal part of 28), or 4: as
    # 4 * 28 columns are whole tiles of 16, no lane is computed in vain.
    whole = min(e.rows, most // e.columns) if e.merged else 1
    if cores > 1:
        if e.rows == 1:
            for columns in shares(e.columns, tile, cores):
                if columns < e.columns:
                    yield 1, columns
        elif (even := -(-e.rows // (-(-e.rows // (whole * cores)) * cores))) < whole:
            yield even, e.columns
    rows = {-(-e.rows // -(-e.rows // whole)), whole} if whole > 1 else {1}
    fitting = [n for n in range(whole, 0, -1) if n * e.columns % tile == 0]
    for n in rows | {*fitting[:1]}:
        yield n, e.columns
