"""Padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import nn
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from .kernel_builder import KernelBuilder, Legalization, Tensor
from .manipulation import moved
from .scalars import select, signless

__all__ = ["PADDING"]


def pad(op: nn.PadOp, _: KernelBuilder, data: Tensor) -> Tensor:
    widths = [*op.pad_width]
    pairs = [*zip(widths[::2], widths[1::2], strict=True)]
    mode, value, element = op.pad_mode, op.pad_value, data.element
    if is_integer(element):
        value = wrapped(int(value), element)

    def constant(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [w.sub(i, before) for i, (before, _) in zip(index, pairs, strict=True)]
        conditions: list[SSAValue] = []
        for i, size, (before, after) in zip(place, data.shape, pairs, strict=True):
            if before > 0:
                conditions.append(w.less(-1, i))
            if after > 0:
                conditions.append(w.less(i, size))
        return w.choose(
            conditions, lambda: w.read(data, place), lambda: w.number(value, signless(element))
        )

    def others(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place: list[Index] = []
        for i, size, (before, after) in zip(index, data.shape, pairs, strict=True):
            cut = max(0, -before)
            kept = size - cut - max(0, -after)
            at = w.sub(i, max(0, before))
            if before > 0 or after > 0:
                at = inside(w, at, kept, max(0, before), mode)
            place.append(w.add(at, cut))
        return w.read(data, place)

    return moved(op, constant if mode == "constant" else others)


def inside(w: KernelBuilder, place: Index, size: int, before: int, mode: str) -> Index:
    """Where in a dimension that has so many elements of padding before it is what is at a place
    that may be beyond it."""
    if mode == "edge" or size == 1:
        return w.max(0, w.min(place, size - 1))
    period = size if mode == "circular" else 2 * (size - 1)
    at = w.mod(w.add(place, -(-before // period) * period), period)
    if mode == "circular":
        return at
    return select(w, w.less(at, size), at, w.sub(period, at))


def wrapped(value: int, element: IntegerType) -> int:
    """An integer of any size as an element."""
    if element == i1:
        return int(value != 0)
    half = 1 << element.bitwidth - 1
    return (value + half) % (2 * half) - half


PADDING: dict[type[Operation], Legalization] = {
    nn.PadOp: pad,
}
