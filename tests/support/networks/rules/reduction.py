"""Reductions, scans and sorting."""

from __future__ import annotations

from xdsl.dialects.builtin import i1

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.data import sorting
from passline.dialects.relax.reduction import reduction, scan

from ..builder import NetworkBuilder
from ..choices import FLOATS, INTEGERS

__all__ = ["reduction_rule", "scan_rule", "sort_rule"]

SUMS = (reduction.SumOp, reduction.MeanOp, reduction.MaxOp, reduction.MinOp, reduction.ProdOp)
ARGS = (reduction.ArgmaxOp, reduction.ArgminOp)


def reduction_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value()
    keep = b.random.coin()
    axes = None if b.random.random() < 0.2 else b.axes(known)
    if known.element == i1:
        kind = b.random.choice([reduction.AnyOp, reduction.AllOp])
        return kind(x, axis=axes, keepdims=keep)
    if known.exact and b.random.random() < 0.2:
        kind = b.random.choice(ARGS)
        last = b.random.coin()
        return kind(x, axis=b.axis(known), keepdims=keep, select_last_index=last)
    return b.random.choice(SUMS)(x, axis=axes, keepdims=keep)


def scan_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(elements=(*FLOATS, *INTEGERS))
    kind = b.random.choice([scan.CumsumOp, scan.CumprodOp])
    return kind(x, axis=b.axis(known), exclusive=b.random.coin(), reverse=b.random.coin())


def sort_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: k.array.size < 200, (*FLOATS, *INTEGERS), exact=True)
    axis, flag = b.axis(known), b.random.coin()
    match b.random.randrange(3):
        case 0:
            return sorting.SortOp(x, axis=axis, descending=flag)
        case 1:
            return sorting.ArgsortOp(x, axis=axis, descending=flag)
        case _:
            k = b.random.randint(1, max(1, known.shape[axis]))
            return sorting.TopkOp(x, k=k, axis=axis, largest=flag)
