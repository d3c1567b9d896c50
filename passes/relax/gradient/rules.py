"""The table of the gradients of operations of the dialect `relax`."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from . import (
    convolution,
    data_movement,
    elementwise,
    indexing,
    linear_algebra,
    nn,
    pooling,
    reduction,
)
from .tensors import Rule

__all__ = ["GRADIENTS"]

GRADIENTS: Mapping[type[Operation], Rule] = {
    **convolution.GRADIENTS,
    **data_movement.GRADIENTS,
    **elementwise.GRADIENTS,
    **indexing.GRADIENTS,
    **linear_algebra.GRADIENTS,
    **nn.GRADIENTS,
    **pooling.GRADIENTS,
    **reduction.GRADIENTS,
}
"""Operations that are not in it are differentiated by their interface `Differentiable`, else by
their decomposition."""
