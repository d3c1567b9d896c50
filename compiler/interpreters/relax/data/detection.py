"""Semantics of operations on detected boxes, in the arithmetic and order of onnxruntime."""

from __future__ import annotations

import numpy as np
from xdsl.utils.exceptions import VerifyException

from .....dialects.relax.data.detection import NonMaxSuppressionOp
from ...arrays import Array
from ..table import Semantics, at_least_f32

__all__ = ["DETECTION"]


def non_max_suppression(
    op: NonMaxSuppressionOp,
    boxes: Array,
    scores: Array,
    limit: Array,
    iou_threshold: Array,
    score_threshold: Array | None = None,
) -> Array:
    """Return the selected boxes; VerifyException for a threshold outside of 0 to 1."""
    if not 0 <= iou_threshold <= 1:
        raise VerifyException(f"iou_threshold is {iou_threshold}, expected 0 to 1")
    boxes = at_least_f32(boxes)
    selected: list[Array] = []
    for batch, corners in enumerate(boxes):
        low, high = extents(corners, op.center_point_box)
        for number, own in enumerate(scores[batch]):
            order = np.argsort(-at_least_f32(own), kind="stable")
            if score_threshold is not None:
                order = order[own[order] > score_threshold]
            chosen = greedy(order, low, high, int(limit), iou_threshold)
            rows = np.empty((len(chosen), 3), np.int64)
            rows[:] = [batch, number, 0]
            rows[:, 2] = chosen
            selected.append(rows)
    return np.concatenate([np.empty((0, 3), np.int64), *selected])


def extents(boxes: Array, centered: bool) -> tuple[Array, Array]:
    """Return the minimum and maximum coordinates of each box along both axes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if centered:
        return first - second / 2, first + second / 2
    swapped = first >= second
    return np.where(swapped, second, first), np.where(swapped, first, second)


def greedy(order: Array, low: Array, high: Array, limit: int, threshold: Array) -> list[int]:
    """Return at most `limit` boxes in this order that do not overlap those before by more than
    `threshold`."""
    chosen: list[int] = []
    while len(order) and len(chosen) < limit:
        first, order = int(order[0]), order[1:]
        chosen.append(first)
        order = order[~overlaps(low[order], high[order], low[first], high[first], threshold)]
    return chosen


def overlaps(low: Array, high: Array, low_of: Array, high_of: Array, threshold: Array) -> Array:
    """Return for each box whether its intersection over union with another is above the threshold;
    false if an area is not positive."""
    sides = np.minimum(high, high_of) - np.maximum(low, low_of)
    intersection = sides[:, 0] * sides[:, 1]
    area, area_of = np.prod(high - low, axis=1), np.prod(high_of - low_of)
    union = area + area_of - intersection
    valid = (sides > 0).all(axis=1) & (intersection > 0) & (area > 0) & (area_of > 0) & (union > 0)
    return valid & (intersection / union > threshold)


DETECTION: Semantics = {NonMaxSuppressionOp: non_max_suppression}
