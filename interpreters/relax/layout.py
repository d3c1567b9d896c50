"""Arrays in another layout."""

from __future__ import annotations

from ...dialects.relax.layout import Layout
from ..arrays import Array

__all__ = ["relayout"]


def relayout(array: Array, src: Layout, dst: Layout) -> Array:
    """The array in layout `dst`: a view, unless an axis is split or joined."""
    if src.text == dst.text:
        return array
    extents = src.extents(array.shape)
    # Join the parts of each axis, split them anew, permute
    parts = sorted(src.axes, key=_outer_part_first)
    joined = array.transpose([src.axes.index(c) for c in parts])
    joined = joined.reshape([extents[c] for c in src.primal])
    sizes = dict(zip(dst.axes, dst.shape(extents), strict=True))
    parts = sorted(dst.axes, key=_outer_part_first)
    return joined.reshape([sizes[c] for c in parts]).transpose([parts.index(c) for c in dst.axes])


def _outer_part_first(axis: str) -> tuple[str, bool]:
    return axis.upper(), axis.islower()
