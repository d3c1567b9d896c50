"""The cost model of contractions: the cycles that a schedule takes on a target.

The estimate counts what bounds such loops: multiply-adds, loads, the latency of dependent sums, the
bytes that each cache delivers, the copies, and the lanes and rows whose results are not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import gcd, inf

from ....dialects.target import ByteDotProduct, Target
from .schedule import NOMINAL_IMAGE, WIDTHS, ContractionOperand, Extents, Schedule

# What a core does in a cycle. These numbers are alike in all processors since about 2015. The
# registers and caches, which differ, are in the target.

MULTIPLY_ADDS = 2
LOADS = 2
LATENCY = 6
"""The cycles from one multiply-add to the next of the same sum: 4, plus other delays."""
MISSES, MISSES_IN_PLACE = 0.2, 0.05
"""The extra cycles of a load, on average, as some loads miss the first cache: of packed columns,
and of windows, which have elements in common."""
L2_BYTES, L3_BYTES, MEMORY_BYTES = 32, 12, 5
"""The bytes that a core reads from a cache, or from memory, while it computes."""
PAGE, WAYS = 4096, 4
"""The bytes of a page; and half of the ways of the first cache, the lines that it keeps for one
place in a page."""
LINE = 64
"""The bytes of a line of a cache."""
STREAMS = 8
"""The sequences of addresses that a core prefetches at the same time."""
TILE_OVERHEAD = 24
"""The cycles of starting and ending the loop over terms."""
TAP_OVERHEAD = 0.5
"""The cycles of a step of a loop over the taps of a window."""
OVERLAP = 0.4
"""The part of the shorter of two times, of reads and of arithmetic, that the longer one does not
hide."""
MASKED = 5
"""The cost of the masks of the last tile of unpacked columns, in tiles."""
REST = 0.2
"""The cost of starting another kind of tile, for the columns that are left, as a part of a tile."""
COPY, ROW = 2, 8
"""The cycles of packing a vector, and of starting to pack a row of unknown extent."""
FORK = 10_000
"""The cycles of starting threads and waiting for the last one to end."""
SCATTER, SCATTER_MASKED, SCATTER_LANES = 1, 4, 3
"""The cycles of storing an element that is not next to the others of its vector: after vectors were
transposed in registers; the same, with a comparison of each column, as the tile may have columns
beyond the end of a row; and lane by lane."""

CONVERSION = 12
"""The cycles of converting a vector of integers to floats and back, and storing it. LLVM splits one
whose lanes are no power of two: 7 = 4 + 2 + 1."""


SPLIT = 0.8
"""The cycles of extending the bytes of a vector to two vectors of i16."""


def peak_share(s: Schedule, e: Extents, target: Target) -> float:
    """Return the multiply-adds of a contraction as an estimated share of those that `target` can do
    in the same time."""
    useful = e.m * e.rows * e.columns * e.inputs * e.taps
    return useful / (cycles(s, e, target) * target.cores * MULTIPLY_ADDS * s.lanes)


def byte_dot_product(e: Extents, target: Target) -> ByteDotProduct | None:
    """Return the instruction that multiplies words of bytes; None for other products."""
    if e.exact_pairs is None:
        return None
    return target.byte_dot_product(target.lanes(e.bits), exact_pairs=e.exact_pairs)


def product_cycles(s: Schedule, e: Extents, target: Target) -> float:
    """Return the cycles of the products of a term of a tile, if nothing else limits them."""
    sums = s.m * s.vectors
    match byte_dot_product(e, target):
        case "vpmaddubsw" | "vpmaddwd" as instruction:  # two multiplications, and additions
            split = SPLIT * (s.m + s.vectors) if instruction == "vpmaddwd" else 0
            return 2 * sums / MULTIPLY_ADDS + split
        case _:
            return sums / (MULTIPLY_ADDS if target.has("fma") else MULTIPLY_ADDS / 2)


def cycles(s: Schedule, e: Extents, target: Target) -> float:
    """Return an estimate of the cycles that one batch element takes. If the number of columns is
    unknown, it is the average over images of several sizes, for as many columns as are nominal."""
    if e.columns_known:
        return cycles_of(s, e, target)
    total = 0.0
    for image in images_of(e):
        rows, columns = image.rows, image.columns
        block = replace(s, rows=min(s.rows, rows), columns=min(s.columns, columns))
        total += cycles_of(block, image, target) / (rows * columns)
    return e.rows * e.columns * total / len(WIDTHS)


@cache
def images_of(e: Extents) -> list[Extents]:
    """Return the extents for images of several sizes instead of the nominal ones."""
    sizes = [n / NOMINAL_IMAGE for n in WIDTHS]
    return [
        replace(e, rows=max(1, int(e.rows * size)), columns=max(1, int(e.columns * size)))
        for size in sizes
    ]


def cycles_of(s: Schedule, e: Extents, target: Target) -> float:
    """Return the estimate for an image of the given size."""
    if s.in_place:
        across, down = tiles_in_place(s, e, target), -(-e.m // s.rows_of_tile)
        scatter = scatter_cycles(s, e)
        term_blocks = -(-e.inputs // s.inputs)
        total = term_blocks * tiles_cycles(s, e, target, across, down)
        total += e.m * s.rows * e.columns * scatter
        if e.of_integers and e.columns_known and scatter == SCATTER:
            total += e.m * s.rows * CONVERSION * conversions(s, e)
        if term_blocks > 1:  # each block of terms reads and writes the sums
            size = s.m * across * s.rows_of_tile * e.bits // 8
            total += OVERLAP * (term_blocks + 1) * down * 2 * size / bandwidth(size, target)
        cold = prefetch_cycles(s, e, target, across, down)
        if target.cores == 1:
            return e.rows / s.rows * total + cold
        blocks, outer = -(-e.rows // s.rows), across if s.lhs_inside else down
        return shared_cycles(s, e, target.cores, blocks, total, outer) + cold / target.cores
    count = s.rows * s.columns
    blocks = -(-e.rows // s.rows) * -(-e.columns // s.columns)
    term_blocks = -(-e.inputs // s.inputs)
    terms = s.inputs * e.taps
    across = -(-count // s.tile)
    down = -(-e.m // s.rows_of_tile)
    if not s.packs and e.constant is not ContractionOperand.RHS and across > 1 and count % s.tile:
        across += MASKED
    total = term_blocks * tiles_cycles(s, e, target, across, down)
    if s.packs:
        total += term_blocks * terms * s.rows * -(-s.columns // s.lanes) * COPY
        if not e.columns_known:
            total += term_blocks * terms * s.rows * ROW
    total += e.m * count * scatter_cycles(s, e)
    if not s.by_rows and term_blocks > 1:
        total += e.m * -(-count // s.lanes) * COPY
    if term_blocks > 1:  # each block of terms reads and writes the sums
        size = e.m * count * e.bits // 8
        total += (term_blocks + 1) * 2 * size / bandwidth(size, target)
    if target.cores == 1:
        return blocks * total
    return shared_cycles(s, e, target.cores, blocks, total, across if s.lhs_inside else down)


def scatter_cycles(s: Schedule, e: Extents) -> float:
    """Return the cycles of storing an element of the result, in addition to those of its tile."""
    # A vector of rows is stored as it is into blocks of channels, and otherwise transposed; a
    # vector of columns is stored as it is, and into blocks lane by lane.
    if not s.by_rows:
        return 0 if e.rows_together == 1 else SCATTER_LANES
    if e.rows_together % s.lanes == 0:
        return 1 / s.lanes
    return SCATTER if e.columns_known or not s.in_place else SCATTER_MASKED


def tiles_in_place(s: Schedule, e: Extents, target: Target) -> float:
    """Return the number of tiles that cover the columns of a block in place. The last one of a row
    counts as the part of a tile that it takes."""
    if not e.columns_known:
        rest = rest_columns(s)
        part = tile_cycles(replace(s, m=rest), e, target) / tile_cycles(s, e, target)
        # For 17 columns, tiles of 6 leave 5, which take two tiles of 3.
        return s.rows * (e.columns // s.m + -(-(e.columns % s.m) // rest) * part)
    rows, columns = (1, s.rows * e.columns) if s.m > e.columns else (s.rows, e.columns)
    whole, rest = divmod(columns, s.m)
    if rest:
        # 56 columns in tiles of 6 are 9 tiles and one of 2, not 10: the rest has code of its own.
        last = tile_cycles(replace(s, m=rest), e, target) / tile_cycles(s, e, target)
        return rows * (whole + last + REST)
    return rows * whole


def rest_columns(s: Schedule) -> int:
    """Return the columns of a smaller tile in place. Such tiles cover the columns that whole tiles
    leave of a row of unknown length. They have few columns, as the last one computes some in vain,
    but enough sums to fill the units."""
    return min(s.m, -(-LATENCY * MULTIPLY_ADDS // s.vectors))


def conversions(s: Schedule, e: Extents) -> int:
    """Return the number of vectors in which the columns of a row are converted."""
    whole, rest = divmod(e.columns, s.m)
    # LLVM splits a vector of 7 lanes into 4, 2 and 1: as many vectors as 7 has set bits.
    return whole * s.m.bit_count() + rest.bit_count()


def shared_cycles(
    s: Schedule, e: Extents, cores: int, blocks: int, total: float, outer: float
) -> float:
    """Return the cycles in which `cores` cores compute `blocks` blocks of `total` cycles each: they
    share the blocks of the batch, or the `outer` tiles of each block of terms."""
    # 9 blocks on 8 cores take as long as 16. All blocks are one parallel loop, hence one fork.
    by_blocks = (-(-blocks * e.batch // cores) * total + FORK) / e.batch
    if s.lhs_inside and e.rows > 1 and not e.merged:
        return by_blocks  # tiles of columns of several rows have no order that tells them apart
    # Tiles are shared within each block of terms: the threads wait for each other after it, and
    # after the panel that all of them read is packed.
    forks = -(-e.inputs // s.inputs) * (2 if s.packs else 1)
    return min(by_blocks, blocks * (total * -(-outer // cores) / outer + forks * FORK))


def prefetch_cycles(s: Schedule, e: Extents, target: Target, across: float, down: int) -> float:
    """Return the cycles that the tiles of the first block wait for the weights. These come from
    memory once: the tiles of columns prefetch the weights of the next tile of lhs."""
    if s.lhs_inside or e.constant is not ContractionOperand.LHS:
        return 0
    # The tiles of columns are computed while the next weights arrive (`following_weights`). They
    # only wait if reading the weights takes longer than that.
    blocks = down * -(-e.inputs // s.inputs)
    lhs = s.rows_of_tile * s.inputs * e.taps * e.bits // 8
    return blocks * max(0, lhs / MEMORY_BYTES - across * tile_cycles(s, e, target))


def tiles_cycles(s: Schedule, e: Extents, target: Target, across: float, down: int) -> float:
    """Return the cycles of all tiles of a block, each as long as its arithmetic or its reads take.

    The first time, a tile of an operand comes from the cache that holds all of the operand. After
    that, a tile of the outer loop comes from the cache that holds this tile. A tile of the inner
    loop comes from the cache that holds all tiles of that loop.
    """
    size = e.bits // 8
    terms = s.inputs * e.taps
    compute = tile_cycles(s, e, target)
    lhs, rhs = s.rows_of_tile * terms * size, s.tile * terms * size
    if s.in_place:  # windows have elements in common
        rows, columns = max(1, s.m // e.columns), min(s.m, e.columns)
        line = max(LINE, (columns + e.taps_across - 1) * e.block * size)
        rhs = s.inputs * (rows + e.taps_down - 1) * line
    elif s.by_rows:  # a few columns of a panel
        rhs = max(rhs, terms * LINE)
    if e.constant is not ContractionOperand.LHS:  # its rows are apart, which no prefetch expects
        lhs *= 2
    all_lhs = e.m * e.inputs * e.taps * size
    all_rhs = rhs * across
    if s.in_place:
        all_rhs = s.inputs * e.block * (s.rows + e.taps_down - 1) * e.columns * size
    if e.constant is ContractionOperand.RHS:
        all_rhs *= -(-e.inputs // s.inputs)
    if s.lhs_inside:
        if e.constant is ContractionOperand.LHS:  # a model has more constants than caches hold
            all_lhs = max(all_lhs, target.l2_cache, target.l3_cache)
        inner, inside, all_inner, outer, outside, all_outer = (
            lhs,
            down,
            all_lhs,
            rhs,
            across,
            all_rhs,
        )
    else:
        inner, inside, all_inner, outer, outside, all_outer = (
            rhs,
            across,
            all_rhs,
            lhs,
            down,
            all_lhs,
        )

    # A roofline with incomplete overlap: a part of the shorter of both times is added.
    def tile(inner_from: float, outer_from: float) -> float:
        read = inner / bandwidth(inner_from, target) + outer / bandwidth(outer_from, target)
        return max(compute, read) + min(compute, read) * OVERLAP

    first = tile(all_inner, all_outer) + (inside - 1) * tile(all_inner, outer)
    again = all_rhs if s.in_place and not s.lhs_inside else inner * inside
    return first + (outside - 1) * (tile(again, all_outer) + (inside - 1) * tile(again, outer))


def tile_cycles(s: Schedule, e: Extents, target: Target) -> float:
    """Return the cycles of the arithmetic of a tile, with its operands in the first cache."""
    size = e.bits // 8
    terms = s.inputs * e.taps
    sums = s.m * s.vectors
    products = product_cycles(s, e, target)
    loads = s.m + s.vectors
    if s.in_place:
        if shares_columns(s, e, target):
            loads = s.vectors + (s.m + e.taps_across - 1) / e.taps_across
        # A sum waits for its last product: fewer than 12 sums (LATENCY * MULTIPLY_ADDS) leave the
        # units idle.
        step = max(products, loads / LOADS, LATENCY) + loads * MISSES_IN_PLACE
        if e.taps > 1 and not shares_columns(s, e, target):
            step += TAP_OVERHEAD
        return terms * step + 2 * sums + TILE_OVERHEAD
    if e.constant is not ContractionOperand.LHS and s.m > rows_in_cache(e.inputs * e.taps * size):
        loads += s.m
    if not s.packs and e.constant is not ContractionOperand.RHS:
        loads += s.vectors  # they are not aligned
    step = max(products, loads / LOADS, LATENCY) + loads * MISSES
    if not s.packs and e.constant is not ContractionOperand.RHS and terms > STREAMS:
        # The columns of each term are in another page, which no prefetch crosses.
        # Windows have elements in common.
        rows = terms if e.columns_known else s.inputs * e.taps_down
        step += s.vectors * s.lanes * size / bandwidth(rows * e.columns * size, target) * 2
    result = terms * step + 2 * sums + TILE_OVERHEAD
    return result + 2 * sums if s.inputs < e.inputs else result  # sums through memory


def shares_columns(s: Schedule, e: Extents, target: Target) -> bool:
    """Return whether the taps of a row of a window are unrolled: adjacent columns have elements in
    common, which stay in registers beside the sums."""
    columns = s.m + e.taps_across - 1
    # 3 taps of 14 adjacent columns read 16 elements, not 42. These are in registers only if all
    # fit, as with one vector on AVX-512: 14 sums, 1 vector and 16 elements are 31 of 32.
    registers = s.m * s.vectors + s.vectors + columns
    return s.in_place and e.taps_across > e.block == 1 and registers < target.vector_registers


def rows_in_cache(stride: int) -> int:
    """Return how many rows that are `stride` bytes apart the first cache keeps. It has WAYS lines
    for all addresses that are equal modulo PAGE."""
    # 4 rows of a stride of 4096 bytes, 16 of 1024, but 256 of 4160: then all sets are used in turn.
    return WAYS * (PAGE // gcd(PAGE, stride))


def bandwidth(size: float, target: Target) -> float:
    """Return the bytes per cycle from the cache that holds `size` bytes beside other data."""
    # The shares leave room for what else is used meanwhile; the third cache is shared by cores.
    if size <= target.l1_cache // 2:
        return inf
    if size <= target.l2_cache * 3 // 4:
        return L2_BYTES
    return L3_BYTES if size <= target.l3_cache // 2 else MEMORY_BYTES


# The choice of the sizes of tiles and blocks: the schedules that a contraction may have, and that
# with the lowest estimate of the cost model.


IN_PLACE_REGISTERS = 32
"""From this many registers on, tiles are large enough for elements that are read one by one."""


@cache
def schedule_of(extents: Extents, target: Target) -> Schedule:
    """Return the schedule with the lowest estimate."""
    # All candidates are estimated: a 3x3 convolution of 64 channels has 810 on x86-64-v3, and 2643
    # on x86-64-v4, few enough for it. If estimates are equal, the first one counts, so that kernels
    # are the same in each run.
    return min(candidates(extents, target), key=lambda s: cycles(s, extents, target))


def candidates(e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules that are worth an estimate. Columns of unknown extent are packed, as they
    would need masks otherwise, unless there are elements after them."""
    constant = e.constant
    for m, vectors in tiles(e, target):
        tile = Schedule(m, vectors, target.lanes(e.bits), 1, e.columns, e.inputs, False, True)
        few_vectors = registers_of(m, vectors, vectors, e, target) <= target.vector_registers
        if constant is ContractionOperand.RHS:
            if few_vectors:
                yield from with_packed_constant(tile, e, target)
            continue
        yield from in_place(tile, e, target)
        if few_vectors and (e.block == 1 or constant is not ContractionOperand.LHS):
            yield from with_rows_in_place(tile, e, target)
            yield from with_packed_columns(tile, e, target)


