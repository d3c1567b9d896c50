"""Operations on each element of tiles of one shape: arithmetic, comparisons, conversions.

Those that have nothing of their own but the function are rows of tables.
"""

from __future__ import annotations

from types import new_class
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import UnitAttr, i64
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.floats import Float4E2M1FNType, Float8E8M0FNUType
from ..signature import of_signature
from .attributes import (
    ComparisonOrderingAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
    SignednessAttr,
)
from .constraints import (
    BOOL,
    INT,
    NUMBER,
    POINTER,
    TILE,
    TileOf,
    check_rounding,
    check_same_shape,
    element_width,
    tile,
)
from .elements import I4, INTEGERS
from .elementwise_forms import (
    FLOAT_TILE,
    IEEE,
    INT_TILE,
    NEAREST_EVEN,
    NO_FLAGS,
    BinaryFloatForm,
    BinaryIntForm,
    CastForm,
    CompareForm,
    ConversionForm,
    DivisionForm,
    ExtremumForm,
    FloatForm,
    FlushingUnaryForm,
    GradedUnaryForm,
    PureElementwiseForm,
    RoundedBinaryForm,
    SignedBinaryForm,
    UnaryFloatForm,
    UnaryIntForm,
    WrappingBinaryForm,
)
from .syntax import FLUSH, OVERFLOW, ROUNDING, SIGNEDNESS, types
from .tile_op import CudaTileOp, HasPatterns

ANY_TILE = VarConstraint("T", TILE)
POINTER_TILE = VarConstraint("T", POINTER)
ADDRESS = TileOf((i64,))
INT_OR_I4 = TileOf((*INTEGERS, I4))

Form = TypeVar("Form", bound=CudaTileOp)


def _define(name: str, form: type[Form], summary: str) -> type[Form]:
    """Define an operation that has all but its name from `form`: `AddFOp` is `cuda_tile.addf`."""
    fields = {
        "name": f"cuda_tile.{name.removesuffix('Op').lower()}",
        "__doc__": summary,
        "__module__": __name__,
    }
    cls = new_class(name, (form,), exec_body=lambda namespace: namespace.update(fields))
    return irdl_op_definition(cast("type[Form]", cls))


# Functions of floats

AbsFOp = _define("AbsFOp", UnaryFloatForm, "Compute the absolute value.")
CeilOp = _define("CeilOp", UnaryFloatForm, "Round up to an integer.")
CosOp = _define("CosOp", UnaryFloatForm, "Compute the cosine.")
CosHOp = _define("CosHOp", UnaryFloatForm, "Compute the hyperbolic cosine.")
Exp2Op = _define("Exp2Op", FlushingUnaryForm, "Compute 2 to the power of the element.")
ExpOp = _define("ExpOp", GradedUnaryForm, "Compute e to the power of the element.")
FloorOp = _define("FloorOp", UnaryFloatForm, "Round down to an integer.")
Log2Op = _define("Log2Op", UnaryFloatForm, "Compute the logarithm to base 2.")
LogOp = _define("LogOp", UnaryFloatForm, "Compute the natural logarithm.")
NegFOp = _define("NegFOp", UnaryFloatForm, "Negate the element.")
RsqrtOp = _define("RsqrtOp", FlushingUnaryForm, "Compute the reciprocal of the square root.")
SinOp = _define("SinOp", UnaryFloatForm, "Compute the sine.")
SinHOp = _define("SinHOp", UnaryFloatForm, "Compute the hyperbolic sine.")
TanOp = _define("TanOp", UnaryFloatForm, "Compute the tangent.")
TanHOp = _define("TanHOp", GradedUnaryForm, "Compute the hyperbolic tangent.")

AddFOp = _define("AddFOp", RoundedBinaryForm, "Add floats.")
MaxFOp = _define("MaxFOp", ExtremumForm, "Take the greater float.")
MinFOp = _define("MinFOp", ExtremumForm, "Take the lesser float.")
MulFOp = _define("MulFOp", RoundedBinaryForm, "Multiply floats.")
RemFOp = _define("RemFOp", BinaryFloatForm, "Compute the remainder, of the sign of `lhs` (`fmod`).")
SubFOp = _define("SubFOp", RoundedBinaryForm, "Subtract floats.")


@irdl_op_definition
class SqrtOp(FlushingUnaryForm):
    """Compute the square root."""

    name = "cuda_tile.sqrt"

    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX)

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)

    assembly_format = f"$source {ROUNDING} {FLUSH} attr-dict " + types("result")


@irdl_op_definition
class DivFOp(RoundedBinaryForm):
    """Divide floats."""

    name = "cuda_tile.divf"

    ROUNDINGS: ClassVar = (*IEEE, RoundingMode.APPROX, RoundingMode.FULL)
    F32_ROUNDINGS: ClassVar = (RoundingMode.APPROX, RoundingMode.FULL)


