"""Conversion of arrays between layouts."""

from __future__ import annotations

from ....dialects.relax.layout import Layout
from ..arrays import Array

__all__ = ["relayout"]


def relayout(array: Array, src: Layout, dst: Layout) -> Array:
    """Return the array transformed from layout `src` to `dst`; a view unless axes split or join."""
    if src.text == dst.text:
        return array
    extents = src.extents(array.shape)
    # NCHW4c to NHWC8c: transpose to C c H N W, join to C H N W, split to C c H N W, transpose.
    parts = sorted(src.axes, key=_outer_part_first)
    joined = array.transpose([src.axes.index(c) for c in parts])
    joined = joined.reshape([extents[c] for c in src.primal])
    sizes = dict(zip(dst.axes, dst.shape(extents), strict=True))
    parts = sorted(dst.axes, key=_outer_part_first)
    return joined.reshape([sizes[c] for c in parts]).transpose([parts.index(c) for c in dst.axes])


def _outer_part_first(axis: str) -> tuple[str, bool]:
    return axis.upper(), axis.islower()
