"""Gradients of reductions and scans."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product

import numpy as np

from ....dialects.relax.expression import by_operation
from ....dialects.relax.reduction.nn import LogSoftmaxOp, SoftmaxOp
from ....dialects.relax.reduction.normalization import LRNOp
from ....dialects.relax.reduction.reduction import MaxOp, MeanOp, MinOp, ProdOp, ReductionOp, SumOp
from ....dialects.relax.reduction.scan import CumprodOp, CumsumOp, CumulativeOp
from ....dialects.relax.shapes import normalize_axes, normalize_axis
from .tensors import Tensors, Traced


def axes_of(op: ReductionOp, rank: int) -> list[int]:
    """Return the axes that `op` reduces."""
    return [*range(rank)] if op.axis is None else [*normalize_axes(op.axis, rank)]


def kept(op: ReductionOp, x: Traced, reduced: Traced) -> Traced:
    """Return a tensor of the shape of the result, with the reduced dimensions of size 1."""
    axes = axes_of(op, x.rank)
    return reduced.reshape(*[1 if i in axes else size for i, size in enumerate(x.shape)])


def sum(op: SumOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x = b.of(op.input)
    return (kept(op, x, g).broadcast(*x.shape),)


def mean(op: MeanOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x = b.of(op.input)
    count = product(x.shape[axis] for axis in axes_of(op, x.rank))
    return (kept(op, x, g / max(count, 1)).broadcast(*x.shape),)


def extremum(op: MaxOp | MinOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Share the adjoint evenly among the elements that are equal to the extremum."""
    x = b.of(op.input)
    mask = x.equals(kept(op, x, b.of(op.result))).cast(x.element)
    # One of the subgradients, which does not depend on the order of the elements.
    count = mask.sum(*axes_of(op, x.rank), keepdims=True)
    return (mask * (kept(op, x, g) / count),)


def prod(op: ProdOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Multiply the products of the elements before and after each: no division by an element that
    may be zero."""
    x = b.of(op.input)
    axes = axes_of(op, x.rank)
    order = [*(i for i in range(x.rank) if i not in axes), *axes]
    moved = x.transpose(*order)
    outer = moved.shape[: x.rank - len(axes)]
    rows = moved.reshape(*outer, product(x.shape[axis] for axis in axes))
    # For x, y, z these are 1, x, xy and yz, z, 1: the products are yz, xz, xy.
    before = rows.op("cumprod", axis=-1, exclusive=True)
    after = rows.op("cumprod", axis=-1, exclusive=True, reverse=True)
    others = (before * after).reshape(*moved.shape)
    return (kept(op, x, g) * others.transpose(*map(order.index, range(len(order)))),)


def cumsum(op: CumsumOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Sum the adjoint in the other direction."""
    x = b.of(op.input)
    axis = 0 if op.axis is None else op.axis
    # The matrix of a cumulative sum is triangular; the transposed one sums from the other side.
    total = g.op("cumsum", axis=axis, exclusive=op.exclusive, reverse=not op.reverse)
    return (total.reshape(*x.shape),)


def cumprod(op: CumprodOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute all partial derivatives `d result[k] / d x[i]`, a matrix along the axis, without a
    division: the cumulative product with element i replaced by 1, where i takes part."""
    x, axis = _along_last(op, b)
    size = x.shape[-1]
    g = g.reshape(*x.shape) if op.axis is None else _to_last(g, axis)
    # O(n^2) memory along the axis: dividing by x[i] would be O(n), but fails for zeros.
    identity = np.eye(size, dtype=bool)
    reached = np.tri(size, k=-1 if op.exclusive else 0).T  # result k depends on x[i], i <= k
    if op.reverse:
        reached = reached.T
    rows = x.reshape(*x.shape[:-1], 1, size)
    ones = b.constant(identity.astype(np.float64), x.element)
    replaced = (ones > 0).where(1, rows)
    products = replaced.op("cumprod", axis=-1, exclusive=op.exclusive, reverse=op.reverse)
    partial = products * b.constant(reached, x.element)
    total = (partial * g.reshape(*g.shape[:-1], 1, size)).sum(g.rank)
    if op.axis is None:
        return (total.reshape(*b.of(op.input).shape),)
    order = range(total.rank - 1)
    return (total.transpose(*order[:axis], total.rank - 1, *order[axis:]),)


def _along_last(op: CumulativeOp, b: Tensors) -> tuple[Traced, int]:
    """Return the input with the scanned axis last, and that axis."""
    x = b.of(op.input)
    if op.axis is None:
        return x.reshape(product(x.shape)), 0
    axis = normalize_axis(op.axis, x.rank)
    return _to_last(x, axis), axis


def _to_last(x: Traced, axis: int) -> Traced:
    return x.transpose(*(i for i in range(x.rank) if i != axis), axis)


# Gradients of operations of neural networks: softmax and local response normalization.
#
# The other normalizations have the gradients of their decompositions.


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
        cumprod: "cumprod",
        cumsum: "cumsum",
        extremum: "max min",
        mean: "mean",
        prod: "prod",
        sum: "sum",
        lrn: "nn.lrn",
        log_softmax: "nn.log_softmax",
        softmax: "nn.softmax",
    }
)
