"""The sizes of the tiles of a product, and a model of the cycles that it takes with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil

from ....dialects.target import Target
from ....dialects.tir.functions import Extent
from ..choices import Form, Space
from .tile_writer import power_of_two

__all__ = ["FASTER", "UNKNOWN", "ProductSpace", "ProductTiles", "parts_of"]

MIN_PARTS = 4
"""The least number of blocks that share a row or a scan: fewer are not worth more launches."""


def parts_of(trips: Extent, rows: Extent, limit: int, target: Target) -> int:
    """Return how many blocks share the tiles of each row, `trips`: a power of two up to `limit`; 1
    if there are rows enough for all multiprocessors, or if sizes are not known."""
    if not isinstance(trips, int) or not isinstance(rows, int):
        return 1
    parts = min(power_of_two(trips), 2 * target.cores // rows, limit)
    return 1 << parts.bit_length() - 1 if parts >= MIN_PARTS else 1


# Products


SIDES = (16, 32, 64, 128, 256)
LINES = (64, 128)
"""The bytes of a row of an operand's tile: one or two sectors of a transfer."""
WARP = 32
WARPS = {4: 256, 8: 512}
"""The warps of a block that compute, and the products that each of their threads adds in a step at
most if there are no tensor cores: its operands are in registers."""
REGISTERS = 128
"""The registers of a thread that are for sums and gathered elements."""
NEEDS = {"f32": (2, 16), "f64": (2, 16), "i8": (2, 5)}
"""The registers that a thread needs for each of its sums, with operands of some types, and for each
element that it gathers in a step; of others 1 and 5."""
PARTS = (1, 2, 4, 8, 16, 32)
STAGES = 3
"""The tiles of each operand that are in shared memory at a time: one in use, others under way."""
ACCUMULATOR = 128 << 10
"""The bytes of the registers of a multiprocessor that sums may take: half of them."""

L2_RATE = 64
"""The bytes that a multiprocessor gets from the second cache in a cycle."""
MEMORY_RATE = 14
"""The bytes of memory in a cycle, for each multiprocessor."""
LAUNCH = 4000
"""The cycles of one more launch."""
START = 1200
"""The cycles until a block has its first tiles, and after its last product."""
STEP = 50
"""The cycles that a block waits for itself in each step."""
FULL_TILE = 128 * 128
"""The elements of a tile from which on units are full."""
LATENCY = 800
"""The cycles until an operand's tile is there."""
MIN_REGISTERS = 16 << 10
"""The bytes of registers of a block with small tiles, in sums."""
GATHER = 0.1
"""The cycles in which the offset and the mask of an element are computed, and it is loaded."""
UNKNOWN = {"batch": 16, "m": 512, "n": 512, "k": 512}
"""The sizes for which tiles are chosen where they are not known."""
RATES = {"f16": 1024, "tf32": 512, "i8": 2048, "f32": 128, "f64": 64}
"""The products that a multiprocessor adds in a cycle, by the type of the operands."""
FASTER = {"sm_90": 2, "sm_100": 4}
"""How many times as many tensor cores add that read tiles of `FAST_ROWS` rows from shared memory,
by the processors that have such."""
FAST_ROWS = 64


@dataclass(frozen=True)
class ProductTiles:
    """The tile that a block computes, and how many terms it multiplies at a time."""

    m: int
    n: int
    k: int
    parts: int
    """The blocks that share the terms of a tile."""
    warps: int
    """The warps of a block that compute."""


