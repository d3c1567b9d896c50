"""The legalization of padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.reduction import nn
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent
from ..builder import Elements, KernelBuilder, Legalization, Tensor
from ..tensors import Concatenated
from .manipulation import moved

__all__ = ["PADDING", "inside"]


def pad(op: nn.PadOp, b: KernelBuilder, data: Tensor) -> Tensor:
    pairs = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    require_kept(op, b, data, pairs)
    if op.pad_mode != "constant":
        return replicated(data, pairs, op.pad_mode)
    value, element = op.pad_value, data.element
    if is_integer(element):
        value = wrapped(int(value), element)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [i - before for i, (before, _) in zip(index, pairs, strict=True)]
        conditions: list[SSAValue] = []
        for i, size, (before, after) in zip(place, data.shape, pairs, strict=True):
            if before > 0:
                conditions.append(b.less(-1, i))
            if after > 0:
                conditions.append(b.less(i, size))
        return b.choose(conditions, lambda: b.read(data, place), lambda: b.number(value, element))

    return moved(op, b, read)


def require_kept(
    op: nn.PadOp, b: KernelBuilder, data: Tensor, pairs: Sequence[tuple[int, int]]
) -> None:
    """Assert that the padding removes no more elements than dimensions have, and copies none of an
    empty dimension."""
    for axis, (size, (before, after)) in enumerate(zip(data.shape, pairs, strict=True)):
        copies = op.pad_mode != "constant" and max(before, after) > 0
        minimum = max(0, -before) + max(0, -after) + copies
        if not isinstance(size, int) and minimum:
            message = f"{op.name}: dimension {axis} has fewer than {minimum} elements"
            b.require(b.less(minimum - 1, size), message, op)


def replicated(data: Tensor, pairs: Sequence[tuple[int, int]], mode: str) -> Tensor:
    """Return the data with elements of its own around it.

    The columns of the padding are parts of their own, so that the others are copied as rows.
    """
    shape = tuple(sum(pair, size) for size, pair in zip(data.shape, pairs, strict=True))

    def source(b: KernelBuilder, axis: int, i: Index) -> Index:
        """Return the position in the data of position `i` in the result, along `axis`."""
        before, after = pairs[axis]
        cut = max(0, -before)
        kept = data.shape[axis] - cut - max(0, -after)
        at = i - max(0, before)
        if before > 0 or after > 0:
            at = inside(b, at, kept, mode, max(0, before))
        return at + cut

    def columns(start: Extent, end: Extent, shift: int | None = None) -> Tensor:
        """Return columns `start` to `end` of the result: columns of the data, `shift` to the left,
        or if that is None, columns of the padding."""

        def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            *outer, i = index
            place = [source(b, axis, at) for axis, at in enumerate(outer)]
            last = source(b, len(outer), i + start) if shift is None else i + (start - shift)
            return b.read(data, [*place, last])

        return Elements((*shape[:-1], end - start), data.element, read)

    if not shape:
        return data
    start, end = max(0, pairs[-1][0]), shape[-1] - max(0, pairs[-1][1])
    parts = [columns(0, start), columns(start, end, pairs[-1][0]), columns(end, shape[-1])]
    return Concatenated(shape, data.element, len(shape) - 1, parts)


def inside(
    b: KernelBuilder, place: Index, size: Index, mode: str, before: int | None = None
) -> Index:
    """Return the position in a dimension of `size` of the element at `place`, which may be in the
    padding; `before` elements of padding come before the dimension, None if that is not known."""
    if mode == "edge" or size == 1:
        return b.max(0, b.min(place, size - 1))
    # Of one element, the period of reflections would be 0.
    period = b.max(size if mode == "circular" else 2 * (size - 1), 1)
    # Of 0 1 2 3, reflections have the period 6: 0 1 2 3 2 1. Position -2 is position 4, element 6 -
    # 4 = 2. Padding may be longer than the data: positions go through several periods. A multiple
    # of the period first makes the position positive, as `b.mod` needs; -(-before // period) is
    # enough.
    if isinstance(period, int) and before is not None:
        at = (place + -(-before // period) * period) % period
    else:
        rest = b.index_of(b.pure(arith.RemSIOp, b.index(place), b.index(period)))
        at = b.select(b.less(rest, 0), rest + period, rest)
    if mode == "circular":
        return at
    return b.select(b.less(at, size), at, period - at)


def wrapped(value: int, element: IntegerType) -> int:
    """Return `value` wrapped around to the range of `element`."""
    if element == i1:
        return int(value != 0)
    half = 1 << element.bitwidth - 1
    return (value + half) % (2 * half) - half


PADDING: dict[type[Operation], Legalization] = {
    nn.PadOp: pad,
}
