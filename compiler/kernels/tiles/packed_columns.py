"""The columns of a block of a contraction, copied into a panel: those of a term next to each
other."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent, volume
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder
from ..contraction.contraction import Contraction, Coordinates
from .blocks import ColumnBlock, padded
from .cost_model import LINE
from .schedule import Schedule

__all__ = ["pack_columns", "panel_shape"]


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
    """Build the body of a vectorized loop over `count` elements, and over those that fill the last
    vector."""
    with b.loop(b.ceildiv(count, lanes)) as chunk, b.loop(lanes, ForKind.VECTORIZED) as lane:
        yield chunk * lanes + lane


def clear_rest(b: KernelBuilder, t: Contraction, s: Schedule, block: ColumnBlock, k: Index) -> None:
    """Write loops that set the lanes of the last tile beyond a block of unknown extents to zero, at
    term `k` of the panel."""
    assert block.panel is not None
    count = block.rows * block.columns
    whole = count // s.lanes * s.lanes
    end = b.ceildiv(count, s.tile) * s.tile
    vectors = (end - whole) // s.lanes
    with b.loop(vectors) as v, b.loop(s.lanes, ForKind.VECTORIZED) as lane:
        place = whole + v * s.lanes + lane
        b.store(b.number(0, t.total), block.panel, [k, place])