@dataclass(frozen=True)
class ProductSpace(Space[ProductTiles]):
    """The tiles of `batch` products of matrices of m rows, n columns and k terms."""

    batch: int
    m: int
    n: int
    k: int
    kind_of_terms: str
    """f16, bf16, tf32, f32, f64 or i8."""
    bytes: int
    """Those of an element of the operands."""
    target: Target
    known: bool = True
    """Whether all sizes are known: otherwise there may be many tiles, and blocks share none."""
    gathered: str = ""
    """The side, m or n, of the operand that is gathered element by element, if one is."""

    kind = "product-tiles"

    def problem(self) -> Form:
        sizes = {"batch": self.batch, "m": self.m, "n": self.n, "k": self.k}
        how = {"terms": self.kind_of_terms, "known": self.known, "gathered": self.gathered}
        return {**sizes, **how}

    def candidates(self) -> Iterator[ProductTiles]:
        rows, columns = (
            [s for s in SIDES if s <= max(16, power_of_two(n))] for n in (self.m, self.n)
        )
        # A row of less than a line is a slow transfer.
        columns = [s for s in columns if s == columns[-1] or s * self.bytes >= LINES[0]]
        lines = LINES if self.on_tensor_cores else (LINES[0] // 2, LINES[0])
        terms = {min(line // self.bytes, max(16, power_of_two(self.k))) for line in lines}
        for m, n, k, parts in product(rows, columns, sorted(terms), PARTS):
            most = ceil(self.k / k) if self.known else 1
            warps = next((each for each in WARPS if self.fits(m, n, k, each)), None)
            if warps is not None and parts <= most:
                yield ProductTiles(m, n, k, parts, warps)

    @property
    def on_tensor_cores(self) -> bool:
        return self.kind_of_terms not in ("f32", "f64")

    def fits(self, m: int, n: int, k: int, warps: int) -> bool:
        """Return whether the tiles fit into shared memory, and into the registers of warps."""
        threads, wide = WARP * warps, max(4, self.bytes) // 4
        if not self.on_tensor_cores and m * n * k * wide > WARPS[warps] * threads:
            return False
        of_sum, of_gathered = NEEDS.get(self.kind_of_terms, (1, 5))
        side = {"m": m, "n": n}.get(self.gathered, 0)
        registers = m * n * wide * of_sum + side * k * of_gathered
        shared = STAGES * (m + n) * k * self.bytes
        return registers <= REGISTERS * threads and shared <= self.target.l1_cache

    def estimate(self, candidate: ProductTiles) -> float:
        c = candidate
        tiles = self.batch * ceil(self.m / c.m) * ceil(self.n / c.n)
        blocks, cores = tiles * c.parts, self.target.cores
        resident = min(self.resident(c), ceil(blocks / cores))
        steps = ceil(ceil(self.k / c.k) / c.parts)
        compute = c.m * c.n * c.k / self.rate(c)
        if self.gathered:
            compute += GATHER * c.k * (c.m if self.gathered == "m" else c.n)
        load = (c.m + c.n) * c.k * self.bytes / L2_RATE
        # Blocks of a multiprocessor share its units, and wait for memory at the same time.
        step = max((LATENCY + load) / (STAGES - 1), resident * (STEP + max(compute, load)))
        block = START + steps * step + resident * c.m * c.n * 4 / L2_RATE
        operands = self.batch * (self.m + self.n) * self.k * self.bytes
        time = ceil(blocks / (cores * resident)) * block
        return max(time, START + operands / self.bandwidth) + self.combination(c, tiles)

    def resident(self, c: ProductTiles) -> int:
        """Return the blocks that run on a multiprocessor at a time."""
        shared = STAGES * (c.m + c.n) * c.k * self.bytes
        registers = max(c.m * c.n * max(4, self.bytes), MIN_REGISTERS)
        return max(1, min(self.target.l1_cache // shared, ACCUMULATOR // registers))

    @property
    def bandwidth(self) -> float:
        return MEMORY_RATE * self.target.cores

    def rate(self, c: ProductTiles) -> float:
        """Return the products in a cycle: the smaller a tile, the more often operands are read
        from shared memory."""
        rate, full = RATES[self.kind_of_terms], FULL_TILE
        if not self.on_tensor_cores:
            full //= 4  # no tensor cores: registers are enough for smaller tiles
        elif c.m >= FAST_ROWS:
            rate *= FASTER.get(self.target.cpu, 1)
        return rate * min(1, c.m * c.n / full) ** 0.25

    def combination(self, c: ProductTiles, tiles: int) -> float:
        """Return the cycles of adding the parts: a launch, and the transfer of their bytes to
        memory and back, or to the second cache if they fit."""
        if c.parts == 1:
            return 0
        size = c.parts * tiles * c.m * c.n * 4
        rate = self.bandwidth * (4 if size <= self.target.l2_cache else 1)
        return LAUNCH + 2 * size / rate
