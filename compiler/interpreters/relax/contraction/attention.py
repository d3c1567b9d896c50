"""Semantics of attention: f16 is computed in f32, and rounded once."""

from __future__ import annotations

from math import sqrt

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from .....dialects.relax.contraction.attention import AttentionOp
from ...arrays import Array, widen
from ..table import Semantics
from .linear_algebra import matrix_product

__all__ = ["ATTENTION"]


def attention(
    op: AttentionOp, query: Array, key: Array, value: Array, bias: Array | None = None
) -> Array:
    """Return the attention of each head; a query without keys gives zeros."""
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        raise InterpretationError(f"{op.name}: the batches of the operands differ")
    group = query.shape[2] // max(1, key.shape[2])
    scale = 1 / sqrt(query.shape[3] or 1) if op.scale is None else op.scale
    # batch, heads, length, dim
    queries = widen(query).swapaxes(1, 2)
    keys, values = (widen(x).swapaxes(1, 2).repeat(group, axis=1) for x in (key, value))
    queries = queries * queries.dtype.type(scale)
    scores = matrix_product(queries, keys.swapaxes(2, 3))
    if bias is not None and bias.dtype == np.bool_:
        scores = np.where(bias, scores, scores.dtype.type(op.masked_value))
    elif bias is not None:
        scores = scores + widen(bias)
    if op.causal_mask != "none":
        rows, columns = scores.shape[2:]
        past = columns - rows if op.causal_mask == "BottomRight" else 0
        scores = np.where(np.tri(rows, columns, past, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    sums = powers.sum(axis=-1, keepdims=True)
    result = matrix_product((powers / sums).astype(values.dtype), values)
    if op.nan_to_zero:
        result = np.where(np.isnan(sums), result.dtype.type(0), result)
    return result.swapaxes(1, 2)


ATTENTION: Semantics = {AttentionOp: attention}
