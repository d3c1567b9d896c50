"""Semantics of operations whose parameters are operands: those of their static operations."""

from __future__ import annotations

import numpy as np

from ....dialects.relax import Relax
from ....dialects.relax.dynamic.computation import DynamicOp
from ....dialects.relax.dynamic.data_movement import DynamicCompressOp
from ....dialects.relax.types import static_shape
from ..arrays import Array, check_size
from .array_functions import Semantics


def dynamic_semantics(static: Semantics) -> Semantics:
    """Return the semantics of operations whose parameters are operands, given those of the others.

    The static operation is created on the types of the arrays, so that it checks the values of the
    parameters against the shapes.
    """

    def compute(op: DynamicOp, *arrays: Array) -> Array | tuple[Array, ...]:
        values = [array.ravel().tolist() for array in arrays[op.INPUTS :]]
        static_op = op.static_for([array.shape for array in arrays[: op.INPUTS]], values)
        assert static_op is not None, "the shapes are known at run time"
        for result in static_op.results:
            check_size(static_shape(result.type) or ())
        return static[type(static_op)](static_op, *arrays[: op.INPUTS])

    classes = (cls for cls in Relax.operations if issubclass(cls, DynamicOp))
    return {**dict.fromkeys(classes, compute), DynamicCompressOp: compress}


def compress(op: DynamicCompressOp, data: Array, condition: Array) -> Array:
    return np.compress(condition, data, op.axis)
