"""Tensors in other layouts."""

from __future__ import annotations

from collections.abc import Sequence

from ...tir.building import Index
from ..layout import Layout
from .tensors import Elements, Tensor, Writer

__all__ = ["relayout"]


def relayout(tensor: Tensor, src: Layout, dst: Layout) -> Tensor:
    """A tensor in layout `src` seen in layout `dst`."""
    if src.text == dst.text:
        return tensor
    shape = dst.shape(src.extents(tensor.shape))

    def place(w: Writer, index: Sequence[Index]) -> list[Index]:
        """Where the element at an index is in `src`."""
        given = dict(zip(dst.axes, index, strict=True))
        result: list[Index] = []
        for c in src.axes:
            axis, inner = c.upper(), c.lower()
            factor, other = src.factors.get(inner, 1), dst.factors.get(inner, 1)
            if factor == other:
                result.append(given[c])
                continue
            at = w.add(w.mul(given[axis], other), given.get(inner, 0))
            result.append(w.mod(at, factor) if c.islower() else w.floordiv(at, factor))
        return result

    return Elements(shape, tensor.element, lambda w, index: w.read(tensor, place(w, index)))
