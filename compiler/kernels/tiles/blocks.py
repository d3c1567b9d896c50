"""Blocks of the columns of a contraction, and the extents of parts of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, volume
from ....dialects.tir.index_builder import IndexValue
from ..builder import Buffer, KernelBuilder
from ..contraction.contraction import Contraction
from .schedule import Schedule


@dataclass(frozen=True)
class ColumnBlock:
    """A block of columns: rows of the image from `first_row` on, or a part of one row."""

    batch: Sequence[Index]
    first_row: Index
    rows: Index
    first_column: Index
    columns: Index
    panel: SSAValue | None
    """The packed columns by terms, if the kernel packs them."""
    weights: Buffer | None
    """The constant operand, packed by the callers."""
    width: Index
    """The columns of a row in the panel."""


def block_extents(b: KernelBuilder, t: Contraction, s: Schedule) -> tuple[Index, Index]:
    """Return the rows and the columns of a block of the image. If the extents of the image are
    unknown, a block has as many rows as the panel holds, or is a part of one row."""
    # A static schedule cannot give the blocks of an unknown number of columns: rows of 10 and of
    # 1000 columns would need panels of different sizes. The panel has its nominal size, and a block
    # has as many whole rows as fit into it: in a panel of 256, 3 rows of 80 columns, or 256 columns
    # of a longer row.
    if isinstance(t.columns, int):
        return s.rows, s.columns
    if not s.packs:
        return b.min(s.rows, volume(t.rows)), t.columns
    most = s.rows * s.columns
    columns = b.max(b.min(t.columns, most), 1)
    if not (t.merged and t.rows and s.packs):
        return 1, columns
    return b.max(b.min(b.floordiv(most, columns), volume(t.rows)), 1), columns


def part(b: KernelBuilder, first: Index, extent: Index, whole: Extent) -> Index:
    """Return the extent of a part that begins at `first`: the last one may be smaller."""
    # 10 in parts of 4 is 4 4 2. A symbolic size that is known to be a multiple of the extent needs
    # no minimum, so that its loops have static bounds.
    if isinstance(extent, int) and whole % extent == 0:
        return extent
    return b.min(extent, whole - first)


@overload
def padded(extent: int, to: int) -> int: ...


@overload
def padded(extent: Extent, to: int) -> Extent: ...


def padded(extent: Extent, to: int) -> Extent:
    """Return `extent` rounded up to a multiple of `to`."""
    return (extent + to - 1) // to * to


def below(b: KernelBuilder, column: Index, count: Index, step: int) -> list[SSAValue]:
    """Return the condition that `column`, of a tile of `step` columns, is less than `count`, the
    number of columns of the block; no condition if that is always so."""
    if isinstance(count, int) and count % step == 0:
        return []
    return [b.likely(b.less(column, count))]


def is_multiple(extent: Index, of: int) -> bool:
    """Return whether an extent is known to be a multiple of a number."""
    return not isinstance(extent, IndexValue) and extent % of == 0
