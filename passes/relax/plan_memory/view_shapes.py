"""The shapes of views of tensors of unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import Operation

from ....dialects.relax.data.reshape import ExpandDimsOp, FlattenOp, ReshapeOp, SqueezeOp
from ....dialects.relax.reduction.nn import BatchFlattenOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.sizes import Size

__all__ = ["view_shape"]


def view_shape(op: Operation, shape: Sequence[Size], type: Sequence[int]) -> list[Size]:
    """Return the shape of the result of the view or cast `op`, whose operand has `shape`.

    `type` is the shape of the result type. TooComplex if a product is; the numbers of elements may
    differ, which the caller checks.
    """
    match op:
        case ReshapeOp():
            return _reshaped(op, shape)
        case FlattenOp():
            return [_product(shape)]
        case BatchFlattenOp():
            return [shape[0], _product(shape[1:])]
        case SqueezeOp():
            dropped = _squeezed(op, shape)
            return [size for axis, size in enumerate(shape) if axis not in dropped]
        case ExpandDimsOp():
            return _expanded(op, shape, len(type))
        case _:
            return [*shape]


def _product(sizes: Sequence[Size]) -> Size:
    return reduce(Size.__mul__, sizes, Size.of(1))


def _reshaped(op: ReshapeOp, shape: Sequence[Size]) -> list[Size]:
    copied = [i for i, n in enumerate(op.newshape) if n == 0 and not op.allowzero]
    given = 1
    for n in op.newshape:
        given *= n if n > 0 else 1
    left = _product([size for i, size in enumerate(shape) if i not in copied])
    inferred = left // given if -1 in op.newshape else left
    return [
        shape[i] if i in copied else inferred if n < 0 else Size.of(n)
        for i, n in enumerate(op.newshape)
    ]


def _squeezed(op: SqueezeOp, shape: Sequence[Size]) -> Sequence[int]:
    if op.axis is not None:
        return normalize_axes(op.axis, len(shape))
    return [axis for axis, size in enumerate(shape) if size.known == 1]


def _expanded(op: ExpandDimsOp, shape: Sequence[Size], rank: int) -> list[Size]:
    new, rest = {*normalize_axes(op.axis, rank)}, iter(shape)
    return [Size.of(1) if axis in new else next(rest) for axis in range(rank)]
