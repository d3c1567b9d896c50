"""The operations that may round even if their operands are integers."""

from __future__ import annotations

from passline.dialects.relax import windows as pooling
from passline.dialects.relax.contraction import attention
from passline.dialects.relax.elementwise import binary
from passline.dialects.relax.reduction import nn, normalization, reduction

from .elementwise import INEXACT_UNARY

__all__ = ["INEXACT"]

INEXACT = (
    *INEXACT_UNARY,
    attention.AttentionOp,
    *(binary.DivideOp, binary.PowerOp, reduction.MeanOp, nn.SoftmaxOp, nn.LogSoftmaxOp),
    *(normalization.BatchNormOp, normalization.LayerNormOp, normalization.InstanceNormOp),
    *(normalization.GroupNormOp, normalization.RMSNormOp, normalization.L2NormalizeOp),
    *(normalization.LRNOp, pooling.AvgPool1dOp, pooling.AvgPool2dOp, pooling.AvgPool3dOp),
    *(pooling.AdaptiveAvgPool1dOp, pooling.AdaptiveAvgPool2dOp, pooling.GlobalAvgPool2dOp),
)
