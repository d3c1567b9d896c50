"""Softmax and the normalizations."""

from __future__ import annotations

from xdsl.ir import SSAValue

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.reduction import nn, normalization

from ..builder import NetworkBuilder
from ..choices import FLOATS
from ..values import NotApplicable

__all__ = ["norm_rule"]


def norm_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 1, FLOATS)
    axis = b.axis(known)

    def row(axis: int) -> SSAValue:
        return b.operand((known.shape[axis],), known.element)

    match b.random.randrange(9):
        case 0 | 1:
            return nn.SoftmaxOp(x, axis=axis)
        case 2:
            return nn.LogSoftmaxOp(x, axis=axis)
        case 3:
            axis = b.random.choice([1, axis])
            variance = b.constant(known.shape[axis : axis + 1], known.element)
            if variance.array.min(initial=1) < 0.1:
                raise NotApplicable
            parts = [row(axis), row(axis), row(axis), b.placeholder(variance)]
            return normalization.BatchNormOp(x, *parts, axis=axis)
        case 4:
            return normalization.LayerNormOp(x, row(axis), row(axis), axes=[axis])
        case 5:
            return normalization.RMSNormOp(x, row(axis), axes=[axis])
        case 6:
            return normalization.L2NormalizeOp(x, eps=0.1, axis=b.axes(known))
        case 7:
            return normalization.LRNOp(x, size=b.random.choice([1, 3, 5]), axis=axis, alpha=0.1)
        case _:
            if len(known.shape) < 3:
                raise NotApplicable
            if b.random.random() < 0.5:
                return normalization.InstanceNormOp(x, row(1), row(1))
            groups = b.random.choice(b.random.factors(known.shape[1]))
            axes = [*range(2, len(known.shape))]
            return normalization.GroupNormOp(x, row(1), row(1), num_groups=groups, axes=axes)
