"""Sorting in lanes of tiles: short runs of entries by their ranks, which are then merged.

Each entry is a lane. Its rank in a run is the number of entries that come before it. Its place in
two merged runs is its place in its own, plus the number of entries of the other that come before
it, which is found by bisection. Of each run only as many entries are kept as the result has:

    rows of 50257, of which the first 40 are needed    393 runs of 40 entries, then 197, 99, ..., 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import SSAValue

from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, is_at_most
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, Elements, KernelBuilder, Tensor
from ..scalars import as_index, convert
from ..tensors import known

__all__ = ["places_in_order"]

RUN = 128
"""The entries that are sorted by rank."""


def places_in_order(b: KernelBuilder, keys: Tensor, count: Extent) -> Tensor:
    """Return the places of the first `count` keys, integers, of each row in ascending order; equal
    keys keep their order. Rows are along the last dimension; those of unknown size are one run."""
    size = keys.shape[-1]
    number = i32 if is_at_most(size, (1 << 31) - 1) else i64
    sort = LaneSort(b, b.buffered(keys), count, number)
    runs = [sort.runs(width) for width in widths_of(size)]
    memory = [sort.allocate(runs) for _ in runs[:2]]
    sort.rank(runs[0], memory[0])
    for level, pair in enumerate(pairwise(runs)):
        sort.merge(*pair, memory[level % 2], memory[(level + 1) % 2])
    places = memory[(len(runs) - 1) % 2].places
    return Elements((*keys.shape[:-1], count), number, lambda b, index: b.load(places, index))


def widths_of(size: Extent) -> Sequence[Extent]:
    """Return the sizes of runs, each of two of those before it, up to the whole row."""
    if not isinstance(size, int):
        return [size]
    levels = (max(1, -(-size // RUN)) - 1).bit_length()
    return [min(RUN << level, size) for level in range(levels + 1)]


@dataclass(frozen=True)
class Runs:
    """The sorted runs of a row, one after the other."""

    width: Extent
    """The entries of the row that a run is made of."""
    length: Extent
    """The first of these in order, which are kept."""
    count: Extent
    """The number of runs."""

    @property
    def size(self) -> Extent:
        return self.count * self.length


@dataclass(frozen=True)
class SortedKeys:
    """Memory for the keys and places in the runs of all rows."""

    keys: SSAValue
    places: SSAValue


@dataclass(frozen=True)
class LaneSort:
    """A sort of rows of keys, of which the first entries are needed."""

    b: KernelBuilder
    keys: Buffer
    first: Extent
    """The entries that are needed of each row."""
    number: IntegerType
    """The type of places."""

    @property
    def outer(self) -> Shape:
        return self.keys.shape[:-1]

    @property
    def size(self) -> Extent:
        return self.keys.shape[-1]

    def runs(self, width: Extent) -> Runs:
        """Return the runs of `width` entries each."""
        length = self.b.smaller(self.first, width)
        return Runs(width, length, 1 if width == self.size else -(-self.size // width))

    def allocate(self, runs: Sequence[Runs]) -> SortedKeys:
        """Allocate memory that holds any of `runs`."""
        size = reduce(self.b.larger, (each.size for each in runs))
        shape = (*self.outer, size)
        return SortedKeys(self.b.alloc(shape, self.keys.element), self.b.alloc(shape, self.number))

    def store(
        self, target: SortedKeys, index: Sequence[Index], key: SSAValue, place: SSAValue
    ) -> None:
        self.b.store(key, target.keys, index)
        self.b.store(place, target.places, index)

    def is_before(self, other: SSAValue, own: SSAValue, is_first: SSAValue) -> SSAValue:
        """Return whether the key of another entry comes before the own one; of equal keys, that of
        the first entry does."""
        b = self.b
        less, equal = (b.pure(arith.CmpiOp, other, own, arg=name) for name in ("slt", "eq"))
        return b.pure(arith.OrIOp, less, b.pure(arith.AndIOp, equal, is_first))

    # Runs sorted by rank

    def rank(self, runs: Runs, target: SortedKeys) -> None:
        """Write loops that sort runs of the keys."""
        b = self.b
        with b.loops((*self.outer, self.size), ForKind.PARALLEL) as (*row, i):
            run = 0 if runs.count == 1 else i // runs.width
            own = b.read(self.keys, [*row, i])
            rank = self.rank_of(runs, row, i, own, run * runs.width)
            with b.when([] if runs.length == runs.width else [b.less(rank, runs.length)]):
                place = convert(b, b.index(i), self.number)
                self.store(target, [*row, run * runs.length + rank], own, place)

    def rank_of(
        self, runs: Runs, row: Sequence[Index], i: Index, own: SSAValue, start: Index
    ) -> Index:
        """Return how many entries of the run that begins at `start` come before entry `i`."""
        b = self.b

        def counted(rank: SSAValue, offset: Sequence[Index]) -> SSAValue:
            at = start + offset[0]
            inside = [] if runs.count == 1 else [b.less(at, self.size)]
            other = b.read(self.keys, [*row, b.min(at, self.size - 1) if inside else at])
            before = b.all([*inside, self.is_before(other, own, b.less(at, i))])
            return b.pure(arith.AddiOp, rank, convert(b, before, self.number))

        return as_index(b, b.accumulate((runs.width,), b.number(0, self.number), counted))

    # Merged runs

    def merge(self, runs: Runs, merged: Runs, source: SortedKeys, target: SortedKeys) -> None:
        """Write loops that merge each two of `runs` in `source` into one of `merged`."""
        b = self.b
        shape = (*self.outer, runs.count, runs.length)
        with b.loops(shape, ForKind.PARALLEL) as (*row, run, i):
            with b.when([b.less(i, self.kept(runs, run))]):
                index = [*row, run * runs.length + i]
                own = b.load(source.keys, index)
                at = i + self.count_before(runs, source, row, run, own)
                with b.when([b.less(at, merged.length)]):
                    index_in_merged = [*row, run // 2 * merged.length + at]
                    self.store(target, index_in_merged, own, b.load(source.places, index))

    def kept(self, runs: Runs, run: Index) -> Index:
        """Return the number of entries of a run, which may not exist."""
        return self.b.max(0, self.b.min(self.size - run * runs.width, runs.length))

    def count_before(
        self, runs: Runs, source: SortedKeys, row: Sequence[Index], run: Index, own: SSAValue
    ) -> Index:
        """Return how many entries of the run with which `run` is merged come before `own`."""
        b, is_right = self.b, run % 2
        other = run + 1 - 2 * is_right
        start, count = b.min(other, runs.count - 1) * runs.length, self.kept(runs, other)
        steps = known(runs.width).bit_length()

        def step(found: SSAValue, number: Sequence[Index]) -> SSAValue:
            """Skip 2^n entries, from the largest n on, if the last of them comes before."""
            skipped = b.index_of(b.pure(arith.ShLIOp, b.index(1), b.index(steps - 1 - number[0])))
            end = b.index_of(found) + skipped
            at = start + b.min(end, runs.length) - 1
            before = self.is_before(b.load(source.keys, [*row, at]), own, b.equal(is_right, 1))
            is_skipped = b.all([b.less(end - 1, count), before])
            return b.index(b.select(is_skipped, end, b.index_of(found)))

        return b.index_of(b.accumulate((steps,), b.index(0), step))
