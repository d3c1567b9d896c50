"""Converter of GroupQueryAttention: attention with a cache of keys and values, whose heads several
heads of the query share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, i64
from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.expression import Expression, indices, inputs, size_along
from .attention import joined_heads, rotated, split_heads

__all__ = ["GROUP_QUERY"]


def group_query_attention(node: Node) -> Sequence[SSAValue | None]:
    """Convert GroupQueryAttention without quantized caches."""
    check_supported(node)
    query, key, value = query_key_value(node)
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


def query_key_value(node: Node) -> tuple[Expression, Expression, Expression]:
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
