"""Converter of TfIdfVectorizer: the counts of n-grams of integers."""

from __future__ import annotations

from functools import reduce

import numpy as np
from xdsl.dialects.builtin import f32

from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant, total

__all__ = ["NGRAMS"]


def tf_idf(node: Node) -> Expression:
    """Convert TfIdfVectorizer: compare all windows of the input with all n-grams of the pool."""
    x = Expression(node, node.input(0))
    pool = node.ints("pool_int64s")
    if pool is None:
        raise Unsupported("n-grams of strings")
    starts, places = node.ints("ngram_counts") or [], node.ints("ngram_indexes") or []
    size = max(places, default=-1) + 1
    minimum, maximum = node.int("min_gram_length"), node.int("max_gram_length")
    skips = node.int("max_skip_count")
    terms: list[Expression] = []
    first = 0
    for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), 1):
        grams = np.array(pool[start:end], np.int64).reshape(-1, n)
        targets = places[first : first + len(grams)]
        first += len(grams)
        if not minimum <= n <= maximum or not len(grams):
            continue
        counts = counted(x, grams, skips if n > 1 else 0)
        if counts is not None:
            selection = np.zeros((len(grams), size))
            selection[np.arange(len(grams)), targets] = 1
            terms.append(counts @ constant(node, selection, f32))
    shape = (*x.shape[:-1], size)
    y = total(terms) if terms else Expression(node, node.full(0, f32, shape))
    mode = node.choice("mode", {"TF": "TF", "IDF": "IDF", "TFIDF": "TFIDF"}, "TF")
    if mode != "TF":
        weights = np.ones(size)
        if (given := node.floats("weights")) is not None:
            weights[np.array(places)] = given
        if mode == "IDF":
            y = (y > 0.0).cast(f32)
        y = y * constant(node, weights, f32)
    return y


def counted(x: Expression, grams: np.ndarray[tuple[int, ...], np.dtype[np.int64]], skips: int):
    """Return how often each of these n-grams occurs in the rows of x, [..., n-grams], with up to
    `skips` elements left out between two; None if the rows are too short for any."""
    node, length = x.node, x.shape[-1]
    node.static_shape(x.value)
    n = grams.shape[1]
    found: list[Expression] = []
    for step in range(1, skips + 2):
        if (count := length - (n - 1) * step) < 1:
            break
        windows = (x.slice(-1, k * step, k * step + count).expand(-1) for k in range(n))
        hits = (w.equals(constant(node, grams[:, k], x.element)) for k, w in enumerate(windows))
        found.append(reduce(Expression.__and__, hits).cast(f32).sum(-2))
    return total(found) if found else None


NGRAMS: Converters = {"TfIdfVectorizer": tf_idf}
