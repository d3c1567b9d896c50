"""Matrix products and einsum."""

from __future__ import annotations

from passline.dialects.relax import linear_algebra
from passline.dialects.relax.base import TensorOp

from ..builder import NetworkBuilder
from ..choices import FLOATS, INTEGERS, SIZES

__all__ = ["einsum_rule", "product_rule"]


def product_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0, (*FLOATS, *INTEGERS))
    n = b.random.choice(SIZES)
    *batch, depth = known.shape
    match b.random.randrange(4):
        case 0:
            return linear_algebra.DenseOp(x, b.operand((n, depth), known.element))
        case 1 if len(known.shape) == 3:
            transpose_a, transpose_b = b.random.coin(), b.random.coin()
            first, rows, columns = known.shape
            inner = rows if transpose_a else columns
            shape = (first, n, inner) if transpose_b else (first, inner, n)
            rhs = b.operand(shape, known.element)
            return linear_algebra.BatchMatmulOp(
                x, rhs, transpose_a=transpose_a, transpose_b=transpose_b
            )
        case 2 if len(known.shape) > 1:
            lead = b.random.broadcastable(batch[:-1])
            return linear_algebra.MatmulOp(x, b.operand((*lead, depth, n), known.element))
        case _:
            return linear_algebra.MatmulOp(x, b.operand((depth, n), known.element))


def einsum_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) in (2, 3), FLOATS)
    n = b.random.choice([1, 2, 5])
    if len(known.shape) == 2:
        y = b.operand((known.shape[1], n), known.element)
        return linear_algebra.EinsumOp(x, y, subscripts=b.random.choice(["ij,jk->ki", "ij,jk->i"]))
    y = b.operand((known.shape[0], known.shape[1], n), known.element)
    subscripts = b.random.choice(["bij,bik->bjk", "bij,bik->kj", "bij,bik->bijk"])
    return linear_algebra.EinsumOp(x, y, subscripts=subscripts)
