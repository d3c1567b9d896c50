"""Operations on each element of tiles of one shape: arithmetic, comparisons, conversions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.floats import Float4E2M1FNType, Float8E8M0FNUType
from ..signature import of_signature
from .attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
    SignednessAttr,
)
from .checks import check_f32, check_same_shape, tile, width_of
from .constraints import ANY_FLOAT, BOOL, FLOAT, INT, NUMBER, POINTER, TILE, TileOf
from .syntax import types
from .tile_op import Operand, TileOp
from .types import I4, INTEGERS, TileType

__all__ = [
    "AbsFOp",
    "AbsIOp",
    "AddFOp",
    "AddIOp",
    "AndIOp",
    "Atan2Op",
    "BitcastOp",
    "CeilOp",
    "CmpFOp",
    "CmpIOp",
    "CosHOp",
    "CosOp",
    "DivFOp",
    "DivIOp",
    "Exp2Op",
    "ExpOp",
    "ExtIOp",
    "FToFOp",
    "FToIOp",
    "FloorOp",
    "FmaOp",
    "IToFOp",
    "IntToPtrOp",
    "Log2Op",
    "LogOp",
    "MaxFOp",
    "MaxIOp",
    "MinFOp",
    "MinIOp",
    "MulFOp",
    "MulIOp",
    "MulhiIOp",
    "NegFOp",
    "NegIOp",
    "OffsetOp",
    "OrIOp",
    "PowOp",
    "PtrToIntOp",
    "PtrToPtrOp",
    "RemFOp",
    "RemIOp",
    "RsqrtOp",
    "SelectOp",
    "ShLIOp",
    "ShRIOp",
    "SinHOp",
    "SinOp",
    "SqrtOp",
    "SubFOp",
    "SubIOp",
    "TanHOp",
    "TanOp",
    "TruncIOp",
    "XOrIOp",
]

NEAREST_EVEN = RoundingModeAttr(RoundingMode.NEAREST_EVEN)
NO_OVERFLOW_FLAGS = IntegerOverflowAttr(IntegerOverflow.NONE)


# The families. The type variable makes the types of all operands and of the result one.


IEEE = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)


class FloatOp(TileOp, ABC):
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


def check_rounding(mode: RoundingModeAttr, allowed: Sequence[RoundingMode]) -> None:
    """Raise VerifyException unless the rounding mode is one of those allowed."""
    if mode.data not in allowed:
        raise VerifyException(f"rounding {mode.data}: expected {', '.join(allowed)}")


class FloatUnaryOp(FloatOp, ABC):
    """A function of each element of a tile of floats."""

    T: ClassVar = VarConstraint("T", FLOAT)
    source = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("result")


class IntUnaryOp(TileOp, ABC):
    """A function of each element of a tile of integers."""

    T: ClassVar = VarConstraint("T", INT)
    source = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("result")


class FloatBinaryOp(FloatOp, ABC):
    """A function of each two elements of tiles of floats."""

    T: ClassVar = VarConstraint("T", FLOAT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class RoundedBinaryOp(FloatBinaryOp, ABC):
    """A function of floats whose result is rounded as `rounding_mode` says. With `flush_to_zero`,
    subnormal f32 operands and results are zero."""

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs (`rounding` `` $rounding_mode^)? (`flush_to_zero` $flush_to_zero^)? "
        "attr-dict " + types("result")
    )


class ExtremumOp(FloatBinaryOp, ABC):
    """A minimum or maximum. NaN is no number that counts, but with `propagate_nan`, it wins."""

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<Flags>($flush_to_zero, $propagate_nan) attr-dict " + types("result")
    )


class IntBinaryOp(TileOp, ABC):
    """A function of each two elements of tiles of integers."""

    T: ClassVar = VarConstraint("T", INT)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict " + types("result")


class SignedBinaryOp(IntBinaryOp, ABC):
    """A function of integers that depends on their signedness."""

    signedness = prop_def(SignednessAttr)

    assembly_format = "$lhs `,` $rhs custom<Keyword>($signedness) attr-dict " + types("result")


class WrappingBinaryOp(IntBinaryOp, ABC):
    """A function of integers modulo 2 to the width; `overflow` says what does not happen."""

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)

    assembly_format = "$lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict " + types("result")


# Floats.


@irdl_op_definition
class AbsFOp(FloatUnaryOp):
    """The absolute value."""

    name = "cuda_tile.absf"


@irdl_op_definition
class NegFOp(FloatUnaryOp):
    """The negation."""

    name = "cuda_tile.negf"


@irdl_op_definition
class CeilOp(FloatUnaryOp):
    """The least integer that is not less."""

    name = "cuda_tile.ceil"


@irdl_op_definition
class FloorOp(FloatUnaryOp):
    """The greatest integer that is not greater."""

    name = "cuda_tile.floor"


@irdl_op_definition
class CosOp(FloatUnaryOp):
    """The cosine."""

    name = "cuda_tile.cos"


@irdl_op_definition
class SinOp(FloatUnaryOp):
    """The sine."""

    name = "cuda_tile.sin"


@irdl_op_definition
class TanOp(FloatUnaryOp):
    """The tangent."""

    name = "cuda_tile.tan"


@irdl_op_definition
class CosHOp(FloatUnaryOp):
    """The hyperbolic cosine."""

    name = "cuda_tile.cosh"


@irdl_op_definition
class SinHOp(FloatUnaryOp):
    """The hyperbolic sine."""

    name = "cuda_tile.sinh"


@irdl_op_definition
class TanHOp(FloatUnaryOp):
    """The hyperbolic tangent: `full` or `approx`."""

    name = "cuda_tile.tanh"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.FULL))

    assembly_format = "$source (`rounding` `` $rounding_mode^)? attr-dict " + types("result")


@irdl_op_definition
class LogOp(FloatUnaryOp):
    """The natural logarithm."""

    name = "cuda_tile.log"


@irdl_op_definition
class Log2Op(FloatUnaryOp):
    """The logarithm to base 2."""

    name = "cuda_tile.log2"


@irdl_op_definition
class ExpOp(FloatUnaryOp):
    """The exponential: `full` or `approx`."""

    name = "cuda_tile.exp"

    ROUNDINGS: ClassVar = (RoundingMode.FULL, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.FULL))

    assembly_format = "$source (`rounding` `` $rounding_mode^)? attr-dict " + types("result")


@irdl_op_definition
class Exp2Op(FloatUnaryOp):
    """2 to the power of the element."""

    name = "cuda_tile.exp2"

    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = "$source (`flush_to_zero` $flush_to_zero^)? attr-dict " + types("result")


@irdl_op_definition
class SqrtOp(FloatUnaryOp):
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
class RsqrtOp(FloatUnaryOp):
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
class RemFOp(FloatBinaryOp):
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
class PowOp(TileOp):
    """`source` to the power of `exponent`."""

    name = "cuda_tile.pow"

    T: ClassVar = VarConstraint("T", FLOAT)
    source = operand_def(T)
    exponent = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$source `,` $exponent attr-dict " + types("result")


@irdl_op_definition
class Atan2Op(TileOp):
    """The angle whose tangent is x / y, in the quadrant of both signs (C `atan2(x, y)`)."""

    name = "cuda_tile.atan2"

    T: ClassVar = VarConstraint("T", FLOAT)
    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

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

    traits = traits_def(Pure())

    assembly_format = (
        "$lhs `,` $rhs `,` $acc (`rounding` `` $rounding_mode^)? "
        "(`flush_to_zero` $flush_to_zero^)? attr-dict " + types("result")
    )


# Integers.


@irdl_op_definition
class AbsIOp(IntUnaryOp):
    """The absolute value of a signed integer."""

    name = "cuda_tile.absi"


@irdl_op_definition
class NegIOp(IntUnaryOp):
    """The negation."""

    name = "cuda_tile.negi"

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)

    assembly_format = "$source (`overflow` `` $overflow^)? attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise VerifyException(
                "overflow no_unsigned_wrap: integers are signed, expected no_signed_wrap or no_wrap"
            )


@irdl_op_definition
class AddIOp(WrappingBinaryOp):
    """The sum."""

    name = "cuda_tile.addi"


@irdl_op_definition
class SubIOp(WrappingBinaryOp):
    """The difference."""

    name = "cuda_tile.subi"


@irdl_op_definition
class MulIOp(WrappingBinaryOp):
    """The product."""

    name = "cuda_tile.muli"


@irdl_op_definition
class ShLIOp(WrappingBinaryOp):
    """`lhs` shifted to the left by `rhs` bits."""

    name = "cuda_tile.shli"


@irdl_op_definition
class ShRIOp(SignedBinaryOp):
    """`lhs` shifted to the right by `rhs` bits; copies of the sign come in if it is signed."""

    name = "cuda_tile.shri"


@irdl_op_definition
class DivIOp(SignedBinaryOp):
    """The quotient, rounded to zero, or as `rounding` says."""

    name = "cuda_tile.divi"

    rounding = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.ZERO))

    # Division by zero is undefined: no pass may compute it where the program does not.
    traits = traits_def()

    assembly_format = (
        "$lhs `,` $rhs custom<Keyword>($signedness) (`rounding` `` $rounding^)? attr-dict "
        + types("result")
    )

    @of_signature
    def verify_(self) -> None:
        allowed = [RoundingMode.ZERO, RoundingMode.POSITIVE_INF]
        if self.signedness.data is Signedness.SIGNED:
            allowed.append(RoundingMode.NEGATIVE_INF)
        check_rounding(self.rounding, allowed)


@irdl_op_definition
class RemIOp(SignedBinaryOp):
    """The remainder of the division that is rounded to zero."""

    name = "cuda_tile.remi"


@irdl_op_definition
class MaxIOp(SignedBinaryOp):
    """The greater integer."""

    name = "cuda_tile.maxi"


@irdl_op_definition
class MinIOp(SignedBinaryOp):
    """The lesser integer."""

    name = "cuda_tile.mini"


@irdl_op_definition
class MulhiIOp(TileOp):
    """The upper half of the bits of the product of unsigned integers."""

    name = "cuda_tile.mulhii"

    T: ClassVar = VarConstraint("T", INT)
    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$x `,` $y attr-dict " + types("result")


@irdl_op_definition
class AndIOp(IntBinaryOp):
    """Bitwise and."""

    name = "cuda_tile.andi"


@irdl_op_definition
class OrIOp(IntBinaryOp):
    """Bitwise or."""

    name = "cuda_tile.ori"


@irdl_op_definition
class XOrIOp(IntBinaryOp):
    """Bitwise exclusive or."""

    name = "cuda_tile.xori"


# Comparisons, and the choice by their results.


@irdl_op_definition
class CmpFOp(TileOp):
    """Whether floats are in a relation."""

    name = "cuda_tile.cmpf"

    T: ClassVar = VarConstraint("T", FLOAT)
    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(BOOL)

    traits = traits_def(Pure())

    assembly_format = (
        "custom<Keyword>($comparison_predicate) custom<Keyword>($comparison_ordering) "
        "$lhs `,` $rhs attr-dict " + types("lhs -> result")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.with_element(i1) if isinstance(type, TileType) else type,)

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.lhs.type, self.result.type)


@irdl_op_definition
class CmpIOp(TileOp):
    """Whether integers are in a relation."""

    name = "cuda_tile.cmpi"

    T: ClassVar = VarConstraint("T", INT)
    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    signedness = prop_def(SignednessAttr)
    result = result_def(BOOL)

    traits = traits_def(Pure())

    assembly_format = (
        "custom<Keyword>($comparison_predicate) $lhs `,` $rhs `,` "
        "custom<Keyword>($signedness) attr-dict " + types("lhs -> result")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.with_element(i1) if isinstance(type, TileType) else type,)

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.lhs.type, self.result.type)


@irdl_op_definition
class SelectOp(TileOp):
    """The element of `val_if_true` where `cond` is true, else that of `val_if_false`."""

    name = "cuda_tile.select"

    RESULT_OF: ClassVar = 1

    T: ClassVar = VarConstraint("T", TILE)
    cond = operand_def(BOOL)
    val_if_true = operand_def(T)
    val_if_false = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$cond `,` $val_if_true `,` $val_if_false attr-dict " + types("cond, result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.cond.type, self.result.type)
        if isinstance(element := tile(self.result.type).element_type, Float4E2M1FNType):
            raise VerifyException(f"elements of {element} have no addresses: expected others")


# Conversions.


@irdl_op_definition
class BitcastOp(TileOp):
    """The bits of the element as a number of another type of the same width."""

    name = "cuda_tile.bitcast"

    source = operand_def(NUMBER)
    result = result_def(NUMBER)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.source, self.result)]
        if widths[0] != widths[1]:
            raise VerifyException(f"expected elements of {widths[0]} bits, got {widths[1]}")


@irdl_op_definition
class ExtIOp(TileOp):
    """The integer with more bits: copies of the sign if it is signed, else zeros."""

    name = "cuda_tile.exti"

    from_ = operand_def(TileOf((*INTEGERS, I4)))
    signedness = prop_def(SignednessAttr)
    to = result_def(TileOf((*INTEGERS, I4)))

    traits = traits_def(Pure())

    assembly_format = "$from_ custom<Keyword>($signedness) attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.from_, self.to)]
        if widths[0] >= widths[1]:
            raise VerifyException(f"expected more bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class TruncIOp(TileOp):
    """The lower bits of the integer."""

    name = "cuda_tile.trunci"

    from_ = operand_def(TileOf((*INTEGERS, I4)))
    overflow = prop_def(IntegerOverflowAttr, default_value=NO_OVERFLOW_FLAGS)
    to = result_def(TileOf((*INTEGERS, I4)))

    traits = traits_def(Pure())

    assembly_format = "$from_ (`overflow` `` $overflow^)? attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        widths = [width_of(tile(v.type).element_type) for v in (self.from_, self.to)]
        if widths[0] <= widths[1]:
            raise VerifyException(f"expected fewer bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class FToFOp(TileOp):
    """The float as a float of another type."""

    name = "cuda_tile.ftof"

    from_ = operand_def(ANY_FLOAT)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    to = result_def(ANY_FLOAT)

    traits = traits_def(Pure())

    assembly_format = "$from_ (`rounding` `` $rounding_mode^)? attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        if self.from_.type == self.to.type:
            raise VerifyException(f"expected another type than {self.to.type}")
        # Only powers of two without a sign have this type.
        is_scale = isinstance(tile(self.to.type).element_type, Float8E8M0FNUType)
        check_rounding(
            self.rounding_mode,
            (RoundingMode.ZERO, RoundingMode.POSITIVE_INF)
            if is_scale
            else (RoundingMode.NEAREST_EVEN,),
        )


@irdl_op_definition
class FToIOp(TileOp):
    """The float without its fraction, as an integer."""

    name = "cuda_tile.ftoi"

    from_ = operand_def(ANY_FLOAT)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(
        RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.NEAREST_INT_TO_ZERO)
    )
    to = result_def(INT)

    traits = traits_def(Pure())

    assembly_format = (
        "$from_ custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)? attr-dict "
        + types("from_ -> to")
    )

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_INT_TO_ZERO,))


@irdl_op_definition
class IToFOp(TileOp):
    """The integer as a float."""

    name = "cuda_tile.itof"

    from_ = operand_def(INT)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)
    to = result_def(ANY_FLOAT)

    traits = traits_def(Pure())

    assembly_format = (
        "$from_ custom<Keyword>($signedness) (`rounding` `` $rounding_mode^)? attr-dict "
        + types("from_ -> to")
    )

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.from_.type, self.to.type)
        if isinstance(element := tile(self.to.type).element_type, Float8E8M0FNUType):
            raise VerifyException(f"no integer becomes {element}: expected another float first")
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_EVEN,))


@irdl_op_definition
class IntToPtrOp(TileOp):
    """The address as a pointer."""

    name = "cuda_tile.int_to_ptr"

    source = operand_def(TileOf((i64,)))
    result = result_def(POINTER)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class PtrToIntOp(TileOp):
    """The address of the pointer."""

    name = "cuda_tile.ptr_to_int"

    source = operand_def(POINTER)
    result = result_def(TileOf((i64,)))

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class PtrToPtrOp(TileOp):
    """The pointer as a pointer to another type."""

    name = "cuda_tile.ptr_to_ptr"

    source = operand_def(POINTER)
    result = result_def(POINTER)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.result.type)


@irdl_op_definition
class OffsetOp(TileOp):
    """The pointer, moved by `offset` elements of its pointee type."""

    name = "cuda_tile.offset"

    T: ClassVar = VarConstraint("T", POINTER)
    ptr = operand_def(T)
    offset = operand_def(INT)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$ptr `,` $offset attr-dict " + types("ptr, offset -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.ptr.type, self.offset.type)
