"""Tensors read in another layout."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.relax.layout import Layout
from ....dialects.tir.builder import Index
from .kernel_builder import Elements, KernelBuilder, Tensor

__all__ = ["moved_index", "relayout"]


def relayout(tensor: Tensor, src: Layout, dst: Layout) -> Tensor:
    """Return a tensor of layout `src` in layout `dst`."""
    if src.text == dst.text:
        return tensor
    return Elements(
        dst.shape(src.extents(tensor.shape)),
        tensor.element,
        lambda b, index: b.read(tensor, moved_index(b, index, dst, src)),
    )


def moved_index(b: KernelBuilder, index: Sequence[Index], src: Layout, dst: Layout) -> list[Index]:
    """Return the index in layout `dst` of the element at `index` in layout `src`.

    With NCHW -> NCHW4c, channel C becomes C / 4 and C % 4.
    """
    given = dict(zip(src.axes, index, strict=True))
    result: list[Index] = []
    for c in dst.axes:
        axis, inner = c.upper(), c.lower()
        factor, other = dst.factors.get(inner, 1), src.factors.get(inner, 1)
        if factor == other:
            result.append(given[c])
            continue
        at = b.add(b.mul(given[axis], other), given.get(inner, 0))
        result.append(b.mod(at, factor) if c.islower() else b.floordiv(at, factor))
    return result
