"""Semantics of reductions; f16 is computed in f32 and rounded once, integers wrap around."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from .....dialects.relax.reduction import reduction as ops
from ...arrays import Array, bounds, element_of
from ..elementwise.binary import divide
from ..table import Compute, Semantics, as_numbers, at_least_f32

__all__ = ["REDUCTION"]


def accumulate(function: np.ufunc) -> Compute:
    """Return the semantics of a reduction by `function`, which has an identity element."""

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        x = at_least_f32(x)
        return function.reduce(x, axis=op.axis, dtype=x.dtype, keepdims=op.keepdims)

    return compute


def extremum(function: np.ufunc, identity: int) -> Compute:
    """Return the semantics of a reduction by maximum or minimum.

    `identity` is the index in `bounds` of the identity element: 0, the minimum of the type, for
    a maximum; 1, the maximum of the type, for a minimum.
    """

    def compute(op: ops.ReductionOp, x: Array) -> Array:
        initial = bounds(element_of(op.result.type))[identity]
        return function.reduce(as_numbers(x), axis=op.axis, keepdims=op.keepdims, initial=initial)

    return compute


def mean(op: ops.MeanOp, x: Array) -> Array:
    x = at_least_f32(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    total = np.asarray(accumulate(np.add)(op, x))
    count = x.size // total.size if total.size else 0
    return divide(total, np.asarray(count, x.dtype))


def index(function: Callable[..., Array]) -> Compute:
    """Return the semantics of a reduction to the index of an extremum; `function` is `np.argmax` or
    `np.argmin`.

    numpy returns the first of equal elements: for the last one, the array is flipped.
    """

    def compute(op: ops.ArgReductionOp, x: Array) -> Array:
        axis = op.axis
        size = x.size if axis is None else x.shape[axis]
        if not size:
            raise InterpretationError(
                f"{op.name} needs at least one element: shape {x.shape}, axis {axis}"
            )
        last = op.select_last_index
        x = np.flip(as_numbers(x), axis) if last else as_numbers(x)
        first = function(x, axis=axis, keepdims=op.keepdims)
        return size - 1 - first if last else first

    return compute


REDUCTION: Semantics = {
    ops.SumOp: accumulate(np.add),
    ops.MeanOp: mean,
    ops.MaxOp: extremum(np.maximum, identity=0),
    ops.MinOp: extremum(np.minimum, identity=1),
    ops.ProdOp: accumulate(np.multiply),
    ops.AnyOp: extremum(np.maximum, identity=0),
    ops.AllOp: extremum(np.minimum, identity=1),
    ops.ArgmaxOp: index(np.argmax),
    ops.ArgminOp: index(np.argmin),
}
