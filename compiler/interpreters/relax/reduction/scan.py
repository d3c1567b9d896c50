"""Semantics of scans; f16 is computed in f32 and rounded once, integers wrap around."""

from __future__ import annotations

import numpy as np

from .....dialects.relax.reduction import scan as ops
from ...arrays import Array
from ..table import Compute, Semantics, at_least_f32

__all__ = ["SCAN"]


def scan(function: np.ufunc) -> Compute:
    """Return the semantics of a scan by `function`, which has an identity element."""

    def compute(op: ops.ScanOp, x: Array) -> Array:
        x = at_least_f32(x) if op.axis is not None else at_least_f32(x).reshape(-1)
        axis = 0 if op.axis is None else op.axis
        # A view in which the scan runs forwards along the first axis.
        source = np.moveaxis(np.flip(x, axis) if op.reverse else x, axis, 0)
        total: Array = function.accumulate(source, axis=0, dtype=x.dtype)
        if op.exclusive:
            total = np.concatenate([np.full_like(total[:1], function.identity), total[:-1]])
        total = np.moveaxis(total, 0, axis)
        return np.flip(total, axis) if op.reverse else total

    return compute


SCAN: Semantics = {
    ops.CumsumOp: scan(np.add),
    ops.CumprodOp: scan(np.multiply),
}