@irdl_op_definition
class FmaOp(RoundedBinaryForm):
    """Compute `lhs * rhs + acc`, rounded once."""

    name = "cuda_tile.fma"

    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)
    acc = operand_def(FLOAT_TILE)

    assembly_format = f"$lhs `,` $rhs `,` $acc {ROUNDING} {FLUSH} attr-dict " + types("result")


@irdl_op_definition
class PowOp(FloatForm):
    """Raise a float to the power of a float."""

    name = "cuda_tile.pow"

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    assembly_format = "$source `,` $exponent attr-dict " + types("result")


@irdl_op_definition
class FPowIOp(FloatForm):
    """Raise a float to the power of a signed integer."""

    name = "cuda_tile.fpowi"

    source = operand_def(FLOAT_TILE)
    exponent = operand_def(TileOf(INTEGERS[:-1]))
    result = result_def(FLOAT_TILE)

    assembly_format = "$source `,` $exponent attr-dict " + types("source, exponent")

    @of_signature
    def verify_(self) -> None:
        check_same_shape(self.source.type, self.exponent.type)


@irdl_op_definition
class Atan2Op(FloatForm):
    """Compute the angle of the tangent `x / y` in the quadrant of both signs (`atan2(x, y)`)."""

    name = "cuda_tile.atan2"

    x = operand_def(FLOAT_TILE)
    y = operand_def(FLOAT_TILE)
    result = result_def(FLOAT_TILE)

    assembly_format = "$x `,` $y attr-dict " + types("result")


AbsIOp = _define("AbsIOp", UnaryIntForm, "Compute the absolute value of a signed integer.")

AddIOp = _define("AddIOp", WrappingBinaryForm, "Add integers.")
AndIOp = _define("AndIOp", BinaryIntForm, "Compute the bitwise and.")
MaxIOp = _define("MaxIOp", SignedBinaryForm, "Take the greater integer.")
MinIOp = _define("MinIOp", SignedBinaryForm, "Take the lesser integer.")
MulIOp = _define("MulIOp", WrappingBinaryForm, "Multiply integers.")
OrIOp = _define("OrIOp", BinaryIntForm, "Compute the bitwise or.")
RemIOp = _define("RemIOp", DivisionForm, "Compute the remainder, with the sign of `lhs`.")
ShLIOp = _define("ShLIOp", WrappingBinaryForm, "Shift `lhs` to the left by `rhs` bits.")
ShRIOp = _define("ShRIOp", SignedBinaryForm, "Shift `lhs` right; the sign fills signed integers.")
SubIOp = _define("SubIOp", WrappingBinaryForm, "Subtract integers.")
XOrIOp = _define("XOrIOp", BinaryIntForm, "Compute the bitwise exclusive or.")


@irdl_op_definition
class NegIOp(UnaryIntForm):
    """Negate a signed integer."""

    name = "cuda_tile.negi"

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_FLAGS)

    assembly_format = f"$source {OVERFLOW} attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise VerifyException(
                "overflow no_unsigned_wrap: integers are signed, expected no_signed_wrap or no_wrap"
            )


@irdl_op_definition
class DivIOp(DivisionForm):
    """Divide integers, rounded as `rounding` says."""

    name = "cuda_tile.divi"

    rounding = prop_def(RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.ZERO))

    assembly_format = f"$lhs `,` $rhs {SIGNEDNESS} (`rounding` `` $rounding^)? attr-dict " + types(
        "result"
    )

    @of_signature
    def verify_(self) -> None:
        allowed = [RoundingMode.ZERO, RoundingMode.POSITIVE_INF]
        if self.signedness.data is Signedness.SIGNED:
            allowed.append(RoundingMode.NEGATIVE_INF)
        check_rounding(self.rounding, allowed)


@irdl_op_definition
class MulhiIOp(PureElementwiseForm):
    """Compute the upper half of the bits of the product of unsigned integers."""

    name = "cuda_tile.mulhii"

    x = operand_def(INT_TILE)
    y = operand_def(INT_TILE)
    result = result_def(INT_TILE)

    assembly_format = "$x `,` $y attr-dict " + types("result")


# Comparisons


@irdl_op_definition
class CmpFOp(CompareForm):
    """Compare floats."""

    name = "cuda_tile.cmpf"

    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(FLOAT_TILE)
    rhs = operand_def(FLOAT_TILE)

    assembly_format = (
        "custom<Keyword>($comparison_predicate) custom<Keyword>($comparison_ordering) "
        "$lhs `,` $rhs attr-dict " + types("lhs -> result")
    )


@irdl_op_definition
class CmpIOp(CompareForm):
    """Compare integers."""

    name = "cuda_tile.cmpi"

    lhs = operand_def(INT_TILE)
    rhs = operand_def(INT_TILE)
    signedness = prop_def(SignednessAttr)

    assembly_format = (
        f"custom<Keyword>($comparison_predicate) $lhs `,` $rhs `,` {SIGNEDNESS} attr-dict "
        + types("lhs -> result")
    )


