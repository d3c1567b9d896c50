"""Scalar arithmetic in kernels: types of intermediate results, conversions, operations by type."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    UnrealizedConversionCastOp,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax.types import SmallFloat, bounds, is_integer, is_unsigned
from ...dialects.tir.builder import Index, TirBuilder
from .choices import NoKernel

__all__ = [
    "CONTRACT",
    "add",
    "as_index",
    "compare_integers",
    "computable",
    "constant_of",
    "convert",
    "divide",
    "exact_integer",
    "exponential",
    "fills_bytes",
    "is_float",
    "is_unsigned",
    "less",
    "maximum",
    "maximum_of",
    "minimum",
    "minimum_of",
    "multiply",
    "multiply_add",
    "select",
    "signless_form",
    "step_type",
    "wide_type",
    "widen",
    "with_sign",
]


# The fast-math flags of kernels; maxima of exponents have `nnan`, too. `contract` lets LLVM fuse a
# multiplication and an addition, which changes the last place. `reassoc` would let it change the
# order of sums. `nnan` or `ninf` on all operations would let it drop tests that are part of the
# semantics.
APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])


def computable(type: Attribute) -> Attribute:
    """Return `type`; NoKernel for floats of 4 and 8 bits, which are stored and converted only."""
    if isinstance(type, SmallFloat):
        raise NoKernel(f"kernels do not compute with {type}")
    return type


def signless_form(type: Attribute) -> Attribute:
    """Return the signless integer type of the same width for an integer type, else `type`."""
    return IntegerType(type.bitwidth) if is_integer(type) else type


def with_sign(b: TirBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """Cast an integer to a type of the same width and another signedness; the bits stay the same.
    This is MLIR's `builtin.unrealized_conversion_cast`, which costs nothing."""
    return value if value.type == type else b.pure(_cast, value, type=type)


def _cast(value: SSAValue, type: Attribute) -> Operation:
    return UnrealizedConversionCastOp.create(operands=[value], result_types=[type])


