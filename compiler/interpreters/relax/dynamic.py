"""Semantics of operations whose parameters are operands: those of their static operations."""

from __future__ import annotations

import numpy as np

from ....dialects.relax import Relax
from ....dialects.relax.dynamic.base import DynamicOp
from ....dialects.relax.dynamic.manipulation import DynamicCompressOp
from ....dialects.relax.types import static_shape
from ..arrays import Array, check_size
from .data.creation import CREATION
from .data.image import IMAGE
from .data.indexing import INDEXING
from .data.manipulation import MANIPULATION
from .data.sorting import SORTING
from .reduction.nn import NN
from .reduction.reduction import REDUCTION
from .reduction.scan import SCAN
from .table import Semantics

__all__ = ["DYNAMIC"]

STATIC: Semantics = {
    **CREATION,
    **IMAGE,
    **NN,
    **INDEXING,
    **MANIPULATION,
    **REDUCTION,
    **SCAN,
    **SORTING,
}


def dynamic(op: DynamicOp, *arrays: Array) -> Array | tuple[Array, ...]:
    """Return the results of the static operation for the parameter values.

    It is created on the types of the arrays, so that it checks the parameters against the shapes.
    """
    values = [array.ravel().tolist() for array in arrays[op.INPUTS :]]
    static = op.static_for([array.shape for array in arrays[: op.INPUTS]], values)
    assert static is not None, "the shapes are known at run time"
    for result in static.results:
        check_size(static_shape(result.type) or ())
    return STATIC[type(static)](static, *arrays[: op.INPUTS])


def compress(op: DynamicCompressOp, data: Array, condition: Array) -> Array:
    return np.compress(condition, data, op.axis)


DYNAMIC: Semantics = {
    **{cls: dynamic for cls in Relax.operations if issubclass(cls, DynamicOp)},
    DynamicCompressOp: compress,
}
