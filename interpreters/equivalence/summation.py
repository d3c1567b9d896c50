"""Which functions sum up many elements, and which round floats to integers."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...dialects.relax.base import TensorOp
from ...dialects.relax.elementwise.quantization import QuantizeOp, RequantizeOp
from ...dialects.relax.interfaces import FusionKind, FusionPattern
from ...dialects.relax.reduction.normalization import BatchNormOp
from ...passmanager.ir.walk import walk

__all__ = ["quantizes", "sums_elements"]


def quantizes(module: ModuleOp) -> bool:
    """Return whether an operation of `module` quantizes floats or sums of products."""
    return any(isinstance(op, QuantizeOp | RequantizeOp) for op in walk(module))


def sums_elements(module: ModuleOp) -> bool:
    """Return whether an operation of `module` may combine many elements into one: loops, and
    operations on tensors that are not known to be element-wise or to move elements only."""
    return any(map(_may_sum, walk(module)))


def _may_sum(op: Operation) -> bool:
    if isinstance(op, BatchNormOp):
        return False  # element-wise at inference; its kind says which operations fuse with it
    if isinstance(op, FusionPattern):
        kind = op.fusion_kind()
        return kind is not FusionKind.TUPLE and kind > FusionKind.INJECTIVE
    return isinstance(op, TensorOp) or (bool(op.regions) and not isinstance(op, FuncOp | ModuleOp))
