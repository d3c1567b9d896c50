"""Converters of attention and of rotary embeddings.

Heads are [batch, heads, sequence, size]; batch and sequence may be unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, i32, i64
from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.expression import Expression, indices, inputs, optional, size_along, total

# Heads


def split_heads(x: Expression, heads: int) -> Expression:
    """Return [batch, sequence, heads * size] as heads."""
    if (width := x.shape[-1]) == DYNAMIC_INDEX or heads < 1 or width % heads:
        raise Unsupported(f"{width} columns in {heads} heads")
    return x.reshape(0, 0, heads, width // heads).transpose(0, 2, 1, 3)


def joined_heads(x: Expression) -> Expression:
    """Return heads as [batch, sequence, heads * size]."""
    heads, size = x.shape[1], x.shape[3]
    return x.transpose(0, 2, 1, 3).reshape(0, 0, heads * size)


def attended(
    query: Expression, key: Expression, value: Expression, scale: float, mask: Expression | None
) -> tuple[Expression, Expression]:
    """Return softmax(query * key^T * scale + mask) * value, and the scores before softmax."""
    scores = query @ key.transpose(0, 1, 3, 2)
    scores = scores * scale
    if mask is not None:
        scores = scores + mask
    return scores.op("nn.softmax", axis=-1) @ value, scores


def default_scale(node: Node, query: Expression) -> float:
    """Return the factor of the scores, by default 1 / sqrt(head size)."""
    return node.float("scale") or query.shape[-1] ** -0.5


# Masks


def masked_scores(node: Node, index: int, key_length: Expression) -> Expression | None:
    """Return what the mask input adds to the scores: the filter value where it masks, else 0.

    The mask is one of: lengths [batch], ends and starts [2 * batch], or 0 and 1 as [batch, keys] or
    [batch, queries, keys].
    """
    if not node.has(index):
        return None
    mask, x = Expression(node, node.input(index)), Expression(node, node.input(0))
    low = node.float("mask_filter_value", -10000.0)
    if mask.rank == 1:
        kept = within(mask.cast(i64), x, key_length)
        kept = kept.expand(1, 2)
    elif mask.rank in (2, 3):
        kept = (mask.cast(i32) > 0).expand(*((1, 2) if mask.rank == 2 else (1,)))
    else:
        raise Unsupported(f"a mask of {mask.rank} dimensions")
    return kept.where(x.scalar(0), low)


def within(bounds: Expression, x: Expression, key_length: Expression) -> Expression:
    """Return whether each key, [batch, keys], is before the end and not before the start."""
    (count,), batch = bounds.shape, x.shape[0]
    places = indices(key_length, bounds.node)
    if count == batch and batch != DYNAMIC_INDEX:
        return places < bounds.expand(1)
    if count == 2 * batch and batch != DYNAMIC_INDEX:
        ends, starts = bounds.slice(0, 0, batch), bounds.slice(0, batch, count)
        return (places < ends.expand(1)) & (places >= starts.expand(1))
    raise Unsupported(f"a mask of {count} numbers for a batch of {batch}")


def causal_mask(x: Expression, queries: Expression, keys: Expression) -> Expression:
    """Return a large negative number for the keys after each query, else 0; the last query is
    aligned with the last key."""
    node = x.node
    last = indices(queries, node).expand(1) + (keys - queries)
    return (indices(keys, node) > last).where(lowest(x), x.scalar(0))


def lowest(x: Expression) -> Expression:
    """Return a number that is far below any score, and whose sum with another is finite."""
    return x.scalar(-3e38 if x.element.bitwidth >= 32 else -3e4)


def summed(*masks: Expression | None) -> Expression | None:
    """Return the sum of the masks that there are."""
    given = [mask for mask in masks if mask is not None]
    return total(given) if given else None


# Attention


def attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert Attention: the projections of one input to query, key and value, and the attention
    of all heads."""
    x, weights = inputs(node, 0, 1)
    if node.has(6) or node.bool("past_present_share_buffer"):
        raise Unsupported("a buffer that past and present share")
    if node.bool("do_rotary"):
        raise Unsupported("do_rotary = 1")
    heads, width = node.int("num_heads"), node.sizes(weights.value, 2)[1]
    sizes = node.ints("qkv_hidden_sizes") or [width // 3] * 3
    if len(sizes) != 3 or sum(sizes) != width:
        raise Unsupported(f"qkv_hidden_sizes = {sizes} of {width} columns")
    projected = x @ weights
    if node.has(2):
        projected = projected + node.input(2)
    ends = [sizes[0], sizes[0] + sizes[1], width]
    query, key, value = (
        split_heads(projected.slice(-1, end - size, end), heads)
        for size, end in zip(sizes, ends, strict=True)
    )
    present: Expression | None = None
    if node.has(4):
        past = Expression(node, node.input(4))
        key = past.at(0, 0).concat(key, axis=2)
        value = past.at(0, 1).concat(value, axis=2)
    if node.wants(1):
        present = key.op("stack", value, axis=0)
    bias = optional(node, 5)
    y, _ = scored(node, query, key, value, 3, bias)
    return [joined_heads(y).value, None if present is None else present.value]


def scored(
    node: Node,
    query: Expression,
    key: Expression,
    value: Expression,
    mask: int,
    bias: Expression | None,
) -> tuple[Expression, Expression]:
    """Return the attention with the mask input, the bias and the causal mask of a node, and the
    scores."""
    queries, keys = size_along(query, 2), size_along(key, 2)
    causal = causal_mask(query, queries, keys) if node.int("unidirectional") else None
    masks = summed(masked_scores(node, mask, keys), causal, bias)
    return attended(query, key, value, default_scale(node, query), masks)


def multi_head_attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert MultiHeadAttention: query, key and value are inputs, packed or not, with a bias."""
    if node.has(8) or node.has(9):
        raise Unsupported("a buffer that past and present share, or the beams of a search")
    query, key, value = query_key_value(node, 3)
    if node.has(6):
        key = Expression(node, node.input(6)).concat(key, axis=2)
        value = Expression(node, node.input(7)).concat(value, axis=2)
    bias = optional(node, 5)
    y, scores = scored(node, query, key, value, 4, bias)
    present = (key.value, value.value)
    probabilities = scores.op("nn.softmax", axis=-1).value if node.wants(3) else None
    return [joined_heads(y).value, *present, probabilities]


def query_key_value(node: Node, bias: int) -> tuple[Expression, Expression, Expression]:
    """Return the heads of query, key and value, which may be packed or be heads already; `bias` is
    the input with the bias of all three."""
    heads, query = node.int("num_heads"), Expression(node, node.input(0))
    if query.rank == 5:  # [batch, sequence, heads, 3, size]
        parts = [query.at(3, i).transpose(0, 2, 1, 3) for i in range(3)]
    elif not node.has(1):
        raise Unsupported("no key, and a query that is not packed")
    else:
        key = Expression(node, node.input(1))
        parts = [split_heads(query, heads)]
        if key.rank == 5:  # [batch, sequence, heads, 2, size]
            parts += [key.at(3, i).transpose(0, 2, 1, 3) for i in range(2)]
        else:
            others = inputs(node, 1, 2)
            parts += [x if x.rank == 4 else split_heads(x, heads) for x in others]
    if node.has(bias):
        vector, end = Expression(node, node.input(bias)), 0
        for i, part in enumerate(parts):
            start, size = end, part.shape[3]
            end = start + heads * size
            if node.has(1) and i and Expression(node, node.input(1)).rank == 4:
                continue  # keys and values of another sequence have it already
            heads_of = vector.slice(0, start, end).reshape(heads, 1, size)
            parts[i] = part + heads_of
    return parts[0], parts[1], parts[2]


# Rotary embeddings


def rotary_embedding(node: Node) -> Expression:
    """Convert RotaryEmbedding; the position is that of the first element, or one of each."""
    x, places, cos, sin = inputs(node, 0, 1, 2, 3)
    if node.bool("is_packed_batching"):
        raise Unsupported("is_packed_batching = 1")
    part = node.int("rotary_embedding_dim")
    heads = node.int("num_heads")
    flat = x.rank == 3
    if flat:
        size = cos.shape[1] * 2
        heads = heads if part else x.shape[2] // size
        x = split_heads(x, heads)
    places = places.cast(i64)
    if places.rank == 1:
        places = places.expand(1) + indices(size_along(x, 2), node)
    interleaved = node.bool("interleaved")
    y = rotated(x, places, cos, sin, interleaved)
    if node.float("scale") not in (0, 1):
        raise Unsupported("a scale, which onnxruntime's own kernels ignore")
    return joined_heads(y) if flat else y


def rotated(
    x: Expression, places: Expression, cos: Expression, sin: Expression, interleaved: bool
) -> Expression:
    """Rotate the pairs of elements of heads by the angles at places, [batch, sequence]; elements
    beyond the tables stay."""
    half, size = cos.shape[1], x.shape[3]
    if half == DYNAMIC_INDEX or 2 * half > size:
        raise Unsupported(f"tables of {half} angles for heads of size {size}")
    cos, sin = (table.op("take", places, axis=0, mode="raise").expand(1) for table in (cos, sin))
    turned = x.slice(3, 0, 2 * half)
    if interleaved:
        pairs = turned.reshape(0, x.shape[1], -1, half, 2)
        first, second = pairs.at(4, 0), pairs.at(4, 1)
        both = (first * cos - second * sin).op("stack", first * sin + second * cos, axis=-1)
        y = both.reshape(0, x.shape[1], -1, 2 * half)
    else:
        first, second = turned.slice(3, 0, half), turned.slice(3, half, 2 * half)
        y = (first * cos - second * sin).concat(first * sin + second * cos, axis=3)
    return y if 2 * half == size else y.concat(x.slice(3, 2 * half, size), axis=3)


ATTENTION: Converters = {
    "Attention": attention,
    "MultiHeadAttention": multi_head_attention,
    "RotaryEmbedding": rotary_embedding,
}


# Converter of GroupQueryAttention: attention with a cache of keys and values, whose heads several
# heads of the query share.


def group_query_attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert GroupQueryAttention without quantized caches."""
    check_supported(node)
    query, key, value = grouped_query_key_value(node)
    lengths, total = (value.cast(i64) for value in inputs(node, 5, 6))
    lengths, total = lengths.reshape(-1) + 1, total.reshape()
    sequence = size_along(query, 2)
    # The number of elements in the cache: in the first call none, with padding at the end.
    past = total.equals(sequence).where(lengths * 0, lengths - sequence)
    places = past.expand(1) + indices(sequence, node)
    if node.bool("do_rotary"):
        angles = places
        if node.has(9):
            angles = Expression(node, node.input(9)).cast(i64)
        cos, sin = inputs(node, 7, 8)
        interleaved = node.bool("rotary_interleaved")
        query, key = (rotated(x, angles, cos, sin, interleaved) for x in (query, key))
    caches = [cached(node, 3 + i, x, past, total) for i, x in enumerate((key, value))]
    length = number(node, total)
    key, value = (
        cache if cache.shape[2] == length else cache.take(indices(length, node), 2)
        for cache in caches
    )
    scores = grouped(query, key.transpose(0, 1, 3, 2), key.shape[1])
    scale = node.float("scale")
    scores = scores * (scale or query.shape[-1] ** -0.5)
    probabilities = softmax(node, scores, places, length)
    y = grouped(probabilities, value, value.shape[1])
    return [joined_heads(y).value, *(cache.value for cache in caches)]


def check_supported(node: Node) -> None:
    """Raise Unsupported for quantized caches, and for what CPU kernels do not have."""
    for index, name in ((12, "k_scale"), (13, "v_scale"), (14, "q_norm_weight")):
        if node.has(index):
            raise Unsupported(f"its input {name}")
    if node.has(16):
        raise Unsupported("its input query_seqlens")
    if node.int("sliding_window_cache") or node.int("qk_output"):
        raise Unsupported("sliding_window_cache or qk_output")


def grouped_query_key_value(node: Node) -> tuple[Expression, Expression, Expression]:
    """Return the heads of query, key and value, which may be packed in the query."""
    heads, groups = node.int("num_heads"), node.int("kv_num_heads")
    query = Expression(node, node.input(0))
    if groups < 1 or heads % groups:
        raise Unsupported(f"num_heads = {heads}, kv_num_heads = {groups}")
    if node.has(1):
        key, value = inputs(node, 1, 2)
    else:
        size = query.shape[2] // (heads + 2 * groups)
        ends = [heads * size, (heads + groups) * size, (heads + 2 * groups) * size]
        query, key, value = (
            query.slice(2, start, end) for start, end in zip([0, *ends], ends, strict=False)
        )
    return split_heads(query, heads), split_heads(key, groups), split_heads(value, groups)


def cached(
    node: Node, index: int, new: Expression, past: Expression, total: Expression
) -> Expression:
    """Return the cache with the new elements after the `past` ones of each batch element, and
    zeros after them; it is as long as the old one, or as all elements in `total`."""
    capacity, sequence, start = total, size_along(new, 2), past.expand(1)
    rows, length = new, Expression(node, node.full(0, i64))
    if node.has(index):
        old = Expression(node, node.input(index))
        rows, length = old.concat(new, axis=2), size_along(old, 2)
        capacity = total.op("maximum", length)
    places = indices(number(node, capacity), node).expand(0)
    source = (places < start).where(places, places - start + length)
    source = source.op("minimum", length + sequence - 1)
    taken = rows.transpose(0, 2, 1, 3).op("gather_nd", source.expand(2), batch_dims=1)
    filled = (places < start + sequence).expand(2, 3)
    return filled.where(taken, 0.0).transpose(0, 2, 1, 3)


def number(node: Node, value: Expression) -> int | Expression:
    """Return a scalar that is constant as a number."""
    array = node.importer.array(value.value)
    return value if array is None else int(array.item())


def grouped(x: Expression, y: Expression, groups: int) -> Expression:
    """Return the matrix product of heads; y has fewer of them."""
    heads = x.shape[1]
    if heads == groups:
        return x @ y
    rows, columns = x.shape[2], x.shape[3]
    if DYNAMIC_INDEX not in (rows, columns):
        parts = x.reshape(0, groups, heads // groups, rows, columns)
        product = parts @ y.expand(2)
        return product.reshape(0, heads, rows, -1 if y.shape[3] == DYNAMIC_INDEX else y.shape[3])
    repeated = y.op("repeat", repeats=heads // groups, axis=1)
    return x @ repeated


def softmax(
    node: Node, scores: Expression, places: Expression, keys: int | Expression
) -> Expression:
    """Return the probabilities of the keys up to the place of each query."""
    if (cap := node.float("softcap")) > 0:
        scores = (scores / cap).op("tanh") * cap
    key = indices(keys, node)
    place = places.expand(1, 3)
    if node.int("causal", 1):
        visible = key <= place
        if (window := node.int("local_window_size", -1)) > 0:
            visible = visible & (key > place - window)
    else:
        visible = key < (Expression(node, node.input(5)).cast(i64).reshape(-1) + 1).expand(1, 2, 3)
    if node.has(10):
        scores = scores + node.input(10)
    element = scores.element
    scores = scores.cast(f32)
    scores = visible.where(scores, -3e38)
    smooth = node.int("smooth_softmax", -1) == 1
    if not smooth and not node.has(11):
        return scores.op("nn.softmax", axis=-1).cast(element)
    # One more key, whose value is 0: its score is 0, or that of the head.
    sink = scores.scalar(0)
    if node.has(11):
        sink = Expression(node, node.input(11)).cast(f32).expand(1, 2)
    high = scores.max(-1, keepdims=True).op("maximum", sink)
    powers = (scores - high).op("exp")
    total = powers.sum(-1, keepdims=True) + (sink - high).op("exp")
    return (powers / total).cast(element)


GROUP_QUERY: Converters = {"GroupQueryAttention": group_query_attention}
