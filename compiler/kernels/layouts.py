"""Tensors read in another layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.relax.layout import Layout
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, Shape, UnknownExtent
from .builder import Elements, KernelBuilder, Tensor

__all__ = ["known", "known_shape", "moved_index", "relayout", "shape_in"]


def relayout(tensor: Tensor, src: Layout, dst: Layout) -> Tensor:
    """Return a tensor of layout `src` in layout `dst`."""
    if src.text == dst.text:
        return tensor
    return Elements(
        shape_in(dst, sizes_in(src, tensor.shape)),
        tensor.element,
        lambda b, index: b.read(tensor, moved_index(b, index, dst, src)),
    )


def known(extent: Index) -> int:
    """Return an extent that has to be known."""
    if not isinstance(extent, int):
        raise UnknownExtent("a dimension that has to be known")
    return extent


def known_shape(shape: Shape) -> tuple[int, ...]:
    """Return a shape that has to be known."""
    return tuple(map(known, shape))


def sizes_in(layout: Layout, shape: Shape) -> dict[str, Extent]:
    """Return axis -> size for a tensor of that shape in a layout. An axis that is split has to be
    known."""
    return {
        axis: known(extent) * factor if (factor := _block(layout, axis)) > 1 else extent
        for axis, extent in zip(layout.axes, shape, strict=True)
        if axis.isupper()
    }


def shape_in(layout: Layout, sizes: Mapping[str, Extent]) -> Shape:
    """Return the shape in a layout of a tensor whose axes have these sizes. An axis that is split
    has to be known, and to split into whole blocks."""
    shape: list[Extent] = []
    for axis in layout.axes:
        if axis.islower():
            shape.append(layout.factors[axis])
        elif (factor := _block(layout, axis)) > 1:
            shape.append(known(sizes[axis]) // factor)
        else:
            shape.append(sizes[axis])
    return (*shape,)


def _block(layout: Layout, axis: str) -> int:
    return layout.factors.get(axis.lower(), 1)


def moved_index(b: KernelBuilder, index: Sequence[Index], src: Layout, dst: Layout) -> list[Index]:
    """Return the index in layout `dst` of the element at `index` in layout `src`.

    With NCHW -> NCHW4c, channel C becomes C / 4 and C % 4.
    """
    given = dict(zip(src.axes, index, strict=True))
    result: list[Index] = []
    for c in dst.axes:
        axis, inner = c.upper(), c.lower()
        factor, other = dst.factors.get(inner, 1), src.factors.get(inner, 1)
        if factor == other and c in given:  # not so from NCHW to NCHW1c
            result.append(given[c])
            continue
        # Via the index of the whole axis: from NCHW8c to NCHW16c, channel 3 * 8 + 5 = 29 is 1 and
        # 13.
        at = given[axis] * other + given.get(inner, 0)
        result.append(at % factor if c.islower() else at // factor)
    return result
