"""Operations on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

__all__ = ["from_elements"]


def from_elements(elements: Sequence[SSAValue]) -> tensor.FromElementsOp:
    """Return an op that makes a vector of scalars; its class has a constructor since xDSL 0.63."""
    type = TensorType(elements[0].type, [len(elements)])
    return tensor.FromElementsOp.build(operands=[elements], result_types=[type])
