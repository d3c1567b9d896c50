"""Converters of operators on detected boxes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...node import Converters, Node

__all__ = ["DETECTION"]


def non_max_suppression(node: Node) -> Sequence[SSAValue]:
    """Convert NonMaxSuppression; by default no box of a class is selected, and the threshold of the
    intersection over union is 0."""
    boxes, scores = node.with_rank(node.input(0), 3), node.with_rank(node.input(1), 3)
    limit = node.scalar(node.cast(node.input(2), i64)) if node.has(2) else node.full(0, i64)
    threshold = node.scalar(node.input(3)) if node.has(3) else node.like(0, boxes)
    lowest = [node.scalar(node.input(4))] if node.has(4) else []
    centered = node.bool("center_point_box")
    operands = boxes, scores, limit, threshold, *lowest
    return [node.op("vision.non_max_suppression", *operands, center_point_box=centered)]


DETECTION: Converters = {"NonMaxSuppression": non_max_suppression}
