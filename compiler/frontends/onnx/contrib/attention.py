"""Converters of attention and of rotary embeddings.

Heads are [batch, heads, sequence, size]; batch and sequence may be unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32, i64
from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.expression import Expression, indices, inputs, optional, size_along, total

__all__ = ["ATTENTION", "attended", "joined_heads", "masked_scores", "rotated", "split_heads"]

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
