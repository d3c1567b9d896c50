"""Semantics of operations whose parameters are operands: those of their static operations."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import FloatAttr, TensorType, f64
from xdsl.ir import Block

from ...dialects.relax.dynamic.base import DynamicOp
from ...dialects.relax.dynamic.broadcast import DynamicBroadcastToOp, DynamicExpandOp, DynamicTileOp
from ...dialects.relax.dynamic.creation import DynamicFullOp, DynamicOneHotOp
from ...dialects.relax.dynamic.nn import DynamicPadOp, DynamicResizeOp
from ...dialects.relax.dynamic.reduction import (
    DynamicCumprodOp,
    DynamicCumsumOp,
    DynamicReduceOp,
    DynamicTopkOp,
)
from ...dialects.relax.dynamic.reshape import (
    DynamicExpandDimsOp,
    DynamicReshapeOp,
    DynamicSqueezeOp,
)
from ...dialects.relax.dynamic.slice import DynamicCompressOp, DynamicSplitOp, DynamicStridedSliceOp
from ...dialects.relax.types import static_shape, tensor_type
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
    pairs = zip(op.operands[: op.INPUTS], arrays, strict=False)
    types = [TensorType(tensor_type(v).element_type, array.shape) for v, array in pairs]
    values = [array.ravel().tolist() for array in arrays[op.INPUTS :]]
    static = op.static_op(Block(arg_types=types).args, values)
    assert static is not None, "the shapes are known at run time"
    for result in static.results:
        check_size(static_shape(result.type) or ())
    return STATIC[type(static)](static, *arrays[: op.INPUTS])


def pad(
    op: DynamicPadOp, data: Array, widths: Array, value: Array, axes: Array
) -> Array | tuple[Array, ...]:
    types = [TensorType(tensor_type(op.data).element_type, data.shape)]
    static = op.static_op(Block(arg_types=types).args, [widths.tolist(), axes.tolist()])
    assert static is not None, "the rank is known at run time"
    check_size(static_shape(static.results[0].type) or ())
    static.properties["pad_value"] = FloatAttr(float(value), f64)
    return STATIC[type(static)](static, data)


def compress(op: DynamicCompressOp, data: Array, condition: Array) -> Array:
    return np.compress(condition, data, op.axis)


DYNAMIC: Semantics = {
    DynamicBroadcastToOp: dynamic,
    DynamicCompressOp: compress,
    DynamicExpandDimsOp: dynamic,
    DynamicExpandOp: dynamic,
    DynamicFullOp: dynamic,
    DynamicOneHotOp: dynamic,
    DynamicReshapeOp: dynamic,
    DynamicSplitOp: dynamic,
    DynamicSqueezeOp: dynamic,
    DynamicStridedSliceOp: dynamic,
    DynamicTileOp: dynamic,
    DynamicPadOp: pad,
    DynamicResizeOp: dynamic,
    DynamicCumprodOp: dynamic,
    DynamicCumsumOp: dynamic,
    DynamicReduceOp: dynamic,
    DynamicTopkOp: dynamic,
}
