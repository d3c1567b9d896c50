"""Transcendental functions of floating-point tensors: exp, log, trigonometry, erf, sigmoid."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from .unary import FloatUnaryOp

__all__ = [
    "AcosOp",
    "AcoshOp",
    "AsinOp",
    "AsinhOp",
    "AtanOp",
    "AtanhOp",
    "CosOp",
    "CoshOp",
    "ErfOp",
    "ExpOp",
    "Expm1Op",
    "Log1pOp",
    "Log2Op",
    "LogOp",
    "SigmoidOp",
    "SinOp",
    "SinhOp",
    "TanOp",
    "TanhOp",
]


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
