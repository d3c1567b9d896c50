"""The sizes of parameters that run along dimensions of the data, where types do not tell them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ...dialects.relax.elementwise.activation import PReluOp
from ...dialects.relax.reduction.nn import BiasAddOp
from ...dialects.relax.reduction.normalization import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    LayerNormOp,
    RMSNormOp,
)
from ...dialects.relax.shapes import normalize_axes
from .builder import KernelBuilder

__all__ = ["require_parameters"]


def require_parameters(op: Operation, b: KernelBuilder) -> None:
    """Assert that the parameters of `op` have the sizes of the dimensions of the data that they run
    along, unless that is known."""
    if (axes := parameter_axes(op)) is None:
        return
    data, *parameters = (b.sizes[operand] for operand in op.operands)
    for parameter in parameters:
        # Static sizes are compared when types are inferred; what is left is a size whose one
        # side is not known, or two symbols.
        for axis, extent in zip(normalize_axes(axes, len(data)), parameter, strict=True):
            b.require_equal(data[axis], extent, "a parameter and the data differ in size", op)


def parameter_axes(op: Operation) -> Sequence[int] | None:
    """Return the dimensions of the first operand that all others run along, if there are such."""
    match op:
        case LayerNormOp() | RMSNormOp():
            return op.axes
        case GroupNormOp():
            return [op.channel_axis]
        case BatchNormOp() | InstanceNormOp() | PReluOp() | BiasAddOp():
            return [op.axis]
        case _:
            return None
