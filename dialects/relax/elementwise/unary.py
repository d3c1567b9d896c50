"""Element-wise functions of one tensor: base classes, signs, roots, rounding and predicates."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from ..base import TensorOp
from ..interfaces import Elementwise, Homogeneous
from ..types import (
    TENSOR,
    check_float,
    check_number,
    tensor_type,
    with_element,
)

__all__ = [
    "AbsOp",
    "CeilOp",
    "FloatPredicateOp",
    "FloatUnaryOp",
    "FloorOp",
    "IsFiniteOp",
    "IsInfOp",
    "IsNanOp",
    "NegativeOp",
    "RoundOp",
    "RsqrtOp",
    "SignOp",
    "SqrtOp",
    "SquareOp",
    "TruncOp",
    "UnaryOp",
]


class UnaryOp(Elementwise, TensorOp, ABC):
    """A function of one tensor of numbers."""

    input = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        return (type,)


class FloatUnaryOp(UnaryOp, ABC):
    """A function of one tensor of floating-point numbers."""

    def infer_types(self) -> Sequence[Attribute]:
        check_float(type := tensor_type(self.input))
        return (type,)


class FloatPredicateOp(UnaryOp, ABC):
    """A predicate on one tensor of floating-point numbers, with an i1 result."""

    def infer_types(self) -> Sequence[Attribute]:
        check_float(type := tensor_type(self.input))
        return (with_element(type, i1),)


@irdl_op_definition
class AbsOp(Homogeneous, UnaryOp):
    """Absolute value."""

    name = "relax.abs"


@irdl_op_definition
class NegativeOp(Homogeneous, UnaryOp):
    """Negation."""

    name = "relax.negative"
    POSITIVE: ClassVar = False


@irdl_op_definition
class SignOp(UnaryOp):
    """-1, 0 or 1 for an element below, equal to or above zero; NaN for NaN."""

    name = "relax.sign"


@irdl_op_definition
class SquareOp(UnaryOp):
    """The square."""

    name = "relax.square"


@irdl_op_definition
class CeilOp(UnaryOp):
    """The element rounded up to an integral value; integers are unchanged."""

    name = "relax.ceil"


@irdl_op_definition
class FloorOp(UnaryOp):
    """The element rounded down to an integral value; integers are unchanged."""

    name = "relax.floor"


@irdl_op_definition
class RoundOp(UnaryOp):
    """The element rounded to the nearest integral value, ties to even; integers are unchanged."""

    name = "relax.round"


@irdl_op_definition
class TruncOp(UnaryOp):
    """The element rounded toward zero to an integral value; integers are unchanged."""

    name = "relax.trunc"


@irdl_op_definition
class SqrtOp(FloatUnaryOp):
    """Square root."""

    name = "relax.sqrt"


@irdl_op_definition
class RsqrtOp(FloatUnaryOp):
    """1 / sqrt(x)."""

    name = "relax.rsqrt"


@irdl_op_definition
class IsNanOp(FloatPredicateOp):
    """A test for NaN."""

    name = "relax.isnan"


@irdl_op_definition
class IsInfOp(FloatPredicateOp):
    """A test for plus or minus infinity."""

    name = "relax.isinf"


@irdl_op_definition
class IsFiniteOp(FloatPredicateOp):
    """A test for finite numbers: neither infinite nor NaN."""

    name = "relax.isfinite"
