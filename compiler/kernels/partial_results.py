"""Reductions of floats in the lanes of several vectors.

LLVM reorders integer reductions by itself. It may not reorder those of floats without the flag
`reassoc`, which would let it change other operations, too. So partial results are written here; for
15 elements and 2 vectors of 4 lanes:

    vector 0: 0 1 2 3, then 8 9 10 11, then 12 13 14 in lanes 0 1 2    vector 1: 4 5 6 7

The order depends on the target and the extent only: results are the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...dialects.tir.builder import Index, TirBuilder
from ...dialects.tir.functions import Extent
from ...dialects.tir.ops import ForKind

__all__ = ["Combine", "PartialResults"]

Combine: TypeAlias = Callable[[TirBuilder, SSAValue, SSAValue], SSAValue]
"""An associative function of two numbers."""

KINDS = (ForKind.UNROLLED, ForKind.VECTORIZED)


class PartialResults:
    """The partial results of a reduction: `vectors` vectors of `lanes` lanes, both powers of two.

    `start` is the identity of `function`; `element` reads an element.
    """

    def __init__(
        self,
        b: TirBuilder,
        start: SSAValue,
        vectors: int,
        lanes: int,
        function: Combine,
        element: Callable[[Sequence[Index]], SSAValue],
    ) -> None:
        self.b, self.start, self.vectors, self.lanes = b, start, vectors, lanes
        self.function, self.element = function, element
        self.buffer = b.alloc((vectors, lanes), start.type, "local")

    def of(self, extents: Sequence[Extent]) -> SSAValue:
        """Write the loops over `extents`; return the combination of all elements."""
        *outer, last = extents
        with self.b.nest((self.vectors, self.lanes), KINDS) as place:
            self.b.store(self.start, self.buffer, place)
        with self.b.loops(outer) as index:
            self.row(index, last)
        return self.combined()

    def row(self, index: Sequence[Index], extent: Extent) -> None:
        """Write the loops over the last dimension: all vectors at once, then the remainder."""
        vectors, lanes = self.vectors, self.lanes
        together = vectors * lanes
        whole, in_vectors = extent // together * together, extent // lanes * lanes
        with self.b.loop(extent // together) as chunk:
            self.add(vectors, lanes, index, chunk * together)
        if isinstance(extent, int) and isinstance(whole, int) and isinstance(in_vectors, int):
            if whole < in_vectors:
                self.add((in_vectors - whole) // lanes, lanes, index, whole)
            if in_vectors < extent:
                self.add(1, extent - in_vectors, index, in_vectors)
            return
        # One vector at a time, then one element at a time.
        if vectors > 1:
            with self.b.loop((in_vectors - whole) // lanes) as chunk:
                self.add(1, lanes, index, whole + chunk * lanes)
        with self.b.loop(extent % lanes, min=in_vectors) as at:
            self.add(1, 1, index, at)

    def add(self, count: Extent, width: Extent, index: Sequence[Index], first: Index) -> None:
        """Combine `count` vectors of `width` elements from `first` on with the partial results."""
        with self.b.nest((count, width), KINDS) as (vector, lane):
            number = self.b.load(self.buffer, [vector, lane])
            other = self.element([*index, first + vector * width + lane])
            self.b.store(self.function(self.b, number, other), self.buffer, [vector, lane])

    def combined(self) -> SSAValue:
        """Combine the partial results by a tree.

        One half of the vectors is combined with the other until one vector is left, then one half
        of its lanes with the other.
        """
        b, buffer, vectors, lanes = self.b, self.buffer, self.vectors, self.lanes
        while vectors * lanes > 1:
            # `vectors` is 0 when lanes are halved. Each level has a buffer of its own with constant
            # indices, which becomes registers: 8 vectors of 8 lanes take 3 additions of vectors one
            # after the other, and 3 of halves.
            vectors, lanes = (vectors // 2, lanes) if vectors > 1 else (0, lanes // 2)
            half = b.alloc((max(vectors, 1), lanes), self.start.type, "local")
            with b.nest((max(vectors, 1), lanes), KINDS) as (vector, lane):
                other = [vector + vectors, lane if vectors else lane + lanes]
                lower, upper = b.load(buffer, [vector, lane]), b.load(buffer, other)
                b.store(self.function(b, lower, upper), half, [vector, lane])
            buffer, vectors = half, max(vectors, 1)
        return b.load(buffer, [0, 0])
