"""Matrix products, einsum and attention."""

from __future__ import annotations

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.contraction import linear_algebra
from passline.dialects.relax.contraction.attention import CAUSAL_MASKS, AttentionOp

from ..builder import NetworkBuilder
from ..choices import FLOATS, INTEGERS, SIZES
from ..values import NotApplicable

__all__ = ["attention_rule", "einsum_rule", "product_rule"]


def product_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0, (*FLOATS, *INTEGERS))
    n = b.random.choice(SIZES)
    *batch, depth = known.shape
    match b.random.randrange(4):
        case 0:
            return linear_algebra.DenseOp(x, b.operand((n, depth), known.element))
        case 1 if len(known.shape) > 1:
            transpose_a, transpose_b = b.random.coin(), b.random.coin()
            *lead, rows, columns = known.shape
            inner = rows if transpose_a else columns
            shape = (*lead, n, inner) if transpose_b else (*lead, inner, n)
            rhs = b.operand(shape, known.element)
            return linear_algebra.BatchMatmulOp(
                x, rhs, transpose_a=transpose_a, transpose_b=transpose_b
            )
        case 2 if len(known.shape) > 1:
            lead = b.random.broadcastable(batch[:-1])
            return linear_algebra.MatmulOp(x, b.operand((*lead, depth, n), known.element))
        case _:
            return linear_algebra.MatmulOp(x, b.operand((depth, n), known.element))


def attention_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) == 4, FLOATS)
    batch, rows, heads, dim = known.shape
    if 0 in known.shape:
        raise NotApplicable
    keys, kv_heads = b.random.choice([1, 2, 5]), b.random.choice(b.random.factors(heads))
    key, value = (b.operand((batch, keys, kv_heads, n), known.element) for n in (dim, 3))
    bias = [b.operand((rows, keys), known.element)] if b.random.coin() else []
    # A query that sees no key is NaN.
    causal = b.random.choice(CAUSAL_MASKS if keys >= rows else CAUSAL_MASKS[:2])
    return AttentionOp(x, key, value, *bias, causal_mask=causal)


def einsum_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) in (2, 3), FLOATS)
    n = b.random.choice([1, 2, 5])
    if len(known.shape) == 2:
        y = b.operand((known.shape[1], n), known.element)
        return linear_algebra.EinsumOp(x, y, subscripts=b.random.choice(["ij,jk->ki", "ij,jk->i"]))
    y = b.operand((known.shape[0], known.shape[1], n), known.element)
    subscripts = b.random.choice(["bij,bik->bjk", "bij,bik->kj", "bij,bik->bijk"])
    return linear_algebra.EinsumOp(x, y, subscripts=subscripts)
