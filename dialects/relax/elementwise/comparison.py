"""Element-wise comparisons of two tensors, with `i1` results."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Commutative

from ..types import (
    with_element,
)
from .binary import BinaryOp, broadcast_type

__all__ = [
    "ComparisonOp",
    "EqualOp",
    "GreaterEqualOp",
    "GreaterOp",
    "LessEqualOp",
    "LessOp",
    "NotEqualOp",
]


class ComparisonOp(BinaryOp, ABC):
    """A comparison of two tensors of numbers, with an i1 result; false is less than true."""

    def infer_types(self) -> Sequence[Attribute]:
        return (with_element(broadcast_type(*self.operands), i1),)


@irdl_op_definition
class EqualOp(ComparisonOp):
    """lhs == rhs."""

    name = "relax.equal"

    traits = traits_def(Commutative())


@irdl_op_definition
class NotEqualOp(ComparisonOp):
    """lhs != rhs; true if one is NaN."""

    name = "relax.not_equal"

    traits = traits_def(Commutative())


@irdl_op_definition
class LessOp(ComparisonOp):
    """lhs < rhs."""

    name = "relax.less"


@irdl_op_definition
class LessEqualOp(ComparisonOp):
    """lhs <= rhs."""

    name = "relax.less_equal"


@irdl_op_definition
class GreaterOp(ComparisonOp):
    """lhs > rhs."""

    name = "relax.greater"


@irdl_op_definition
class GreaterEqualOp(ComparisonOp):
    """lhs >= rhs."""

    name = "relax.greater_equal"
