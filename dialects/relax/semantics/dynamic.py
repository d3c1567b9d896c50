"""What operations compute of which operands are parameters: what the static ones do for these."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block

from .. import dynamic as ops
from .. import dynamic_reduction as reductions
from ..types import tensor_type
from .arrays import Array
from .creation import CREATION
from .indexing import INDEXING
from .manipulation import MANIPULATION
from .reduction import REDUCTION
from .scan import SCAN
from .sorting import SORTING
from .table import Semantics

__all__ = ["DYNAMIC"]

STATIC: Semantics = {**CREATION, **INDEXING, **MANIPULATION, **REDUCTION, **SCAN, **SORTING}


def dynamic(op: ops.DynamicOp, *arrays: Array) -> Array | tuple[Array, ...]:
    """The results of the static operation, which checks the parameters against the shapes."""
    pairs = zip(op.operands[: op.INPUTS], arrays, strict=False)
    types = [TensorType(tensor_type(v).element_type, array.shape) for v, array in pairs]
    values = [array.ravel().tolist() for array in arrays[op.INPUTS :]]
    static = op.static_op(Block(arg_types=types).args, values)
    assert static is not None, "there is one if the shapes are known"
    return STATIC[type(static)](static, *arrays[: op.INPUTS])


def compress(op: ops.DynamicCompressOp, data: Array, condition: Array) -> Array:
    return np.compress(condition, data, None if op.axis is None else op.axis.value.data)


DYNAMIC: Semantics = {
    ops.DynamicBroadcastToOp: dynamic,
    ops.DynamicCompressOp: compress,
    ops.DynamicExpandDimsOp: dynamic,
    ops.DynamicExpandOp: dynamic,
    ops.DynamicFullOp: dynamic,
    ops.DynamicOneHotOp: dynamic,
    ops.DynamicReshapeOp: dynamic,
    ops.DynamicSplitOp: dynamic,
    ops.DynamicSqueezeOp: dynamic,
    ops.DynamicStridedSliceOp: dynamic,
    ops.DynamicTileOp: dynamic,
    reductions.DynamicCumprodOp: dynamic,
    reductions.DynamicCumsumOp: dynamic,
    reductions.DynamicReduceOp: dynamic,
    reductions.DynamicTopkOp: dynamic,
}
