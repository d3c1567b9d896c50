"""Depthwise convolutions: an element of the result sums up the taps of one input channel.

That is too few terms, for too few output channels, to pack data for a matrix product. A channel is
computed directly, in tiles of output rows times vectors of columns, whose sums stay in registers:

    for input channel:
      for block of rows:
        copy the rows that its windows read, with padding, split into phases (phases.py)
        for output channel of the input channel:
          for tile:
            for column of taps:
              load each vector of data once, and add its products to all rows of the tile
          store the elements of the block
"""

from __future__ import annotations

from dataclasses import dataclass

from ..builder import KernelBuilder, Store
from ..layouts import known
from ..tiles.schedules import nominal
from .depthwise_blocks import RowBlocks, unknown_blocks, write_blocks
from .depthwise_sums import DepthwiseSums
from .depthwise_tiles import DepthwiseTiles, Problem, rows_of

__all__ = ["Depthwise"]


@dataclass(eq=False)
class Depthwise(DepthwiseSums):
    """A depthwise convolution, computed in tiles."""

    def write(self, b: KernelBuilder, store: Store) -> None:
        if 0 in self.shape:
            return
        out, outputs = self.out(b), known(self.kernel.shape[0])
        channels = nominal(self.data.shape[0], 1) * outputs
        problem = Problem.of(channels, out, self.windows, self.bits)
        rows = rows_of(problem, b.target)
        tile = b.decide(DepthwiseTiles(problem, rows, b.target))
        known_blocks = RowBlocks(tile, out, rows)
        blocks = known_blocks if problem.is_known else unknown_blocks(b, self, tile, out)
        write_blocks(b, self, blocks, store)
