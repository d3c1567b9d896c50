"""Convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passline.dialects.relax import windows as pooling
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.contraction import convolution

from ..builder import NetworkBuilder
from ..choices import FLOATS, INTEGERS
from ..values import NotApplicable

__all__ = ["convolution_last_rule", "convolution_rule", "pool_rule"]

CONVOLUTIONS = (convolution.Conv1dOp, convolution.Conv2dOp, convolution.Conv3dOp)
TRANSPOSED = (
    convolution.Conv1dTransposeOp,
    convolution.Conv2dTransposeOp,
    convolution.Conv3dTransposeOp,
)
POOLS = (
    (pooling.MaxPool1dOp, pooling.AvgPool1dOp, pooling.AdaptiveAvgPool1dOp),
    (pooling.MaxPool2dOp, pooling.AvgPool2dOp, pooling.AdaptiveAvgPool2dOp),
    (pooling.MaxPool3dOp, pooling.AvgPool3dOp, pooling.AdaptiveMaxPool3dOp),
)


def windows(b: NetworkBuilder, sizes: Sequence[int]) -> dict[str, Any]:
    """Draw strides, dilation and padding of windows over dimensions of these sizes."""
    rank = len(sizes)
    pick = b.random
    padding = [pick.choice([0, 0, 1, 1, 2]) for _ in range(rank)]
    if pick.random() < 0.4:
        padding += [pick.randint(0, 2) for _ in range(rank)]
    return {
        "strides": [pick.choice([1, 1, 1, 2, 3]) for _ in range(rank)],
        "dilation": [pick.choice([1, 1, 1, 2]) for _ in range(rank)],
        "padding": padding if pick.random() < 0.7 else [0] * rank,
    }


def convolution_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) in (3, 4, 5), (*FLOATS, *INTEGERS))
    channels, sizes = known.shape[1], known.shape[2:]
    groups = b.random.choice(b.random.factors(channels)) if b.random.random() < 0.4 else 1
    outputs = groups * b.random.choice([1, 1, 2, 3, 4, 8, 16, 17])
    window = windows(b, sizes)
    if not groups:
        raise NotApplicable
    if b.random.random() < 0.1:
        shape = (channels, outputs // groups, *b.random.window(sizes))
        kind = TRANSPOSED[len(sizes) - 1]
        return kind(x, b.operand(shape, known.element), groups=groups, **window)
    shape = (outputs, channels // groups, *b.random.window(sizes))
    kind = CONVOLUTIONS[len(sizes) - 1]
    return kind(x, b.operand(shape, known.element), groups=groups, **window)


def convolution_last_rule(b: NetworkBuilder) -> TensorOp:
    """Pick a convolution whose channels are the last dimension."""
    x, known = b.pick_value(lambda k: len(k.shape) == 4, FLOATS)
    *sizes, channels = known.shape[1:]
    outputs = b.random.choice([1, 2, 3, 8, 17])
    weight = b.operand((*b.random.window(sizes), channels, outputs), known.element)
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    return convolution.Conv2dOp(x, weight, **layouts, **windows(b, sizes))


def pool_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) in (3, 4, 5), FLOATS)
    sizes = known.shape[2:]
    maximum, average, adaptive = POOLS[len(sizes) - 1]
    match b.random.randrange(4):
        case 0:
            return adaptive(x, output_size=[b.random.randint(1, 4) for _ in sizes])
        case 1:
            size = b.random.window(sizes)
            return maximum(x, pool_size=size, ceil_mode=b.random.coin(), **windows(b, sizes))
        case 2:
            kind = b.random.choice([pooling.GlobalMaxPool2dOp, pooling.GlobalAvgPool2dOp])
            return kind(x)
        case _:
            flags: dict[str, Any] = {
                "ceil_mode": b.random.coin(),
                "count_include_pad": b.random.coin(),
            }
            return average(x, pool_size=b.random.window(sizes), **flags, **windows(b, sizes))
