"""The tile program of attention: scores of a tile of queries and a tile of keys at a time.

A block has a tile of queries of one head. It carries the maximum and the sum of the exponentials of
each row of scores, and the sum of the values weighted by these; when the maximum grows, both sums
are scaled (Dao et al., FlashAttention, 2022). Tiles of keys that no query of the block sees by the
causal mask are left out: a NaN in their values has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import e, inf, log2

from xdsl.dialects.builtin import FixedBitwidthType, i1, i32
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ....dialects.cuda_tile.attributes import ComparisonPredicate
from ....dialects.relax.contraction.attention import AttentionOp
from ....dialects.relax.types import tensor_type
from ....dialects.target import Target
from ....dialects.tir.functions import Extent, Shape, is_at_most, volume
from ..contraction.attention import inverse_root
from ..scalars import step_type
from .group_tiles import GroupTiles
from .row_frame import RowFrame, broadcast_row, plain_frame
from .row_program import RowProgram
from .tile_builder import TileGroup, TileLaunch, TileLaunches, elements_of
from .tile_costs import FASTER
from .tile_writer import TileReduction, TileWriter, power_of_two, tile_of

__all__ = ["attention_program"]

LOG2_E = log2(e)
LOWEST = -3.4028234663852886e38
"""The lowest number of f32."""
LONGEST = 256
"""The largest length of queries and values whose tiles fit into the memory of a block."""

SHORT_QUERIES = 1 << 12
"""The bytes of queries up to which a tile is of 4 warps."""
SHORT = 7
"""The tiles of keys that are not worth a second entry."""
PARTS_LIMIT = 16
"""The blocks that share the keys of a query."""

Carried = Sequence[SSAValue]
"""The maxima and sums of rows, and the weighted sums of values."""


@dataclass(frozen=True)
class AttentionPlan:
    """An attention with the operations fused behind it, and the sizes of its tiles."""

    op: AttentionOp
    group: TileGroup
    frame: RowFrame
    """The frame of the results: batch, queries, heads, dim."""
    queries: int
    """The queries of a tile."""
    keys: int
    """The keys of a tile."""

    def writer(self, suffix: str, values: Sequence[SSAValue], more: int = 0) -> TileWriter:
        """Return the writer of an entry on `values`, and on tensors of what blocks carry."""
        assert isinstance(dim := self.group.sizes[self.op.query][3], int)
        elements = [*elements_of(values), *[step_type(self.element)] * more]
        warps = 8 if self.queries * row_bytes(self.element, dim) > SHORT_QUERIES else 4
        return TileWriter(f"{self.group.func.sym_name.data}{suffix}", elements, warps=warps)

    @property
    def element(self) -> Attribute:
        return tensor_type(self.op.query).element_type

    @property
    def counts(self) -> tuple[Extent, Extent, Extent]:
        """The batch, the heads, and the tiles of queries: a block for each."""
        batch, rows, heads, _ = self.frame.shape
        return batch, heads, -(-rows // self.queries)

    @property
    def key_tiles(self) -> Extent:
        return -(-self.group.sizes[self.op.key][1] // self.keys)

    def block(self, w: TileWriter) -> AttentionBlock:
        return AttentionBlock(self, w, *w.decomposed(w.block_indices()[0], self.counts))

    def whole(self) -> TileLaunches:
        """Return one entry, whose blocks traverse all keys."""
        block = self.block(self.writer("", self.group.tensors))
        return TileLaunches([self.stored(block, block.traversed())])

    def stored(self, block: AttentionBlock, carried: Carried) -> TileLaunch:
        """Store the results of a block, and return the launch of its entry."""
        w, dim = block.w, self.frame.shape[3]
        assert isinstance(dim, int)
        result = w.convert(block.finished(carried), block.wide, self.element)
        base = [block.n, block.number, block.head, w.number(0, i32)]
        tile = (1, self.queries, 1, power_of_two(dim))
        tiles = GroupTiles(self.group, RowProgram(w, self.frame, tile, base, (1,) * 4, 1))
        tiles.tiles[self.op.result] = lambda _: w.reshape(result, tile)
        tiles.compute()
        tiles.store(w.pointers[len(self.group.func.args) : len(self.group.tensors)])
        tensors = range(len(w.pointers))
        return TileLaunch(w.finish(), (volume(self.counts),), tensors, [*w.sizes])

    # Parts of the keys, if there are few queries

    def parts(self, cores: int) -> int:
        """Return the number of blocks that share the keys of a query; 1 if there are queries for
        more than one tile, or few keys."""
        blocks, tiles = volume(self.counts), self.key_tiles
        if self.counts[2] != 1 or not isinstance(blocks, int) or is_at_most(tiles, SHORT):
            return 1
        most = min(PARTS_LIMIT, 2 * cores // blocks)
        return max(1, min(most, tiles) if isinstance(tiles, int) else most)

    def split(self, parts: int) -> TileLaunches:
        """Return two entries: one that traverses parts of the keys, and one that combines what its
        blocks carry."""
        batch, rows, heads, dim = self.frame.shape
        wide = step_type(self.element)
        shape = (batch, heads, parts, rows)
        buffers = [((*shape, n), wide) for n in (1, 1, dim)]
        inputs, count = len(self.group.func.args), len(self.group.tensors)
        w = self.writer("_parts", self.group.func.args, more=3)
        block, part = self.block(w), w.block_indices()[1]
        carried = block.traversed(w.share(part, parts, self.key_tiles))
        for tile, view in zip(carried, self.carried_views(w, shape), strict=True):
            w.store(w.reshape(tile, (1, 1, 1, *tile_of(tile).get_shape())), view, block.at(part))
        grid = (volume(self.counts), parts)
        tensors = [*range(inputs), *range(count, count + 3)]
        launch = TileLaunch(w.finish(), grid, tensors, [*w.sizes])
        w = self.writer("", self.group.tensors, more=3)
        block, views = self.block(w), self.carried_views(w, shape)

        def step(number: SSAValue, carried: Carried) -> Carried:
            found = [w.load(view, block.at(number), wide) for view in views]
            shapes = [tile_of(tile).get_shape()[3:] for tile in found]
            return block.merged(carried, [*map(w.reshape, found, shapes)])

        zero, end = w.number(0, i32), w.number(parts, i32)
        combined = self.stored(block, w.loop(zero, end, block.start(), step))
        return TileLaunches([launch, combined], buffers)

    def carried_views(self, w: TileWriter, shape: Shape) -> list[SSAValue]:
        """Return the views of the last three pointers, to what blocks carry for parts of keys."""
        assert isinstance(dim := self.frame.shape[3], int)
        pairs = zip(w.pointers[-3:], (1, 1, dim), strict=True)
        tile = (1, 1, 1, self.queries)
        return [w.view(p, (*shape, n), (*tile, power_of_two(n))) for p, n in pairs]


@dataclass
class AttentionBlock:
    """The program of one block."""

    plan: AttentionPlan
    w: TileWriter
    n: SSAValue
    """The element of the batch."""
    head: SSAValue
    number: SSAValue
    """The number of the tile of queries."""

    def __post_init__(self) -> None:
        # Here, outside of the loops that use them.
        w, heads, kv_heads = self.w, *(self.shape(v)[2] for v in (self.op.query, self.op.key))
        self.views = self.operand_views()
        # Consecutive heads of queries share one of keys.
        self.kv_head, _ = w.divided(self.head, w.size(heads // kv_heads))
        self.first_query = w.scaled(self.number, self.plan.queries)
        self.past = self.keys_before()

    @property
    def op(self) -> AttentionOp:
        return self.plan.op

    @property
    def wide(self) -> Attribute:
        """The type of scores."""
        return step_type(self.plan.element)

    def shape(self, value: SSAValue) -> Shape:
        return self.plan.group.sizes[value]

    def operand_views(self) -> dict[SSAValue, SSAValue]:
        """The views of the operands: a tile is of one head of one element of the batch."""
        op, plan = self.op, self.plan
        rows = {op.query: plan.queries, op.key: plan.keys, op.value: plan.keys}
        views: dict[SSAValue, SSAValue] = {}
        for value, count in rows.items():
            shape = self.shape(value)
            assert isinstance(dim := shape[3], int)
            tile = (1, count, 1, power_of_two(dim))
            views[value] = self.w.view(self.pointer(value), shape, tile)
        if op.bias is not None:
            tile = [1, 1, *(1 if n == 1 else t for n, t in zip(self.bias[2:], self.tile))]
            views[op.bias] = self.w.view(self.pointer(op.bias), self.bias, tile)
        return views

    def pointer(self, value: SSAValue) -> SSAValue:
        assert isinstance(value, BlockArgument)
        return self.w.pointers[value.index]

    @property
    def bias(self) -> Shape:
        """The shape of the bias in four dimensions."""
        assert self.op.bias is not None
        shape = self.shape(self.op.bias)
        return (*(1,) * (4 - len(shape)), *shape)

    @property
    def tile(self) -> tuple[int, int]:
        """The shape of a tile of scores."""
        return self.plan.queries, self.plan.keys

    def load(self, value: SSAValue, number: SSAValue, head: SSAValue) -> SSAValue:
        """Load a tile of queries, keys or values as a matrix."""
        view = self.views[value]
        index = [self.n, number, head, self.w.number(0, i32)]
        tile = self.w.load(view, index, self.plan.element)
        _, rows, _, columns = tile_of(tile).get_shape()
        return self.w.reshape(tile, (rows, columns))

    # Scores

    @property
    def base_2(self) -> bool:
        """Whether scores are logarithms to base 2. A bias may be so low that a factor would make it
        infinite: with one, the difference to the maximum is scaled instead."""
        return self.op.bias is None or tensor_type(self.op.bias).element_type == i1

    def power(self, exponent: SSAValue) -> SSAValue:
        """Return the exponential of a score without the maximum."""
        return self.w.power_of_2(exponent if self.base_2 else self.w.scaled(exponent, LOG2_E))

    def scores(self, query: SSAValue, number: SSAValue, *, masked: bool) -> SSAValue:
        """Return the scores of a tile of keys; with `masked`, some keys may be none that count."""
        w, op = self.w, self.op
        keys = w.transpose(self.load(op.key, number, self.kv_head))
        zeros = w.number(0, self.wide, self.tile)
        factor = inverse_root(self.shape(op.query)[3]) if op.scale is None else op.scale
        scores = w.product(query, keys, zeros)
        scores = w.scaled(scores, factor * (LOG2_E if self.base_2 else 1))
        if op.bias is not None:
            scores = self.biased(scores, op.bias, number)
        if not masked:
            return scores
        return w.select(self.seen(number), scores, w.number(-inf, self.wide))

    def biased(self, scores: SSAValue, bias: SSAValue, number: SSAValue) -> SSAValue:
        """Add the bias, or replace scores where it is false."""
        w, element = self.w, tensor_type(bias).element_type
        zero, place = w.number(0, i32), [self.n, self.head, self.number, number]
        index = [zero if n == 1 else i for n, i in zip(self.bias, place, strict=True)]
        tile = w.load(self.views[bias], index, element)
        tile = w.reshape(tile, tile_of(tile).get_shape()[2:])
        if element == i1:
            fill = self.op.masked_value * LOG2_E
            if self.op.masked_value != -inf:  # all keys of a row may have this score
                fill = max(fill, LOWEST)
            return w.select(w.broadcast(tile, self.tile), scores, w.number(fill, self.wide))
        return w.add(scores, w.convert(tile, element, self.wide))

    def seen(self, number: SSAValue) -> SSAValue:
        """Return which scores are of keys that exist, and that the query sees."""
        w = self.w
        key = w.add(w.scaled(number, self.plan.keys), w.iota(self.tile, 1))
        mask = w.less(key, w.size(self.shape(self.op.key)[1]))
        if self.op.causal_mask != "none":
            last = w.add(w.add(self.first_query, w.iota(self.tile, 0)), self.past)
            mask = w.both(mask, w.compare(ComparisonPredicate.LESS_THAN_OR_EQUAL, key, last))
        return mask

    def keys_before(self) -> SSAValue:
        """Return how many keys are before the one at the position of the first query."""
        w, rows, keys = self.w, self.shape(self.op.query)[1], self.shape(self.op.key)[1]
        if self.op.causal_mask != "BottomRight":
            return w.number(0, i32)
        return w.subtract(w.size(keys), w.size(rows))

    # The traversal of keys

    def ends(self) -> tuple[SSAValue, SSAValue]:
        """Return the end of the tiles of which all queries see all keys, and that of the tiles of
        which a query may see a key."""
        w, step = self.w, self.w.number(self.plan.keys, i32)
        count = w.size(self.shape(self.op.key)[1])
        first = last = count
        if self.op.causal_mask != "none":
            seen = w.add(self.first_query, self.past)
            first = self.within(w.add(seen, w.number(1, i32)), count)
            last = self.within(w.add(seen, w.number(self.plan.queries, i32)), count)
        above = w.add(last, w.number(self.plan.keys - 1, i32))
        return w.divide(first, step), w.divide(above, step)

    @property
    def is_whole(self) -> bool:
        """Whether all queries see all keys of all tiles."""
        keys = self.shape(self.op.key)[1]
        aligned = isinstance(keys, int) and keys % self.plan.keys == 0
        return aligned and self.op.causal_mask == "none"

    def within(self, number: SSAValue, count: SSAValue) -> SSAValue:
        """Return a number between 0 and `count`."""
        w = self.w
        return w.apply("maximum", w.apply("minimum", number, count), w.number(0, i32))

    def step(
        self, query: SSAValue, number: SSAValue, carried: Carried, *, masked: bool
    ) -> Sequence[SSAValue]:
        """Add a tile of keys and values to the sums."""
        w, (top, total, result) = self.w, carried
        scores = self.scores(query, number, masked=masked)
        maximum = TileReduction("maximum", -inf)
        above = w.combine(maximum, top, w.reduce(scores, 1, maximum))
        center = self.center(above)
        powers = self.power(w.subtract(scores, center))
        shrunk = self.power(w.subtract(top, center))
        total = w.add(w.multiply(total, shrunk), w.reduce(powers, 1, TileReduction("add", 0)))
        values = self.load(self.op.value, number, self.kv_head)
        weights = w.convert(powers, self.wide, self.plan.element)
        return above, total, w.product(weights, values, w.multiply(result, shrunk))

    def start(self) -> Carried:
        """Return what is carried before the first key."""
        w, (rows, _) = self.w, self.tile
        assert isinstance(dim := self.shape(self.op.value)[3], int)
        none, zero = w.number(-inf, self.wide, (rows, 1)), w.number(0, self.wide, (rows, 1))
        return none, zero, w.number(0, self.wide, (rows, power_of_two(dim)))

    def traversed(self, part: tuple[SSAValue, SSAValue] | None = None) -> Carried:
        """Traverse the keys, or a `part` of their tiles; return what is carried after them."""
        w, carried, zero = self.w, self.start(), self.w.number(0, i32)
        query = self.load(self.op.query, self.number, self.head)
        whole, end = self.ends()
        spans = [(zero, whole, False), (whole, end, True)]
        if part is not None:
            spans = [(part[0], w.apply("minimum", part[1], end), True)]
        for first, last, masked in spans:
            if masked and self.is_whole and part is None:
                continue
            carried = w.loop(
                first, last, carried, lambda i, c, m=masked: self.step(query, i, c, masked=m)
            )
        return carried

    def at(self, part: SSAValue) -> list[SSAValue]:
        """Return the index of what is carried for a part of the keys."""
        return [self.n, self.head, part, self.number, self.w.number(0, i32)]

    def merged(self, carried: Carried, other: Carried) -> Carried:
        """Combine what is carried for two parts of the keys."""
        w = self.w
        above = w.combine(TileReduction("maximum", -inf), carried[0], other[0])
        center = self.center(above)
        shrunk = [self.power(w.subtract(top, center)) for top in (carried[0], other[0])]
        pairs = zip(carried[1:], other[1:], strict=True)
        sums = [w.add(*map(w.multiply, pair, shrunk)) for pair in pairs]
        return above, *sums

    def center(self, top: SSAValue) -> SSAValue:
        """Return the maxima to subtract: as long as all scores of a row are -inf, 0, so that their
        exponentials are 0, and not NaN."""
        none = self.w.compare(ComparisonPredicate.EQUAL, top, self.w.number(-inf, self.wide))
        return self.w.select(none, self.w.number(0, self.wide), top)

    def finished(self, carried: Carried) -> SSAValue:
        """Divide by the sums of exponentials. Rows without keys are 0; rows whose keys are all
        masked are NaN, or 0 if the operation says so."""
        w, (_, total, result) = self.w, carried
        one, zero = w.number(1, self.wide), w.number(0, self.wide)
        if not isinstance(keys := self.shape(self.op.key)[1], int):
            none = w.compare(ComparisonPredicate.EQUAL, w.size(keys), w.number(0, i32))
            total = w.select(none, one, total)
        result = w.multiply(result, w.divide(one, total))
        if not self.op.nan_to_zero:
            return result
        some = w.less(zero, total)
        return w.select(w.broadcast(some, tile_of(result).get_shape()), result, zero)


def tile_sizes(element: Attribute, query: Shape, key: Shape, target: Target) -> tuple[int, int]:
    """Return the queries and the keys of a tile: as many as registers hold, and the memory of a
    block beside two tiles of keys and values that are on their way."""
    assert isinstance(element, FixedBitwidthType)
    assert isinstance(dim := query[3], int)
    row = row_bytes(element, dim)
    if element.bitwidth > 16:  # without tensor cores, both operands of a product are in registers
        queries, keys = (32, 16) if dim <= 64 else (16, 16)
    elif target.cpu in FASTER:
        queries, keys = 128 if dim <= 128 else 64, 64
    else:
        queries, keys = 64, 64 if dim <= 64 else 32
    while queries > 16 and (queries + 4 * keys) * row > target.l1_cache:
        queries //= 2
    return at_most(queries, query[1]), at_most(keys, key[1])


def row_bytes(element: Attribute, dim: int) -> int:
    """Return the bytes of a query in a tile."""
    assert isinstance(element, FixedBitwidthType)
    return power_of_two(dim) * element.bitwidth // 8


def at_most(count: int, extent: Extent) -> int:
    """Return `count`, or fewer if there are fewer; at least the 16 of one instruction."""
    return min(count, max(16, power_of_two(extent))) if isinstance(extent, int) else count


def attention_program(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of an attention, and of element-wise operations behind it; None if
    the group is another, if heads are too long, or if sizes are not known that have to be."""
    op, *after = group.ops
    if not isinstance(op, AttentionOp) or not all(
        isinstance(v, BlockArgument) for v in op.operands
    ):
        return None
    query, key, value = (group.sizes[v] for v in (op.query, op.key, op.value))
    frame = plain_frame(after, (*query[:3], value[3]), group.sizes)
    if frame is None or any(isinstance(v, BlockArgument) for v in group.results):
        return None
    if not are_tileable(query, key, value) or not is_bias_known(op, group.sizes):
        return None
    host = group.host
    for size in (key[0], value[0]):
        host.require_equal(query[0], size, "queries and keys differ in batch", op)
    for axis in (1, 2):
        host.require_equal(key[axis], value[axis], "keys and values differ", op)
    tile = tile_sizes(tensor_type(op.query).element_type, query, key, group.target)
    plan = AttentionPlan(op, group, frame, *tile)
    parts = plan.parts(group.target.cores)
    return plan.split(parts) if parts > 1 else plan.whole()


def are_tileable(query: Shape, key: Shape, value: Shape) -> bool:
    """Return whether the sizes of heads are known, and short enough."""
    fixed = (query[2], query[3], key[2], value[3])
    if 0 in (*query, *key, *value):
        return False
    return all(isinstance(n, int) for n in fixed) and max(query[3], value[3]) <= LONGEST


def is_bias_known(op: AttentionOp, sizes: Mapping[SSAValue, Shape]) -> bool:
    """Return whether it is known in which dimensions the bias is broadcast."""
    if op.bias is None:
        return True
    bias, (batch, rows, heads, _), key = sizes[op.bias], sizes[op.query], sizes[op.key]
    shape = (*(1,) * (4 - len(bias)), *bias)
    return broadcast_row(shape, (batch, heads, rows, key[1])) is not None