def exact_integer(b: TirBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """Convert a float that is an integer in the range of `type`."""
    whole = b.pure(arith.FPToSIOp, value, target_type=signless_form(type))
    return with_sign(b, whole, type)


def wide_type(type: Attribute) -> Attribute:
    """Return the type in which elements are summed up: f32 for f16 and bf16, i64 or ui64 for
    integers."""
    if isinstance(computable(type), Float16Type | BFloat16Type):
        return f32
    if is_unsigned(type):
        return IntegerType(64, Signedness.UNSIGNED)
    return i64 if is_integer(type) else type


def step_type(type: Attribute) -> Attribute:
    """Return the type in which elements are computed: f32 for f16 and bf16, i8 (0 or 1) for i1."""
    return i8 if type == i1 else wide_type(type) if is_float(type) else type


def is_float(type: Attribute) -> bool:
    return not is_integer(computable(type))


def fills_bytes(element: Attribute) -> bool:
    """Return whether vectors of a type can load adjacent elements: an i1 has a byte in memory, and
    one bit in a vector. Floats of 4 and 8 bits are converted one by one."""
    if isinstance(element, SmallFloat):
        return False
    return not is_integer(element) or element.bitwidth % 8 == 0


def multiply_add(b: TirBuilder, acc: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return `acc + lhs * rhs`; a product of floats may or may not be rounded."""
    if isinstance(acc.type, IntegerType):
        return b.pure(arith.AddiOp, acc, b.pure(arith.MuliOp, lhs, rhs))
    product = b.pure(arith.MulfOp, lhs, rhs, flags=CONTRACT)
    return b.pure(arith.AddfOp, acc, product, flags=CONTRACT)


def widen(b: TirBuilder, value: SSAValue) -> SSAValue:
    """Convert an element to the type in which it is computed."""
    return convert(b, value, step_type(value.type))


def constant_of(value: SSAValue) -> float | int | None:
    """Return the number that `value` is, or None if it is not a constant."""
    op = value.owner
    if isinstance(op, arith.ExtFOp):
        return constant_of(op.input)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
        return op.value.value.data
    return None


def convert(b: TirBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """Convert a number or an index to `type`: floats are rounded, integers wrap around, i1 is 0
    or 1.

    NoKernel from floats to integers: `elementwise.to_integer` clips them first.
    """
    source = value.type
    if source == type:
        return value
    if isinstance(source, SmallFloat):
        return convert(b, b.pure(arith.ExtFOp, value, target_type=f32), type)
    if isinstance(type, SmallFloat):
        exact = f32 if isinstance(source, Float16Type | BFloat16Type) else f64
        wide = value if source == f32 else convert(b, value, exact)
        return b.pure(arith.TruncFOp, wide, target_type=type)
    if signless_form(type) != type:
        return with_sign(b, convert(b, value, signless_form(type)), type)
    if signless_form(source) != source:
        plain = with_sign(b, value, signless_form(source))
        return extended(b, plain, type) if is_unsigned(source) else convert(b, plain, type)
    if is_integer(source) and not is_integer(type) and not isinstance(type, IndexType):
        return b.pure(arith.SIToFPOp, convert(b, value, i64), target_type=type)
    if not is_integer(source) and not isinstance(source, IndexType) and is_integer(type):
        raise NoKernel(f"no conversion from {source} to {type}")
    if isinstance(source, IndexType):
        if is_integer(type):
            return b.pure(arith.IndexCastOp, value, target_type=type)
        value = b.pure(arith.IndexCastOp, value, target_type=i64)
        return b.pure(arith.SIToFPOp, value, target_type=type)
    if is_integer(source) and is_integer(type):
        if source.bitwidth > type.bitwidth:
            return b.pure(arith.TruncIOp, value, target_type=type)
        extend = arith.ExtUIOp if source == i1 else arith.ExtSIOp
        return b.pure(extend, value, target_type=type)
    assert isinstance(source, AnyFloat) and isinstance(type, AnyFloat)
    if source.bitwidth < type.bitwidth:
        return b.pure(arith.ExtFOp, value, target_type=type)
    # Neither has the numbers of the other: f16 has 3 bits more of precision, bf16 the range of f32.
    if source.bitwidth == type.bitwidth:  # f16 and bf16
        value = b.pure(arith.ExtFOp, value, target_type=f32)
    return b.pure(arith.TruncFOp, value, target_type=type)


def extended(b: TirBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """Convert a signless integer, read as an unsigned one, to a signless integer or a float."""
    if not is_integer(type):
        return b.pure(arith.UIToFPOp, value, target_type=type)
    if is_integer(value.type) and value.type.bitwidth < type.bitwidth:
        return b.pure(arith.ExtUIOp, value, target_type=type)
    return convert(b, value, type)


def as_index(b: TirBuilder, value: SSAValue) -> Index:
    """Convert an integer to index."""
    if signless_form(value.type) != value.type:
        value = convert(b, value, i64)
    return b.index_of(b.pure(arith.IndexCastOp, value, target_type=IndexType()))


def select(b: TirBuilder, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
    """Return one of two numbers; both are computed."""
    return b.pure(arith.SelectOp, condition, then, otherwise)


def minimum_of(type: Attribute) -> float | int:
    """Return the minimum of `type`."""
    return bounds(type)[0]


def maximum_of(type: Attribute) -> float | int:
    """Return the maximum of `type`."""
    return bounds(type)[1]


def compare_integers(b: TirBuilder, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Compare two integers of one type. In an unsigned type, the predicates `slt`, `sle`, `sgt` and
    `sge` stand for the unsigned ones."""
    if is_unsigned(lhs.type):
        predicate = predicate.replace("s", "u")
    lhs, rhs = (with_sign(b, value, signless_form(value.type)) for value in (lhs, rhs))
    return b.pure(arith.CmpiOp, lhs, rhs, arg=predicate)


def less(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return whether one float is less than another; false if one is NaN."""
    return b.pure(arith.CmpfOp, lhs, rhs, arg="olt")


def maximum(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the maximum of two numbers, NaN if one is NaN."""
    if not is_integer(lhs.type):
        # arith.maximumf keeps NaN, as numpy does; arith.maxnumf would drop it.
        return b.pure(arith.MaximumfOp, lhs, rhs)
    return _of_integers(b, arith.MaxUIOp, arith.MaxSIOp, lhs, rhs)


def minimum(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the minimum of two numbers, NaN if one is NaN."""
    if not is_integer(lhs.type):
        return b.pure(arith.MinimumfOp, lhs, rhs)
    return _of_integers(b, arith.MinUIOp, arith.MinSIOp, lhs, rhs)


def _of_integers(
    b: TirBuilder,
    unsigned: Callable[..., Operation],
    signed: Callable[..., Operation],
    lhs: SSAValue,
    rhs: SSAValue,
) -> SSAValue:
    """Return the result of one of two operations on integers, by their type; i1 is unsigned."""
    type = lhs.type
    operation = unsigned if type == i1 or is_unsigned(type) else signed
    return _on_signless(b, operation, lhs, rhs)


def _on_signless(
    b: TirBuilder, operation: Callable[..., Operation], lhs: SSAValue, rhs: SSAValue
) -> SSAValue:
    """Return the result of an operation on signless integers, in the type of the operands."""
    operands = [with_sign(b, value, signless_form(value.type)) for value in (lhs, rhs)]
    return with_sign(b, b.pure(operation, *operands), lhs.type)


def add(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    if is_integer(lhs.type):
        return _on_signless(b, arith.AddiOp, lhs, rhs)
    return b.sum(lhs, rhs)


def multiply(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    if is_integer(lhs.type):
        return _on_signless(b, arith.MuliOp, lhs, rhs)
    return b.pure(arith.MulfOp, lhs, rhs)


def divide(b: TirBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Return the quotient. For integers it is truncated toward zero, and undefined for 0 and
    overflow."""
    if not is_integer(lhs.type):
        return b.pure(arith.DivfOp, lhs, rhs)
    return _of_integers(b, arith.DivUIOp, arith.DivSIOp, lhs, rhs)


def exponential(b: TirBuilder, x: SSAValue) -> SSAValue:
    """Return e^x as a term of a sum whose other terms are about 1 or greater. A power too small to
    change such a sum may be 0, and a power near overflow may be infinite."""
    return b.pure(math.ExpOp, x, fastmath=APPROXIMATE)
