"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...tir.building import Index
from .. import normalization
from .binary import power_of
from .numbers import convert, step_type, widen
from .tensors import Definition, Elements, Tensor, Writer

__all__ = ["NORMALIZATION"]


def lrn(op: normalization.LRNOp, w: Writer, data: Tensor) -> Tensor:
    """The sums of squares are in a buffer: each is added to for all places behind the axis, which
    are next to each other."""
    data, shape, wide = w.buffered(data), data.shape, step_type(data.element)
    axis, size = op.axis.value.data % len(shape), op.size.value.data
    before = (size - 1) // 2
    inner = shape[axis + 1 :]
    sums = w.alloc(shape, wide)
    with w.loops(shape[: axis + 1]) as (*outer, center):
        with w.elements(inner, w.lanes) as index:
            w.store(w.number(0, wide), sums, [*outer, center, *index])
        low = w.max(w.sub(center, before), 0)
        high = w.min(w.add(center, size - before), shape[axis])
        with (
            w.loop(w.sub(high, low), min=low) as near,
            w.elements(inner, w.lanes) as index,
        ):
            x = widen(w, w.read(data, [*outer, near, *index]))
            at = [*outer, center, *index]
            w.store(w.pure(arith.AddfOp, w.load(sums, at), w.pure(arith.MulfOp, x, x)), sums, at)

    def compute(w: Writer, index: Sequence[Index]) -> SSAValue:
        factor = w.number(op.alpha.value.data / size, wide)
        scaled = w.pure(arith.MulfOp, w.load(sums, index), factor)
        base = w.pure(arith.AddfOp, scaled, w.number(op.bias.value.data, wide))
        root = power_of(w, base, op.beta.value.data)
        return convert(w, w.pure(arith.DivfOp, widen(w, w.read(data, index)), root), data.element)

    return Elements(shape, data.element, compute)


NORMALIZATION: dict[type[Operation], Definition] = {
    normalization.LRNOp: lrn,
}
