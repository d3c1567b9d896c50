"""Semantics of operations whose parameters are operands: those of their static operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Operation

from ....dialects.relax import Relax
from ....dialects.relax.dynamic.base import DynamicOp
from ....dialects.relax.dynamic.computation import DynamicPadOp
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
    """Return the results of the static operation for the parameter values."""
    values = [array.ravel().tolist() for array in arrays[op.INPUTS :]]
    static = static_of(op, arrays, values)
    return STATIC[type(static)](static, *arrays[: op.INPUTS])


def static_of(op: DynamicOp, arrays: Sequence[Array], values: Sequence[Sequence[int]]) -> Operation:
    """Return the static operation for these parameter values.

    It is created on the types of the arrays, so that it checks the parameters against the shapes.
    """
    static = op.static_for([array.shape for array in arrays[: op.INPUTS]], values)
    assert static is not None, "the shapes are known at run time"
    for result in static.results:
        check_size(static_shape(result.type) or ())
    return static


def pad(
    op: DynamicPadOp, data: Array, widths: Array, value: Array, axes: Array
) -> Array | tuple[Array, ...]:
    static = static_of(op, [data], [widths.tolist(), axes.tolist()])
    static.properties["pad_value"] = FloatAttr(float(value), f64)
    return STATIC[type(static)](static, data)


def compress(op: DynamicCompressOp, data: Array, condition: Array) -> Array:
    return np.compress(condition, data, op.axis)


DYNAMIC: Semantics = {
    **{cls: dynamic for cls in Relax.operations if issubclass(cls, DynamicOp)},
    DynamicPadOp: pad,
    DynamicCompressOp: compress,
}