def terms_of_blocks(e: Extents, target: Target) -> Sequence[int]:
    """Return the numbers of inputs that blocks of terms may have."""
    parts = [*parts_of(e.inputs)]
    if e.m_known:
        return parts
    # The sums of many rows would leave the caches between blocks of terms. So the blocks are as
    # large as the second cache allows: it holds the terms of two vectors of columns.
    bytes = e.taps * 2 * target.lanes(e.bits) * e.bits // 8
    fitting = [n for n in parts if n * bytes <= panel_of(target) // 2]
    return fitting[:1] or parts[-1:]


def panel_of(target: Target) -> int:
    """Return the bytes of a packed block: half of the second cache, as the tiles of lhs and of the
    result pass through the other half."""
    return target.l2_cache // 2


def with_packed_constant(tile: Schedule, e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules of a constant rhs, whose vectors are packed before any call."""
    for inputs in terms_of_blocks(e, target):
        for inside in (True, False):
            for columns in shares(e.columns, tile.vectors * tile.lanes, target.cores):
                yield replace(tile, columns=columns, inputs=inputs, lhs_inside=inside)


def in_place(tile: Schedule, e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules that broadcast the elements of rhs from where they are."""
    m, lanes = tile.m, tile.lanes
    # An element that is read in place is broadcast to a vector for each term, which takes a load
    # for `vectors` products. With 16 registers, tiles are too small to pay for it: resnet50 was 9 %
    # slower than with packed columns. Blocks of channels, and rows together, save a copy and a
    # transposition.
    pays = e.block > 1 or e.rows_together % lanes == 0
    if e.constant is not ContractionOperand.LHS or not (
        pays or target.vector_registers >= IN_PLACE_REGISTERS
    ):
        return
    known = e.columns_known and fits(m, e, lanes)
    # If the number of columns is unknown, a tile may have some beyond the last one: it reads them
    # in the margin or, if channels are in blocks, reads the last column again.
    if not known and (e.columns_known or (m > e.margin and e.block == 1)):
        return
    # Blocks of terms only if lhs does not stay in the first cache for a whole row of tiles anyway;
    # the sums go to memory in between, so a block has to serve many columns.
    cached = inputs_in_cache(tile.vectors * lanes, e, target)
    for rows in sorted({1, -(-e.rows // 4), e.rows} if m <= e.columns else {e.rows}):
        whole = replace(tile, rows=rows, lhs_inside=True, by_rows=True)
        yield whole
        yield replace(whole, lhs_inside=False)
        if known and cached < e.inputs:
            yield replace(whole, lhs_inside=False, inputs=cached)


def with_rows_in_place(tile: Schedule, e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules that read vectors of columns from where they are."""
    width = tile.vectors * tile.lanes
    if not e.columns_known:
        if width <= e.margin:
            yield replace(tile, lhs_inside=True)
        return
    for inputs in terms_of_blocks(e, target):
        for columns in shares(e.columns, width, target.cores):
            yield replace(tile, columns=columns, inputs=inputs, lhs_inside=inputs == e.inputs)


def with_packed_columns(tile: Schedule, e: Extents, target: Target) -> Iterator[Schedule]:
    """Yield the schedules that pack blocks of columns first."""
    for inputs in terms_of_blocks(e, target):
        for by_rows in (False, True) if e.constant is ContractionOperand.LHS else (False,):
            width = tile.m if by_rows else tile.vectors * tile.lanes
            # At least a tile, even if its terms do not fit: `inputs` of another candidate are
            # fewer.
            most = max(width, panel_of(target) * 8 // (inputs * e.taps * e.bits))
            for rows, columns in blocks(e, most, width, target.cores):
                block = replace(tile, rows=rows, columns=columns, inputs=inputs, packs=True)
                for inside in (True, False):
                    yield replace(block, lhs_inside=inside, by_rows=by_rows)


def fits(m: int, e: Extents, lanes: int) -> bool:
    """Return whether a tile may have `m` columns: a part of a row of the image, or several whole
    rows. For several rows, the rows of lhs have to be next to each other in the result."""
    # Whole rows together are not combined with edges: each of the rows would have both.
    if e.edge is not None:
        return has_one_edge(m, e.columns, e.edge)
    if m <= e.columns:
        return True
    return m % e.columns == e.rows_together % lanes == 0 and m <= e.rows * e.columns


def has_one_edge(m: int, columns: int, edge: int) -> bool:
    """Return whether one tile of a row has all `edge` columns at a side of the image. On the left
    that is the first tile, of `m` columns, on the right the last one, which may be smaller. Also
    true if a tile is a whole row."""
    # For 8 columns with 2 at each edge, tiles of 2 to 6 and of 8 columns do. Tiles of 7 do not: the
    # last tile has one column, and the other one of its edge is in the tile before.
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
    """Return the number of registers of a tile that keeps `kept` elements or vectors of an operand.

    Registers hold the sums, what is kept, and one element or vector of the other operand; without
    fused multiply-add, also a product.
    """
    match byte_dot_product(e, target):
        case "vpmaddubsw":  # also a product and ones
            return m * vectors + kept + 3
        case "vpmaddwd":  # an operand takes two registers; also a product and a mask
            return m * vectors + 2 * kept + 4
        case _:
            return m * vectors + kept + (1 if target.has("fma") else 2)


def parts_of(extent: int) -> Iterator[int]:
    """Yield the extents of about equal parts: the whole, halves, quarters ..."""
    parts = 1
    # For 100: 100, 50, 25, 13. Parts of fewer than 8 would spend their time on loading and storing
    # sums.
    while parts == 1 or extent // parts >= 8:
        yield -(-extent // parts)
        parts *= 2


def inputs_in_cache(rows: int, e: Extents, target: Target) -> int:
    """Return the number of inputs of a block of terms. The first cache holds `rows` rows of lhs of
    a block beside other data, and all blocks have about equal size."""
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
    """Yield the rows and the columns of blocks of at most `most` columns in all. For several cores,
    also yield blocks that give each core the same number of them."""
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
