"""Contractions of few rows whose terms are contiguous in both operands, as dot products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....dialects.tir.builder import Index
from ....dialects.tir.ops import ForKind
from ..builder import KernelBuilder, Store
from ..choices import Form, Space
from ..tiles.cost_model import LOADS
from ..tiles.schedules import nominal, nominal_volume
from .contraction import Contraction, Coordinates

FEW_ROWS = 3
"""Up to this many rows of lhs, terms that are contiguous in both operands are summed up in lanes:
to pack them as columns would cost more than the products."""

# Four independent sums with a latency of four cycles complete one product in a cycle. Vectors of 32
# bytes come from the second cache at the same rate (L2_BYTES of the cost model), and a large matrix
# comes from further away: more sums would wait for it.
TOGETHER = (4, 2, 1)
"""The numbers of dot products that are computed together."""

UNROLLED = ForKind.UNROLLED
VECTORIZED = ForKind.VECTORIZED


@dataclass(frozen=True)
class DotProducts(Space[int]):
    """The numbers of dot products that are computed together."""

    fitting: Sequence[int]
    batch: int
    m: int
    columns: int
    terms: int
    lanes: int

    kind = "dot products"

    def problem(self) -> Form:
        names = ("batch", "m", "columns", "terms", "lanes")
        return {name: vars(self)[name] for name in names}

    def candidates(self) -> Iterator[int]:
        return iter(self.fitting)

    def estimate(self, candidate: int) -> float:
        """Return the cycles of the loads, which bound short products; lhs is loaded once for all of
        them."""
        vectors = self.batch * self.m * self.columns * -(-self.terms // self.lanes)
        return vectors * (1 + 1 / candidate) / LOADS

    def form(self, candidate: int) -> Form:
        return {"together": candidate}


def write_dot_products(b: KernelBuilder, t: Contraction, finish: Store) -> None:
    """Write loops for terms that are contiguous in both operands: each lane sums up every
    `lanes`-th term, and at the end the lanes are added up."""
    (terms,) = t.terms
    lanes = b.lanes
    # With 4 lanes, 10 terms are summed up as
    #
    #     lane 0: 0 4 8    lane 1: 1 5 9    lane 2: 2 6    lane 3: 3 7
    #
    # and the lanes one after the other. The order of a float sum is thus another one than in
    # `tiles`; the bound of its error is lower, as each lane adds fewer terms.
    columns = nominal(t.columns, 1)  # one at a time if their number is unknown
    fitting = [n for n in TOGETHER if columns % n == 0]
    batch, m = nominal_volume(t.batch), nominal(t.m)
    at_once = b.decide(DotProducts(fitting, batch, m, columns, nominal(terms), lanes))
    shape = (at_once, lanes)
    with (
        b.loops(t.batch, ForKind.PARALLEL) as batch,
        b.loop(t.columns // at_once, ForKind.PARALLEL) as column_tile,
        b.loop(t.m) as m,
    ):
        first = column_tile * at_once
        sums = b.alloc(shape, t.total, "local")
        unrolled = [UNROLLED, VECTORIZED]
        with b.nest(shape, unrolled) as index:
            b.store(b.number(0, t.total), sums, index)

        def add_term(j: Index, v: Index, k: Index) -> None:
            left = t.lhs(b, batch, m, k)
            right = t.rhs(b, [k], Coordinates(batch, m, [], first + j))
            b.store(t.multiply_add(b, b.load(sums, [j, v]), left, right), sums, [j, v])

        with b.loop(terms // lanes) as chunk, b.nest(shape, unrolled) as (j, v):
            add_term(j, v, chunk * lanes + v)
        if not isinstance(terms, int):
            # All of these terms go to lane 0: their number is not known, so a vector of them would
            # need a mask.
            with b.loop(terms % lanes) as v, b.loop(at_once, UNROLLED) as j:
                add_term(j, 0, terms // lanes * lanes + v)
        elif terms % lanes:
            rest = terms - terms % lanes
            with b.nest((at_once, terms % lanes), unrolled) as (j, v):
                add_term(j, v, rest + v)
        # Indexed by the loop variable `j` below, `sums` itself could not be in registers.
        tile_of_sums = b.alloc(shape, t.total, "local")
        with b.nest(shape, unrolled) as index:
            b.store(b.load(sums, index), tile_of_sums, index)
        with b.loop(at_once) as j:
            total = b.variable(b.number(0, t.total))
            with b.loop(lanes) as v:
                b.store(b.sum(b.load(total, [0]), b.load(tile_of_sums, [j, v])), total, [0])
            value = t.element_of(b, b.load(total, [0]))
            finish(t.index_of(b, Coordinates(batch, m, [], first + j)), value)
