"""What operations compute that only move elements."""

from __future__ import annotations

from .. import manipulation as ops
from ..layout import Layout
from .arrays import Array
from .table import Semantics

__all__ = ["MANIPULATION", "relayout"]


def layout_transform(op: ops.LayoutTransformOp, array: Array) -> Array:
    """The array in another layout."""
    return relayout(array, Layout.parse(op.src_layout.data), Layout.parse(op.dst_layout.data))


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


MANIPULATION: Semantics = {ops.LayoutTransformOp: layout_transform}
