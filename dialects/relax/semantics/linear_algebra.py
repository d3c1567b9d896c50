"""What operations of linear algebra compute."""

from __future__ import annotations

import numpy as np

from .. import linear_algebra as ops
from .arrays import Array
from .table import Semantics, at_least_f32, on_arrays

__all__ = ["LINEAR_ALGEBRA"]


def einsum(op: ops.EinsumOp, *arrays: Array) -> Array:
    """The sum of products, f16 in f32, in an order that numpy finds good."""
    return np.einsum(op.subscripts.data, *map(at_least_f32, arrays), optimize=True)


LINEAR_ALGEBRA: Semantics = {
    ops.MatmulOp: on_arrays(np.matmul),
    ops.EinsumOp: einsum,
}
