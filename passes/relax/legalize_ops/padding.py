"""The legalization of padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import nn
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Legalization, Tensor
from .manipulation import moved
from .scalars import select, signless
from .tensors import Concatenated

__all__ = ["PADDING"]


def pad(op: nn.PadOp, _: KernelBuilder, data: Tensor) -> Tensor:
    pairs = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    mode, value, element = op.pad_mode, op.pad_value, data.element
    if is_integer(element):
        value = wrapped(int(value), element)

    def constant(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [b.sub(i, before) for i, (before, _) in zip(index, pairs, strict=True)]
        conditions: list[SSAValue] = []
        for i, size, (before, after) in zip(place, data.shape, pairs, strict=True):
            if before > 0:
                conditions.append(b.less(-1, i))
            if after > 0:
                conditions.append(b.less(i, size))
        return b.choose(
            conditions, lambda: b.read(data, place), lambda: b.number(value, signless(element))
        )

    def source(b: KernelBuilder, axis: int, i: Index) -> Index:
        """Return the position in the data of position `i` in the result, along `axis`."""
        before, after = pairs[axis]
        cut = max(0, -before)
        kept = data.shape[axis] - cut - max(0, -after)
        at = b.sub(i, max(0, before))
        if before > 0 or after > 0:
            at = inside(b, at, kept, max(0, before), mode)
        return b.add(at, cut)

    def replicated(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.read(data, [source(b, axis, i) for axis, i in enumerate(index)])

    result = moved(op, constant if mode == "constant" else replicated)
    before, after = (max(0, width) for width in pairs[-1]) if pairs else (0, 0)
    if mode == "constant" or not before + after < result.shape[-1]:
        return result

    def columns(start: int, size: int, shift: int | None = None) -> Tensor:
        """Return `size` columns of the result from `start` on: columns of the data, `shift` to the
        left, or if that is None, columns in the padding."""

        def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            *outer, i = index
            i = b.add(i, start)
            place = [source(b, axis, at) for axis, at in enumerate(outer)]
            last = source(b, len(outer), i) if shift is None else b.sub(i, shift)
            return b.read(data, [*place, last])

        return Elements((*result.shape[:-1], size), data.element, read)

    inner = result.shape[-1] - before - after
    middle = columns(before, inner, pairs[-1][0])
    parts = [columns(0, before), middle, columns(before + inner, after)]
    return Concatenated(result.shape, result.element, len(pairs) - 1, parts)


def inside(b: KernelBuilder, place: Index, size: int, before: int, mode: str) -> Index:
    """Return the position in a dimension of `size` of the element at `place`, which may be in the
    padding; `before` elements of padding come before the dimension."""
    if mode == "edge" or size == 1:
        return b.max(0, b.min(place, size - 1))
    period = size if mode == "circular" else 2 * (size - 1)
    at = b.mod(b.add(place, -(-before // period) * period), period)
    if mode == "circular":
        return at
    return select(b, b.less(at, size), at, b.sub(period, at))


def wrapped(value: int, element: IntegerType) -> int:
    """Return `value` wrapped around to the range of `element`."""
    if element == i1:
        return int(value != 0)
    half = 1 << element.bitwidth - 1
    return (value + half) % (2 * half) - half


PADDING: dict[type[Operation], Legalization] = {
    nn.PadOp: pad,
}
