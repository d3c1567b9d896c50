"""Gradients of operations of neural networks: softmax and local response normalization.

The other normalizations have the gradients of their decompositions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects.relax.expression import by_operation
from ....dialects.relax.reduction.nn import LogSoftmaxOp, SoftmaxOp
from ....dialects.relax.reduction.normalization import LRNOp
from ....dialects.relax.shapes import normalize_axis
from .tensors import Tensors, Traced

__all__ = ["GRADIENTS"]


def softmax(op: SoftmaxOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    # The Jacobian is diag(y) - y y^T, which is never built: its product with g is y * (g - sum(g *
    # y)).
    y = b.of(op.result)
    return (y * (g - (g * y).sum(op.axis, keepdims=True)),)


def log_softmax(op: LogSoftmaxOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    return (g - b.of(op.result).op("exp") * g.sum(op.axis, keepdims=True),)


def lrn(op: LRNOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Spread the adjoints of the sums of squares over their windows, whose matrix is a band."""
    x = b.of(op.data)
    axis = normalize_axis(op.axis, x.rank)
    channels, before = np.arange(x.shape[axis]), (op.size - 1) // 2
    distance = channels - channels[:, None]
    # The sum over a window is a product with this matrix, and its adjoint one with the transposed
    # matrix.
    band = ((-before <= distance) & (distance <= op.size - 1 - before)).astype(np.float64)
    alpha = op.alpha / op.size
    base = (x * x).contract(axis, band) * alpha + op.bias
    direct = g * base.op("power", -op.beta)
    d_sums = (direct * x / base * (-op.beta * alpha)).contract(axis, band.T)
    return (direct + 2 * x * d_sums,)


GRADIENTS = by_operation(
    {
        lrn: "nn.lrn",
        log_softmax: "nn.log_softmax",
        softmax: "nn.softmax",
    }
)
