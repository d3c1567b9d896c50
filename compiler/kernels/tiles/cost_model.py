"""The cost model of contractions: the cycles that a schedule takes on a target.

The estimate counts what bounds such loops: multiply-adds, loads, the latency of dependent sums, the
bytes that each cache delivers, the copies, and the lanes and rows that are computed in vain.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import gcd, inf

from ....dialects.target import ByteDotProduct, Target
from .schedule import NOMINAL_IMAGE, WIDTHS, ContractionOperand, Extents, Schedule

__all__ = [
    "LINE",
    "bandwidth",
    "byte_dot_product",
    "cycles",
    "peak_share",
    "rest_columns",
]

# What a core does in a cycle. These are alike in the processors since about 2015; what differs,
# registers and caches, is in the target.

MULTIPLY_ADDS = 2
LOADS = 2
LATENCY = 6
"""The cycles from one multiply-add to the next of the same sum: 4, and what other delays add."""
MISSES, MISSES_IN_PLACE = 0.2, 0.05
"""The cycles that a load costs beside others, as some miss the first cache: of packed columns, and
of windows, which have elements in common."""
L2_BYTES, L3_BYTES, MEMORY_BYTES = 32, 12, 5
"""The bytes that a core reads from a cache, or from memory, while it computes."""
PAGE, WAYS = 4096, 4
"""The bytes of a page, and half of the lines of the first cache for one place in it."""
LINE = 64
"""The bytes of a line of a cache."""
STREAMS = 8
"""The sequences of addresses that a core prefetches at the same time."""
TILE_OVERHEAD = 24
"""The cycles of starting and ending the loop over terms."""
TAP_OVERHEAD = 0.5
"""The cycles of a step of a loop over the taps of a window."""
OVERLAP = 0.4
"""The part of reads that arithmetic does not hide, or of arithmetic that reads do not hide."""
MASKED = 5
"""The tiles that take as long as what masks add to the last one of unpacked columns."""
REST = 0.2
"""The part of a tile that it takes to start another kind of tile, for the columns that are left."""
COPY, ROW = 2, 8
"""The cycles of packing a vector; and of starting to pack a row of unknown extent."""
FORK = 10_000
"""The cycles of starting threads and waiting for the last one to end."""
SCATTER, SCATTER_MASKED, SCATTER_LANES = 1, 4, 3
"""The cycles of storing an element that is not next to the others of its vector: these are
transposed in registers; of tiles that may have columns beyond the end of a row, as each is compared
with it; and lane by lane."""

CONVERSION = 12
"""The cycles of converting a vector of integers to floats and back, and storing it. LLVM splits one
whose lanes are no power of two: 7 = 4 + 2 + 1."""


SPLIT = 0.8
"""The cycles of extending the bytes of a vector to two vectors of i16."""


def peak_share(s: Schedule, e: Extents, target: Target) -> float:
    """Return the estimated share of the multiply-adds that `target` can do in the same time."""
    useful = e.m * e.rows * e.columns * e.inputs * e.taps
    return useful / (cycles(s, e, target) * target.cores * MULTIPLY_ADDS * s.lanes)


def byte_dot_product(e: Extents, target: Target) -> ByteDotProduct | None:
    """Return the instruction that multiplies words of bytes; None for other products."""
    if e.exact_pairs is None:
        return None
    return target.byte_dot_product(target.lanes(e.bits), exact_pairs=e.exact_pairs)


def product_cycles(s: Schedule, e: Extents, target: Target) -> float:
    """Return the cycles of the products of a term of a tile, if nothing else bounds them."""
    sums = s.m * s.vectors
    match byte_dot_product(e, target):
        case "vpmaddubsw" | "vpmaddwd" as instruction:  # two multiplications, and additions
            split = SPLIT * (s.m + s.vectors) if instruction == "vpmaddwd" else 0
            return 2 * sums / MULTIPLY_ADDS + split
        case _:
            return sums / (MULTIPLY_ADDS if target.has("fma") else MULTIPLY_ADDS / 2)


def cycles(s: Schedule, e: Extents, target: Target) -> float:
    """Return an estimate of the cycles that one batch element takes; with an unknown number of
    columns, for as many columns as are nominal, the average of images of several sizes."""
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
    """Return the cycles of storing an element of the result, beside those of its tile."""
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
        # Of 17 columns, tiles of 6 leave 5, which two tiles of 3 take.
        return s.rows * (e.columns // s.m + -(-(e.columns % s.m) // rest) * part)
    rows, columns = (1, s.rows * e.columns) if s.m > e.columns else (s.rows, e.columns)
    whole, rest = divmod(columns, s.m)
    if rest:
        # 56 columns in tiles of 6 are 9 tiles and one of 2, not 10: the rest has code of its own.
        last = tile_cycles(replace(s, m=rest), e, target) / tile_cycles(s, e, target)
        return rows * (whole + last + REST)
    return rows * whole


def rest_columns(s: Schedule) -> int:
    """Return the columns of the tiles in place that cover what whole tiles leave of a row whose
    number of columns is not known: few, as the last one computes some in vain, but with enough sums
    to fill the units."""
    return min(s.m, -(-LATENCY * MULTIPLY_ADDS // s.vectors))


def conversions(s: Schedule, e: Extents) -> int:
    """Return the vectors that the columns of a row are converted in."""
    whole, rest = divmod(e.columns, s.m)
    # LLVM splits a vector of 7 lanes into 4, 2 and 1: as many as 7 has bits that are set.
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
    """Return the cycles that the tiles of the first block wait for the weights, which come from
    memory once: the tiles of columns prefetch those of the next tile of lhs."""
    if s.lhs_inside or e.constant is not ContractionOperand.LHS:
        return 0
    # The tiles of columns are computed while the next weights arrive (`following_weights`): what
    # reading takes longer than they do is waited for.
    blocks = down * -(-e.inputs // s.inputs)
    lhs = s.rows_of_tile * s.inputs * e.taps * e.bits // 8
    return blocks * max(0, lhs / MEMORY_BYTES - across * tile_cycles(s, e, target))


def tiles_cycles(s: Schedule, e: Extents, target: Target, across: float, down: int) -> float:
    """Return the cycles of all tiles of a block, each as long as its arithmetic or its reads take.

    A tile of an operand comes the first time from the cache that holds all of the operand. Later,
    one of the outer loop comes from the cache that holds the tile, one of the inner loop from the
    cache that holds all tiles of that loop.
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

    # A roofline with overlap that is not complete: part of the shorter of both is added.
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
    """Return how many rows that are `stride` bytes apart the first cache keeps: it has WAYS lines
    for all addresses that are equal modulo PAGE."""
    # 4 rows of a stride of 4096 bytes, 16 of 1024, but 256 of 4160: then all sets are used in turn.
    return WAYS * (PAGE // gcd(PAGE, stride))


def bandwidth(size: float, target: Target) -> float:
    """Return the bytes in a cycle from the cache that holds `size` bytes beside others."""
    # The shares leave room for what else is used meanwhile; the third cache is shared by cores.
    if size <= target.l1_cache // 2:
        return inf
    if size <= target.l2_cache * 3 // 4:
        return L2_BYTES
    return L3_BYTES if size <= target.l3_cache // 2 else MEMORY_BYTES
