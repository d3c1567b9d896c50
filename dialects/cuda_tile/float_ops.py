"""Functions of floats: arithmetic, roots, exponentials, trigonometry."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from ..signature import of_signature
from .attributes import RoundingMode, RoundingModeAttr
from .checks import check_f32, check_rounding
from .constraints import FLOAT
from .syntax import types
from .tile_op import PureOp

__all__ = [
    "AbsFOp",
    "AddFOp",
    "Atan2Op",
    "CeilOp",
    "CosHOp",
    "CosOp",
    "DivFOp",
    "Exp2Op",
    "ExpOp",
    "FloorOp",
    "FmaOp",
    "Log2Op",
    "LogOp",
    "MaxFOp",
    "MinFOp",
    "MulFOp",
    "NegFOp",
    "PowOp",
    "RemFOp",
    "RsqrtOp",
    "SinHOp",
    "SinOp",
    "SqrtOp",
    "SubFOp",
    "TanHOp",
    "TanOp",
]


NEAREST_EVEN = RoundingModeAttr(RoundingMode.NEAREST_EVEN)


IEEE = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)


class FloatOp(PureOp, ABC):
    """A function of floats, with modifiers."""

    ROUNDINGS: ClassVar[Sequence[RoundingMode]] = IEEE
    """The rounding modes of the operation."""
    F32_ROUNDINGS: ClassVar[Sequence[RoundingMode]] = (RoundingMode.APPROX,)
    """Those that only operations on f32 have."""

    @of_signature
    def verify_(self) -> None:
        type = self.results[0].type
        mode = self.properties.get("rounding_mode")
        if isinstance(mode, RoundingModeAttr):
            check_rounding(mode, self.ROUNDINGS)
            if mode.data in self.F32_ROUNDINGS:
                check_f32(f"rounding {mode.data}", type)
        if "flush_to_zero" in self.properties:
            check_f32("flush_to_zero", type)


class UnaryFloatOp(FloatOp, ABC):
    """A function of each element of a tile of floats."""

    T: ClassVar = VarConstraint("T", FLOAT)
    source = operand_def(T)
    result = result_def(T)

    assembly_format = "$source attr-dict " + types("result")


class BinaryFloatOp(FloatOp, ABC):
    """A function of each two elements of tiles of floats."""

    T: ClassVar = VarConstraint("T", FLOAT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class RoundedBinaryOp(BinaryFloatOp, ABC):
    """A function of floats whose result is rounded as `rounding_mode` says. With `flush_to_zero`,
    subnormal f32 operands and results are zero."""

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)? "
        "attr-dict " + types("result")
    )


class ExtremumOp(BinaryFloatOp, ABC):
    """A minimum or maximum. NaN is no number that counts, but with `propagate_nan`, it wins."""

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<Flags>($flush_to_zero, $propagate_nan) attr-dict " + types("result")
    )


@irdl_op_definition
class AbsFOp(UnaryFloatOp):
    """The absolute value."""

    name = "cuda_tile.absf"


@irdl_op_definition
class NegFOp(UnaryFloatOp):
    """The negation."""

    name = "cuda_tile.negf"


@irdl_op_definition
class CeilOp(UnaryFloatOp):
    """The least integer that is not less."""

    name = "cuda_tile.ceil"


@irdl_op_definition
class FloorOp(UnaryFloatOp):
    """The greatest integer that is not greater."""

    name = "cuda_tile.floor"


@irdl_op_definition
class CosOp(UnaryFloatOp):
    """The cosine."""

    name = "cuda_tile.cos"


@irdl_op_definition
class SinOp(UnaryFloatOp):
    """The sine."""

    name = "cuda_tile.sin"


@irdl_op_definition
class TanOp(UnaryFloatOp):
    """The tangent."""

    name = "cuda_tile.tan"


@irdl_op_definition
class CosHOp(UnaryFloatOp):
    """The hyperbolic cosine."""

    name = "cuda_tile.cosh"


@irdl_op_definition
class SinHOp(UnaryFloatOp):
    """The hyperbolic sine."""

    name = "cuda_tile.sinh"


@irdl_op_definition
class TanHOp(UnaryFloatOp):
    """The hyperbolic tangent: `full` or `approx`."""

    name = "cuda_tile.tanh"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.FULL))

    assembly_format = "$source (`rounding` `` $rounding_mode^)? attr-dict " + types("result")


@irdl_op_definition
class LogOp(UnaryFloatOp):
    """The natural logarithm."""

    name = "cuda_tile.log"


@irdl_op_definition
class Log2Op(UnaryFloatOp):
    """The logarithm to base 2."""

    name = "cuda_tile.log2"


@irdl_op_definition
class ExpOp(UnaryFloatOp):
    """The exponential: `full` or `approx`."""

    name = "cuda_tile.exp"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.FULL))

    assembly_format = "$source (`rounding` `` $rounding_mode^)? attr-dict " + types("result")


@irdl_op_definition
class Exp2Op(UnaryFloatOp):
    """2 to the power of the element."""

    name = "cuda_tile.exp2"

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = "$source (`flush_to_zero` $flush_to_zero^)? attr-dict " + types("result")


@irdl_op_definition
class SqrtOp(UnaryFloatOp):
    """The square root."""

    name = "cuda_tile.sqrt"

    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$source (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)? "
        "attr-dict " + types("result")
    )


@irdl_op_definition
class RsqrtOp(UnaryFloatOp):
    """The reciprocal of the square root."""

    name = "cuda_tile.rsqrt"

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = "$source (`flush_to_zero` $flush_to_zero^)? attr-dict " + types("result")


@irdl_op_definition
class AddFOp(RoundedBinaryOp):
    """The sum."""

    name = "cuda_tile.addf"


@irdl_op_definition
class SubFOp(RoundedBinaryOp):
    """The difference."""

    name = "cuda_tile.subf"


@irdl_op_definition
class MulFOp(RoundedBinaryOp):
    """The product."""

    name = "cuda_tile.mulf"


@irdl_op_definition
class DivFOp(RoundedBinaryOp):
    """The quotient."""

    name = "cuda_tile.divf"

    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)
    F32_ROUNDINGS: ClassVar = (RoundingMode.APPROX, RoundingMode.FULL)


@irdl_op_definition
class RemFOp(BinaryFloatOp):
    """The remainder of the division, with the sign of `lhs` (C `fmod`)."""

    name = "cuda_tile.remf"


@irdl_op_definition
class MaxFOp(ExtremumOp):
    """The greater number."""

    name = "cuda_tile.maxf"


@irdl_op_definition
class MinFOp(ExtremumOp):
    """The lesser number."""

    name = "cuda_tile.minf"


@irdl_op_definition
class PowOp(PureOp):
    """`source` to the power of `exponent`."""

    name = "cuda_tile.pow"

    T: ClassVar = VarConstraint("T", FLOAT)
    source = operand_def(T)
    exponent = operand_def(T)
    result = result_def(T)

    assembly_format = "$source `,` $exponent attr-dict " + types("result")


@irdl_op_definition
class Atan2Op(PureOp):
    """The angle whose tangent is x / y, in the quadrant of both signs (C `atan2(x, y)`)."""

    name = "cuda_tile.atan2"

    T: ClassVar = VarConstraint("T", FLOAT)
    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    assembly_format = "$x `,` $y attr-dict " + types("result")


@irdl_op_definition
class FmaOp(FloatOp):
    """lhs * rhs + acc, rounded once."""

    name = "cuda_tile.fma"

    T: ClassVar = VarConstraint("T", FLOAT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    acc = operand_def(T)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(T)

    assembly_format = (
        "$lhs `,` $rhs `,` $acc (`rounding` `` $rounding_mode^)? "
        "(`flush_to_zero` $flush_to_zero^)? attr-dict " + types("result")
    )
