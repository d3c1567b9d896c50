"""The labels of classes, which classifiers of ai.onnx.ml return."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...node import Node
from ..expression import Expression, constant

__all__ = ["labels_at"]


def labels_at(node: Node, place: Expression, integers: str, strings: str) -> SSAValue:
    """Return the labels of classes at positions, by the names of the attributes that have them.
    Labels that are strings, which relax does not have, stay positions, with a warning."""
    if labels := node.ints(integers):
        if len(labels) == 1:
            return place.value
        return constant(node, np.asarray(labels, np.int64), i64).take(place, 0).value
    if names := node.strings(strings):
        node.warn(f"the labels are strings, so their positions are returned: {', '.join(names)}")
    return place.value
