"""Element-wise functions of one tensor: signs, roots, rounding, predicates, transcendental ones."""

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
    check_bool,
    check_float,
    check_integer,
    check_number,
    tensor_type,
    with_element,
)

__all__ = [
    "AbsOp",
    "AcosOp",
    "AcoshOp",
    "AsinOp",
    "AsinhOp",
    "AtanOp",
    "AtanhOp",
    "BitwiseNotOp",
    "CeilOp",
    "CosOp",
    "CoshOp",
    "ErfOp",
    "ExpOp",
    "Expm1Op",
    "FloatPredicateOp",
    "FloatUnaryOp",
    "FloorOp",
    "IsFiniteOp",
    "IsInfOp",
    "IsNanOp",
    "Log1pOp",
    "Log2Op",
    "LogOp",
    "LogicalNotOp",
    "NegativeOp",
    "RoundOp",
    "RsqrtOp",
    "SigmoidOp",
    "SignOp",
    "SinOp",
    "SinhOp",
    "SqrtOp",
    "SquareOp",
    "TanOp",
    "TanhOp",
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


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """Logical not."""

    name = "relax.logical_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_bool(type := tensor_type(self.input))
        return (type,)


@irdl_op_definition
class BitwiseNotOp(UnaryOp):
    """Bitwise not."""

    name = "relax.bitwise_not"

    def infer_types(self) -> Sequence[Attribute]:
        check_integer(type := tensor_type(self.input))
        return (type,)


# Transcendental functions of floating-point numbers


@irdl_op_definition
class ExpOp(FloatUnaryOp):
    """e to the power of the element."""

    name = "relax.exp"


@irdl_op_definition
class Expm1Op(FloatUnaryOp):
    """exp(x) - 1, accurate near zero."""

    name = "relax.expm1"


@irdl_op_definition
class LogOp(FloatUnaryOp):
    """Natural logarithm."""

    name = "relax.log"


@irdl_op_definition
class Log2Op(FloatUnaryOp):
    """Logarithm to base 2."""

    name = "relax.log2"


@irdl_op_definition
class Log1pOp(FloatUnaryOp):
    """log(1 + x), accurate near zero."""

    name = "relax.log1p"


@irdl_op_definition
class SinOp(FloatUnaryOp):
    """Sine."""

    name = "relax.sin"


@irdl_op_definition
class CosOp(FloatUnaryOp):
    """Cosine."""

    name = "relax.cos"


@irdl_op_definition
class TanOp(FloatUnaryOp):
    """Tangent."""

    name = "relax.tan"


@irdl_op_definition
class AsinOp(FloatUnaryOp):
    """Inverse sine."""

    name = "relax.asin"


@irdl_op_definition
class AcosOp(FloatUnaryOp):
    """Inverse cosine."""

    name = "relax.acos"


@irdl_op_definition
class AtanOp(FloatUnaryOp):
    """Inverse tangent."""

    name = "relax.atan"


@irdl_op_definition
class SinhOp(FloatUnaryOp):
    """Hyperbolic sine."""

    name = "relax.sinh"


@irdl_op_definition
class CoshOp(FloatUnaryOp):
    """Hyperbolic cosine."""

    name = "relax.cosh"


@irdl_op_definition
class TanhOp(FloatUnaryOp):
    """Hyperbolic tangent."""

    name = "relax.tanh"


@irdl_op_definition
class AsinhOp(FloatUnaryOp):
    """Inverse hyperbolic sine."""

    name = "relax.asinh"


@irdl_op_definition
class AcoshOp(FloatUnaryOp):
    """Inverse hyperbolic cosine."""

    name = "relax.acosh"


@irdl_op_definition
class AtanhOp(FloatUnaryOp):
    """Inverse hyperbolic tangent."""

    name = "relax.atanh"


@irdl_op_definition
class ErfOp(FloatUnaryOp):
    """The error function."""

    name = "relax.erf"


@irdl_op_definition
class SigmoidOp(FloatUnaryOp):
    """1 / (1 + exp(-x))."""

    name = "relax.sigmoid"