@irdl_op_definition
class SelectOp(PureElementwiseForm):
    """Take the element of `val_if_true` where `cond` is true, else that of `val_if_false`."""

    name = "cuda_tile.select"

    RESULT_OF: ClassVar = 1

    cond = operand_def(BOOL)
    val_if_true = operand_def(ANY_TILE)
    val_if_false = operand_def(ANY_TILE)
    result = result_def(ANY_TILE)

    traits = traits_def(HasPatterns())

    assembly_format = "$cond `,` $val_if_true `,` $val_if_false attr-dict " + types("cond, result")

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        if isinstance(element := tile(self.result.type).element_type, Float4E2M1FNType):
            raise VerifyException(f"elements of {element} have no addresses: expected others")


# Conversions


@irdl_op_definition
class BitcastOp(CastForm):
    """Read the bits of a number as one of another type of the same width."""

    name = "cuda_tile.bitcast"

    source = operand_def(NUMBER)
    result = result_def(NUMBER)

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        if (width := element_width(self.source.type)) != (got := element_width(self.result.type)):
            raise VerifyException(f"expected elements of {width} bits, got {got}")


@irdl_op_definition
class IntToPtrOp(CastForm):
    """Make a pointer of an address."""

    name = "cuda_tile.int_to_ptr"

    source = operand_def(ADDRESS)


@irdl_op_definition
class PtrToIntOp(CastForm):
    """Take the address of a pointer."""

    name = "cuda_tile.ptr_to_int"

    result = result_def(ADDRESS)


@irdl_op_definition
class PtrToPtrOp(CastForm):
    """Change the type that a pointer points to."""

    name = "cuda_tile.ptr_to_ptr"


@irdl_op_definition
class ExtIOp(ConversionForm):
    """Extend an integer to more bits: by its sign if it is signed, else by zeros."""

    name = "cuda_tile.exti"

    from_ = operand_def(INT_OR_I4)
    signedness = prop_def(SignednessAttr)
    to = result_def(INT_OR_I4)

    assembly_format = f"$from_ {SIGNEDNESS} attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        if (widths := self.widths())[0] >= widths[1]:
            raise VerifyException(f"expected more bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class TruncIOp(ConversionForm):
    """Take the lower bits of an integer."""

    name = "cuda_tile.trunci"

    from_ = operand_def(INT_OR_I4)
    overflow = prop_def(IntegerOverflowAttr, default_value=NO_FLAGS)
    to = result_def(INT_OR_I4)

    assembly_format = f"$from_ {OVERFLOW} attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        if (widths := self.widths())[0] <= widths[1]:
            raise VerifyException(f"expected fewer bits than {widths[0]}, got {widths[1]}")


@irdl_op_definition
class FToFOp(ConversionForm):
    """Round a float to another type of floats."""

    name = "cuda_tile.ftof"

    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)

    assembly_format = f"$from_ {ROUNDING} attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        super().verify_()
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
class FToIOp(ConversionForm):
    """Round a float to zero, to an integer; beyond the range it is the nearest one if
    `saturating`."""

    name = "cuda_tile.ftoi"

    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(
        RoundingModeAttr, default_value=RoundingModeAttr(RoundingMode.NEAREST_INT_TO_ZERO)
    )
    saturating = opt_prop_def(UnitAttr)
    to = result_def(INT)

    assembly_format = (
        f"$from_ {SIGNEDNESS} {ROUNDING} (`saturating` $saturating^)? attr-dict "
        + types("from_ -> to")
    )

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_INT_TO_ZERO,))


@irdl_op_definition
class IToFOp(ConversionForm):
    """Round an integer to a float."""

    name = "cuda_tile.itof"

    from_ = operand_def(INT)
    signedness = prop_def(SignednessAttr)
    rounding_mode = prop_def(RoundingModeAttr, default_value=NEAREST_EVEN)

    assembly_format = f"$from_ {SIGNEDNESS} {ROUNDING} attr-dict " + types("from_ -> to")

    @of_signature
    def verify_(self) -> None:
        super().verify_()
        if isinstance(element := tile(self.to.type).element_type, Float8E8M0FNUType):
            raise VerifyException(f"no integer becomes {element}: expected another float first")
        check_rounding(self.rounding_mode, (RoundingMode.NEAREST_EVEN,))


@irdl_op_definition
class OffsetOp(PureElementwiseForm):
    """Move a pointer by `offset` elements of the type that it points to."""

    name = "cuda_tile.offset"

    ptr = operand_def(POINTER_TILE)
    offset = operand_def(INT)
    result = result_def(POINTER_TILE)

    assembly_format = "$ptr `,` $offset attr-dict " + types("ptr, offset -> result")
