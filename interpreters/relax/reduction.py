"""What reductions compute: f16 in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax import reduction as ops
from ..arrays import Array, bounds, element_of
from .binary import divide
from .table import Compute, Semantics, as_numbers, at_least_f32

__all__ = ["REDUCTION"]


def axes(op: ops.ReductionOp) -> tuple[int, ...] | None:
    return None if op.axis is None else tuple(op.axis)


def accumulate(function: np.ufunc) -> Compute:
    """A reduction by a function of two numbers that has an identity."""

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        x = at_least_f32(x)
        keepdims = op.keepdims
        return function.reduce(x, axis=axes(op), dtype=x.dtype, keepdims=keepdims)

    return compute


def extremum(function: np.ufunc, of_none: int) -> Compute:
    """A reduction by maximum or minimum; without elements, that bound of the element type."""

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        initial = bounds(element_of(op.result.type))[of_none]
        keepdims = op.keepdims
        return function.reduce(as_numbers(x), axis=axes(op), keepdims=keepdims, initial=initial)

    return compute


def mean(op: ops.MeanOp, x: Array) -> Array:
    x = at_least_f32(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    total = np.asarray(accumulate(np.add)(op, x))
    count = x.size // total.size if total.size else 0
    return divide(total, np.asarray(count, x.dtype))


def index(function: Callable[..., Array]) -> Compute:
    """The index of an extremum: numpy's is the first one."""

    def compute(op: ops.ArgReductionOp, x: Array) -> Array:
        axis = None if op.axis is None else op.axis
        size = x.size if axis is None else x.shape[axis]
        if not size:
            raise InterpretationError(f"{op.name} of no elements: shape {x.shape}, axis {axis}")
        last = op.select_last_index
        x = np.flip(as_numbers(x), axis) if last else as_numbers(x)
        first = function(x, axis=axis, keepdims=op.keepdims)
        return size - 1 - first if last else first

    return compute


REDUCTION: Semantics = {
    ops.SumOp: accumulate(np.add),
    ops.MeanOp: mean,
    ops.MaxOp: extremum(np.maximum, of_none=0),
    ops.MinOp: extremum(np.minimum, of_none=1),
    ops.ProdOp: accumulate(np.multiply),
    ops.AnyOp: extremum(np.maximum, of_none=0),
    ops.AllOp: extremum(np.minimum, of_none=1),
    ops.ArgmaxOp: index(np.argmax),
    ops.ArgminOp: index(np.argmin),
}
