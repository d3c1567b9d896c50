"""The prefetch of the packed weights that the next tiles of a contraction read."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import volume
from ....dialects.tir.ops import PrefetchOp
from ..builder import KernelBuilder
from ..contraction.contraction import Contraction
from ..tensors import known
from .blocks import ColumnBlock
from .cost_model import LINE
from .schedule import Schedule
from .transposed import bytes_of

AHEAD = 4096
"""The distance in bytes between the weights that a tile of columns reads and those that it
prefetches. It is a page, as the processor itself prefetches no further than to the end of a
page."""


@dataclass(frozen=True)
class Following:
    """The weights that are read after those of the tiles of columns of a block. Each of these tiles
    prefetches a part: weights come from memory once in a call, and nothing else hides the time that
    this takes."""

    buffer: SSAValue
    """The weights in groups."""
    group: Index
    first: Index
    """The number of the first element of the part."""
    step: int
    """The elements of the part for each term of the tile."""
    pitch: Index
    """The distance of the elements for one term from those for the next: the step, or 0 if the tile
    prefetches nothing new."""
    line: int
    """The elements of a line of a cache."""

    def prefetch(self, b: KernelBuilder, k: Index) -> None:
        """Write the prefetch of the elements for term `k` of the tile. One prefetch for each term
        is faster than several at once."""
        start = self.first + k * self.pitch
        for line in range(0, self.step, self.line):
            b.insert(PrefetchOp(self.buffer, [b.index(self.group), b.index(start + line)]))


def following_weights(
    b: KernelBuilder,
    t: Contraction,
    s: Schedule,
    block: ColumnBlock,
    tile: tuple[Index, Index, Index],
    terms: tuple[Index, Index],
) -> Following | None:
    """Return the part of the next weights that a tile prefetches while it adds some terms: those of
    the next block of terms, or of the next tile of lhs. `tile` has the number of the tile of lhs,
    the number of the tile of columns, and the number of all tiles of columns.

    None if the first cache holds all weights, or if there are no others.
    """
    m_tile, number, count = tile
    if t.weights is None or block.weights is None:
        return None
    groups, tiles, all_terms, width = (known(extent) for extent in block.weights.shape)
    inputs, each = known(t.terms[0]), volume(known(extent) for extent in t.terms[1:])
    held = min(s.inputs, inputs) * each
    if tiles * all_terms == held:
        return None
    if volume(block.weights.shape) * bytes_of(t.total) <= b.target.l1_cache:
        return None
    # The `count` tiles of columns share the next block: with vectors of 32 weights and 4 tiles,
    # each prefetches 8 for each of its terms, tile 1 those from number 8 * held on. Together, they
    # prefetch the block once. If width is not a multiple of count, the last tiles prefetch parts
    # again.
    line = max(1, LINE // bytes_of(t.total))
    step = -(-width // count) if isinstance(count, int) else min(width, line)
    pitch: Index = step
    next_input = b.min(terms[0] + s.inputs, inputs)
    next_term = m_tile * all_terms + next_input * each
    # There is no block after the last one: it is prefetched itself, which saves a branch. A
    # prefetch has no effect on results, and never faults.
    start = b.min(next_term, tiles * all_terms - held) * width
    part = b.min(number * (held * step), held * (width - step))
    if not isinstance(count, int):
        # The first tiles prefetch a line for each term until they have prefetched all.
        pitch = b.select(b.less(number, -(-width // step)), step, 0)
    return Following(
        b.view(block.weights.buffer, (groups, tiles * all_terms * width)),
        t.weights.group_of(block.batch),
        start + part,
        step,
        pitch,
        line,
    )


def weights_ahead(
    b: KernelBuilder, t: Contraction, block: ColumnBlock, tile: Index
) -> Following | None:
    """Return the weights that tile number `tile` of columns prefetches: those that are `AHEAD`
    bytes after the weights that it reads. None if the second cache holds all weights.

    For few rows, computing takes less time than it takes the weights to arrive from memory. They
    are read in the order in which they are in memory, but the processor starts to prefetch anew at
    each page.
    """
    if t.weights is None or block.weights is None:
        return None
    groups, tiles, terms, width = (known(extent) for extent in block.weights.shape)
    size = bytes_of(block.weights.element)
    if tiles * terms * width * size <= b.target.l2_cache:
        return None
    # There is no tile after the last one: it prefetches itself.
    first = b.min(tile * (terms * width) + AHEAD // size, (tiles - 1) * terms * width)
    return Following(
        b.view(block.weights.buffer, (groups, tiles * terms * width)),
        t.weights.group_of(block.batch),
        first,
        width,
        width,
        max(1, LINE // size),
    )
