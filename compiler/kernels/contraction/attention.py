"""The kernel of attention: the scores of a block of queries are in one buffer at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.contraction.attention import AttentionOp
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, UnknownExtent
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Store, Tensor, broadcast_index
from ..reduction.nn import HEAVY, greater
from ..scalars import add, convert, divide, exponential, multiply, step_type, widen
from ..tensors import scheduled
from ..tiles.blocks import padded
from ..tiles.cost_model import LINE
from ..tiles.loop_nest import write_contraction
from ..tiles.schedules import nominal
from ..tiles.transposed import Transposed
from .contraction import Contraction, Coordinates
from .dot_products import FEW_ROWS

SHARE = 4
"""The scores of a block of queries take up to this part of the second cache."""


@dataclass(frozen=True)
class Heads:
    """Attention of one head of a batch element, whose parts are written one after the other."""

    op: AttentionOp
    b: KernelBuilder
    query: Tensor
    key: Tensor
    value: Tensor
    bias: Tensor | None
    n: Index
    """The batch element."""
    kv_head: Index
    scores: SSAValue
    """A buffer of the scores of a block of queries, a row for each."""
    block: int
    """The most queries of a block."""

    @property
    def wide(self) -> Attribute:
        """The type in which scores are computed."""
        return step_type(self.query.element)

    @property
    def keys(self) -> Extent:
        return self.key.shape[1]

    def key_at(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return an element of the matrix of keys, by its row and its column."""
        row, column = index
        return b.read(self.key, [self.n, row, self.kv_head, column])

    def transposed_keys(self) -> SSAValue:
        """Write loops that transpose the keys: adjacent keys are then the lanes of the vectors in
        which products are summed up."""
        dim, element = self.key.shape[3], self.key.element
        rows = Elements((self.keys, dim), element, self.key_at)
        buffer = self.b.alloc((dim, self.keys), element)
        self.b.store_all(Transposed((dim, self.keys), element, rows, (1, 0)), buffer)
        return buffer

    def product(
        self,
        rows: Index,
        columns: Extent,
        terms: Extent,
        lhs: Tensor,
        rhs: Tensor,
        finish: Store,
        *,
        rhs_along_terms: bool = False,
    ) -> None:
        """Write loops that compute the product of two matrices, in the wide type."""
        contraction = Contraction(
            shape=(self.block, columns),
            element=self.wide,
            total=self.wide,
            batch=(),
            m=rows,
            rows=(),
            columns=columns,
            terms=(terms,),
            read_lhs=lambda b, batch, m, k: convert(b, b.read(lhs, [m, k]), self.wide),
            rhs=lambda b, ks, at: convert(b, b.read(rhs, [*ks, at.column]), self.wide),
            index_of=lambda b, at: [at.m, at.column],
            coordinates_of=lambda b, index: Coordinates([], index[0], [], index[1]),
            rhs_along_terms=rhs_along_terms,
        )
        write_contraction(self.b, contraction, finish)

    def write_scores(self, head: Index, first: Index, rows: Index, keys: SSAValue | None) -> None:
        """Write loops that compute the scores of `rows` queries from `first` on; `keys` are the
        transposed keys, None to read them where they are."""
        b, op, dim = self.b, self.op, self.query.shape[3]
        scale = b.number(inverse_root(dim) if op.scale is None else op.scale, self.wide)
        bias = None if self.bias is None or self.bias.element == i1 else self.bias

        def query(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            row, k = index
            element = b.read(self.query, [self.n, first + row, head, k])
            return multiply(b, widen(b, element), scale)

        # Scaled once, and contiguous.
        queries = b.alloc((self.block, dim), self.wide)
        with b.loop(rows) as row, b.chunks(dim, b.lanes) as k:
            b.store(query(b, [row, k]), queries, [row, k])

        def finish(index: Sequence[Index], value: SSAValue) -> None:
            if bias is not None:
                place = self.place(bias, head, first, index)
                value = add(b, value, widen(b, b.read(bias, place)))
            b.store(value, self.scores, index)

        element = self.key.element
        transposed = Elements((dim, self.keys), element, lambda b, i: self.key_at(b, [i[1], i[0]]))
        columns = transposed if keys is None else Buffer((dim, self.keys), element, keys)
        lhs = Buffer((self.block, dim), self.wide, queries)
        along_terms = keys is None
        self.product(rows, self.keys, dim, lhs, columns, finish, rhs_along_terms=along_terms)

    def place(self, bias: Tensor, head: Index, first: Index, index: Sequence[Index]) -> list[Index]:
        """Return the index in the bias of the score at `index` in the block."""
        row, key = index
        batch, queries, heads, _ = self.query.shape
        at, frame = [self.n, head, first + row, key], (batch, heads, queries, self.keys)
        return broadcast_index(self.b, at, bias.shape, frame)

    def write_masks(self, head: Index, first: Index, rows: Index) -> None:
        """Write loops that replace the scores of masked keys."""
        b, op, bias = self.b, self.op, self.bias
        if bias is not None and bias.element == i1:
            fill = b.number(op.masked_value, self.wide)
            with b.nest((rows, self.keys), [ForKind.SERIAL] * 2) as index:
                seen = b.read(bias, self.place(bias, head, first, index))
                score = b.pure(arith.SelectOp, seen, b.load(self.scores, index), fill)
                b.store(score, self.scores, index)
        if op.causal_mask != "none":
            whole = self.query.shape[1]
            # With 2 queries and 4 keys, query 0 sees key 0 with TopLeft, keys 0 1 2 with
            # BottomRight. With more queries than keys, the first ones see none with BottomRight:
            # all scores are -inf and the result is NaN, as in the interpreter.
            past = self.keys - whole if op.causal_mask == "BottomRight" else 0
            with b.loop(rows) as row:
                end = b.min(b.max(first + row + (past + 1), 0), self.keys)
                with b.loop(self.keys - end, min=end) as key:
                    b.store(b.number(-inf, self.wide), self.scores, [row, key])

    def write_exponentials(self, rows: Index) -> SSAValue:
        """Write loops that replace the scores by their exponentials, and return a buffer of the
        reciprocals of the sums of these."""
        b, wide, scores = self.b, self.wide, self.scores
        # The maxima have a loop of their own, so that processors overlap the reduction trees of
        # several rows.
        maxima, factors = b.alloc((self.block,), wide), b.alloc((self.block,), wide)
        with b.loop(rows) as row:
            row_max = b.fold(
                (self.keys,),
                b.number(-inf, wide),
                greater,
                lambda i: b.load(scores, [row, *i]),
                contiguous=True,
            )
            b.store(row_max, maxima, [row])
        with b.loop(rows) as row:

            def exp_at(index: Sequence[Index]) -> SSAValue:
                # At most 0: no exponential overflows. That of the maximum is 1, so the sum is at
                # least 1.
                less = b.pure(arith.SubfOp, b.load(scores, [row, *index]), b.load(maxima, [row]))
                b.store(result := exponential(b, less), scores, [row, *index])
                return result

            zero, one = b.number(0, wide), b.number(1, wide)
            total = b.fold((self.keys,), zero, add, exp_at, contiguous=True, vectors=HEAVY)
            factor = divide(b, one, total)
            if not isinstance(self.keys, int):  # there may be no keys
                factor = b.pure(arith.SelectOp, b.equal(self.keys, 0), zero, factor)
            b.store(factor, factors, [row])
        return factors

    def write_result(self, head: Index, first: Index, rows: Index, store: Store) -> None:
        """Write loops that compute the results of a block from its scores."""
        b, dim = self.b, self.value.shape[3]
        factors = self.write_exponentials(rows)
        values = Elements(
            (self.keys, dim),
            self.value.element,
            lambda b, i: b.read(self.value, [self.n, i[0], self.kv_head, i[1]]),
        )

        def finish(index: Sequence[Index], value: SSAValue) -> None:
            row, column = index
            # The `dim` results of a row are divided by its sum, not its exponentials: there are as
            # many of these as keys.
            factor = b.load(factors, [row])
            value = multiply(b, value, factor)
            if self.op.nan_to_zero:  # the weights of a row are NaN if, and only if, their sum is
                nan = b.pure(arith.CmpfOp, factor, factor, arg="uno")
                value = b.pure(arith.SelectOp, nan, b.number(0, self.wide), value)
            place = [self.n, first + row, head, column]
            store(place, convert(b, value, self.query.element))

        exponentials = Buffer((self.block, self.keys), self.wide, self.scores)
        self.product(rows, dim, self.keys, exponentials, values, finish)


def attention(
    op: AttentionOp,
    b: KernelBuilder,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """Compute queries block by block: their scores, the exponentials of the scores, and the sums of
    the values weighted by the exponentials, divided by the sum of the exponentials."""
    query, key, value = (b.buffered(operand) for operand in (query, key, value))
    bias = None if bias is None else b.buffered(bias)
    _, rows, heads, _ = query.shape
    _, keys, kv_heads, dim = value.shape
    batch = b.shape_of(op.result)[0]
    shape, wide = (batch, rows, heads, dim), step_type(query.element)

    def loops(store: Store) -> None:
        if 0 in shape:
            return
        for axis in (0, 1, 2):
            b.require_equal(key.shape[axis], value.shape[axis], "keys and values differ", op)
        b.require_equal(query.shape[0], value.shape[0], "queries and keys differ in batch", op)
        if keys == 0:
            with b.loops(shape) as index:
                store(index, b.number(0, query.element))
            return
        # FlashAttention (Dao et al., 2022) takes blocks of keys too, and rescales sums when the
        # maximum of a row grows. Here a block of queries has the scores of all keys, so the maximum
        # is known before the first exponential. The limit: `block_of` takes 16 queries at least,
        # and beyond l2_cache / 64 bytes of scores for each query they no longer stay in the share
        # of the second cache.
        block, stride = block_of(b, rows, keys, wide)
        with b.loops((batch, kv_heads), ForKind.PARALLEL) as (n, kv_head):
            scores = b.alloc((block, stride), wide)
            part = Heads(op, b, query, key, value, bias, n, kv_head, scores, block)
            columns = part.transposed_keys() if block > FEW_ROWS else None
            # The query heads of a group share the transposed keys (grouped-query attention, GQA),
            # so they are in one iteration of the parallel loop. One query head a key head
            # (multi-head) is group 1.
            group = heads // kv_heads
            with b.nest((group, b.ceildiv(rows, block)), [ForKind.SERIAL] * 2) as (member, number):
                head = kv_head * group + member
                if isinstance(rows, int):
                    # All blocks have the same static size: the last one overlaps the one before it,
                    # and computes some queries twice, with the same results.
                    first, count = b.chunk_start(number, block, rows), block
                else:
                    first = number * block
                    count = b.min(block, rows - first)
                part.write_scores(head, first, count, columns)
                part.write_masks(head, first, count)
                part.write_result(head, first, count, store)

    return scheduled(op, b, shape, query.element, loops)


def block_of(b: KernelBuilder, rows: Extent, keys: Extent, wide: Attribute) -> tuple[int, Extent]:
    """Return the number of queries of a block, and the distance between their rows of scores. The
    distance is an odd number of cache lines: otherwise few sets of a cache would have to hold the
    columns."""
    assert isinstance(wide, FixedBitwidthType)
    line = LINE * 8 // wide.bitwidth
    # A tile of the second product reads one column of up to 14 rows. A first cache of 8 ways and 64
    # sets keeps 8 lines whose addresses are equal modulo 4096: rows of 1024 keys of f32 would evict
    # each other, those of 1040 are in sets of their own.
    stride = (padded(nominal(keys), line) // line | 1) * line
    most = max(16, b.target.l2_cache // SHARE * 8 // (stride * wide.bitwidth))
    blocks = -(-nominal(rows) // most)
    distance = stride if isinstance(keys, int) else padded(keys, 2 * line) + line
    return -(-nominal(rows) // blocks), distance


def inverse_root(dim: Extent) -> float:
    """Return the factor of scores, 1 / sqrt(dim), that reduces their variance to that of the
    elements of queries."""
    if not isinstance(dim, int):
        raise UnknownExtent("the length of queries")
    return 1 / sqrt(dim or 1)


ATTENTION: dict[type[Operation], Legalization] = {AttentionOp: attention}
