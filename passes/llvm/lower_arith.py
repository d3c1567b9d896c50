"""LowerArith: arithmetic on numbers and vectors becomes that of the dialect llvm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i32,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler import releases as compat
from ...dialects.arith_types import is_vector
from ...dialects.llvm_extension import UNPREDICTABLE, FPToSIOp, FPToUIOp, PoisonOp, UIToFPOp, truth
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .conversion import NO_FLAGS, Lowering, Pattern, Patterns, convert
from .types import lowered_type

NO_OVERFLOW_FLAGS = IntegerAttr(0, i32)

INTEGERS: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.ShLIOp: llvm.ShlOp,
    arith.DivSIOp: llvm.SDivOp,
    arith.DivUIOp: llvm.UDivOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.RemUIOp: llvm.URemOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
}
FLOATS: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
    arith.NegfOp: llvm.FNegOp,
}
CASTS: dict[type[Operation], type[Operation]] = {
    arith.ExtFOp: llvm.FPExtOp,
    arith.TruncFOp: compat.FPTruncOp,
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.UIToFPOp: UIToFPOp,
    arith.FPToSIOp: FPToSIOp,
    arith.FPToUIOp: FPToUIOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    arith.TruncIOp: llvm.TruncOp,
    arith.BitcastOp: llvm.BitcastOp,
}
EXTREMES: dict[type[Operation], str] = {
    arith.MaxSIOp: "smax",
    arith.MaxUIOp: "umax",
    arith.MinSIOp: "smin",
    arith.MinUIOp: "umin",
}

GREATER, LESS, UNORDERED = (IntegerAttr(number, i64) for number in (9, 11, 14))
"""Predicates of `llvm.fcmp`: the first two hold for a NaN too."""
EQUAL, UNEQUAL, SIGNED_LESS, UNSIGNED_LESS = (IntegerAttr(number, i64) for number in (0, 1, 2, 6))
"""Predicates of `llvm.icmp`."""


def fast_math_of(op: Operation) -> llvm.FastMathAttr:
    """Return the fast-math flags of an operation, as the dialect llvm has them."""
    flags = op.properties.get("fastmath")
    if not isinstance(flags, arith.FastMathFlagsAttr) or not flags.data:
        return NO_FLAGS
    return llvm.FastMathAttr(flags.data)


def suffix(type: Attribute) -> str:
    """Return how LLVM writes a type in the name of an intrinsic: v8f32."""
    if is_vector(type):
        return f"v{type.get_shape()[0]}{suffix(type.element_type)}"
    return str(type) if not isinstance(type, llvm.LLVMPointerType) else "p0"


# Patterns


def integers(kind: type[Operation]) -> Pattern:
    """Return the pattern of an operation on two integers."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        a, b = map(build.value, op.operands)
        if not issubclass(kind, llvm.ArithmeticBinOpOverflow):
            return build.add(kind, (a, b), a.type)
        return build.add(kind, (a, b), a.type, overflowFlags=overflow_of(op))

    return pattern


def overflow_of(op: Operation) -> IntegerAttr:
    """Return the overflow flags of an operation, as the dialect llvm has them."""
    flags = op.properties.get("overflowFlags")
    if not isinstance(flags, arith.IntegerOverflowAttr) or not flags.data:
        return NO_OVERFLOW_FLAGS
    # Bits of LLVM: 1 is nsw, 2 is nuw.
    names = {flag.value for flag in flags.data}
    return IntegerAttr(("nsw" in names) + 2 * ("nuw" in names), i32)


def floats(kind: type[Operation]) -> Pattern:
    """Return the pattern of an operation on floats."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        operands = [*map(build.value, op.operands)]
        return build.add(kind, operands, operands[0].type, fastmathFlags=fast_math_of(op))

    return pattern


def casts(kind: type[Operation]) -> Pattern:
    """Return the pattern of a conversion of numbers."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        value, type = build.value(op.operands[0]), lowered_type(op.results[0].type)
        # A bitcast between i64 and index, which is an i64.
        if value.type == type:
            return value
        if kind is llvm.TruncOp:
            flags = llvm.OverflowAttr.from_int(overflow_of(op).value.data)
            return build.add(kind, (value,), type, overflowFlags=flags)
        return build.add(kind, (value,), type)

    return pattern


def index_cast(op: arith.IndexCastOp, build: Lowering, wider: type[Operation] = llvm.SExtOp):
    """An index has 64 bits."""
    value, type = build.value(op.operands[0]), lowered_type(op.results[0].type)
    old, new = width(value.type), width(type)
    if old == new:
        return value
    # Sign-extended, as MLIR's `index_cast` is; `index_castui` is another operation.
    if old < new:
        return build.add(wider, (value,), type)
    return build.add(llvm.TruncOp, (value,), type, overflowFlags=llvm.OverflowAttr("none"))


def width(type: Attribute) -> int:
    """Return the bits of an integer, or of a lane of a vector of integers."""
    element = type.element_type if is_vector(type) else type
    return cast("IntegerType", element).bitwidth


def extremes(name: str) -> Pattern:
    """Return the pattern of the larger or the smaller of two integers."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        a, b = map(build.value, op.operands)
        return build.intrinsic(f"llvm.{name}.{suffix(a.type)}", (a, b), a.type)

    return pattern


def float_extreme(predicate: IntegerAttr, *, nan: bool) -> Pattern:
    """Return the pattern of the larger or smaller of two floats: a NaN if one of them is (`nan`),
    or else the other one. Without NaNs it is one instruction on x86."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        a, b = map(build.value, op.operands)
        flags = fast_math_of(op)
        # `llvm.maximum` would be shorter, but LLVM expands it to more instructions on x86 than this
        # comparison, which is `maxss` with a correction of NaNs. 0.0 and -0.0 compare equal, so the
        # second of them is returned, where MLIR's `maximumf` takes 0.0.
        holds = build.compare_floats(a, predicate, b, flags)
        found = build.select(holds, a, b)
        if FastMathFlag.NO_NANS in flags.data:
            return found
        # The comparisons hold for NaNs, and so select a. That is wrong if b is the NaN to be
        # returned, or if a is a NaN and the number b is to be returned.
        asked = b if nan else a
        lost = build.compare_floats(asked, UNORDERED, asked)
        return build.select(lost, b, found)

    return pattern


def constant(op: arith.ConstantOp, build: Lowering) -> SSAValue:
    type = lowered_type(op.result.type)
    value = op.value
    match value:
        case IntegerAttr():
            # An index becomes an i64 of the same value.
            return build.integer(value.value.data, type)
        case FloatAttr():
            return build.constant(value, type)
        case DenseIntOrFPElementsAttr() if is_vector(type):
            return build.constant(lowered_elements(value, type), type)
        case _:
            raise build.error(f"has a value of type {op.result.type}: expected numbers")


def lowered_elements(
    value: DenseIntOrFPElementsAttr, type: VectorType[Attribute]
) -> DenseIntOrFPElementsAttr:
    """Return elements as those of a type of the dialect llvm; the bytes stay."""
    return value if value.type == type else DenseIntOrFPElementsAttr(type, value.data)  # pyright: ignore


def compare_integers(op: arith.CmpiOp, build: Lowering) -> SSAValue:
    a, b = build.value(op.lhs), build.value(op.rhs)
    return build.add(llvm.ICmpOp, (a, b), truth(a.type), predicate=op.predicate)


def compare_floats(op: arith.CmpfOp, build: Lowering) -> SSAValue:
    a, b = build.value(op.lhs), build.value(op.rhs)
    return build.compare_floats(a, op.predicate, b, fast_math_of(op))


def select(op: arith.SelectOp, build: Lowering) -> tuple[SSAValue, ...]:
    """Select each of the values that stand for an operand: a buffer has several."""
    condition = build.value(op.cond)
    pairs = zip(build.values(op.lhs), build.values(op.rhs), strict=True)
    results = tuple(build.select(condition, a, b) for a, b in pairs)
    if (mark := op.attributes.get(UNPREDICTABLE)) is not None:
        for result in results:
            cast("Operation", result.owner).attributes[UNPREDICTABLE] = mark
    return results


def poison(op: Operation, build: Lowering) -> SSAValue:
    return build.add(PoisonOp, (), lowered_type(op.results[0].type))


# Division that rounds, and results of twice the width: as MLIR's arith-expand does it.


def icmp(build: Lowering, a: SSAValue, predicate: IntegerAttr, b: SSAValue) -> SSAValue:
    return build.add(llvm.ICmpOp, (a, b), truth(a.type), predicate=predicate)


def add(build: Lowering, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:
    if issubclass(kind, llvm.ArithmeticBinOpOverflow):
        return build.add(kind, (a, b), a.type, overflowFlags=NO_OVERFLOW_FLAGS)
    return build.add(kind, (a, b), a.type)


def divide_up_unsigned(op: arith.CeilDivUIOp, build: Lowering) -> SSAValue:
    """0 if a is 0, else (a - 1) / b + 1."""
    a, b = build.value(op.lhs), build.value(op.rhs)
    zero, one = build.integer(0, a.type), build.integer(1, a.type)
    # `(a + b - 1) / b` would wrap for large a.
    quotient = add(build, llvm.UDivOp, add(build, llvm.SubOp, a, one), b)
    found = add(build, llvm.AddOp, quotient, one)
    none = icmp(build, a, EQUAL, zero)
    return build.select(none, zero, found)


def divide_rounding(op: Operation, build: Lowering, *, up: bool) -> SSAValue:
    """Correct the quotient, which is rounded towards zero, by 1 if it is not exact and the signs of
    the operands are equal (`up`) or not."""
    a, b = map(build.value, op.operands)
    zero, one = build.integer(0, a.type), build.integer(1, a.type)
    # For instance -7 / 2: the quotient is -3, not exact, the signs differ; rounded down it is -4.
    quotient = add(build, llvm.SDivOp, a, b)
    inexact = icmp(build, add(build, llvm.MulOp, quotient, b), UNEQUAL, a)
    signs = icmp(build, a, SIGNED_LESS, zero), icmp(build, b, SIGNED_LESS, zero)
    corrects = icmp(build, signs[0], EQUAL if up else UNEQUAL, signs[1])
    corrects = add(build, llvm.AndOp, inexact, corrects)
    corrected = add(build, llvm.AddOp if up else llvm.SubOp, quotient, one)
    return build.select(corrects, corrected, quotient)


def add_extended(op: arith.AddUIExtendedOp, build: Lowering) -> None:
    a, b = build.value(op.lhs), build.value(op.rhs)
    total = add(build, llvm.AddOp, a, b)
    build.set(op.results[0], total)
    # A sum that wrapped is less than either operand.
    build.set(op.results[1], icmp(build, total, UNSIGNED_LESS, a))


def multiply_extended(op: Operation, build: Lowering, wider: type[Operation]) -> None:
    a, b = map(build.value, op.operands)
    bits = width(a.type)
    # LLVM selects the multiplication that gives both halves, where the processor has one.
    wide = IntegerType(2 * bits)
    type: Attribute = VectorType(wide, a.type.shape) if is_vector(a.type) else wide
    product = add(build, llvm.MulOp, *(build.add(wider, (x,), type) for x in (a, b)))
    distance = build.add(llvm.ZExtOp, (build.integer(bits, a.type),), type)
    high = add(build, llvm.LShrOp, product, distance)
    for result, value in zip(op.results, (product, high), strict=True):
        new = build.add(llvm.TruncOp, (value,), a.type, overflowFlags=llvm.OverflowAttr("none"))
        build.set(result, new)


ARITH: Patterns = {
    **{old: integers(new) for old, new in INTEGERS.items()},
    **{old: floats(new) for old, new in FLOATS.items()},
    **{old: casts(new) for old, new in CASTS.items()},
    **{old: extremes(name) for old, name in EXTREMES.items()},
    arith.MaximumfOp: float_extreme(GREATER, nan=True),
    arith.MinimumfOp: float_extreme(LESS, nan=True),
    arith.MaxnumfOp: float_extreme(GREATER, nan=False),
    arith.MinnumfOp: float_extreme(LESS, nan=False),
    arith.ConstantOp: constant,
    arith.CmpiOp: compare_integers,
    arith.CmpfOp: compare_floats,
    arith.SelectOp: select,
    arith.IndexCastOp: index_cast,
    arith.CeilDivUIOp: divide_up_unsigned,
    arith.CeilDivSIOp: lambda op, build: divide_rounding(op, build, up=True),
    arith.FloorDivSIOp: lambda op, build: divide_rounding(op, build, up=False),
    arith.AddUIExtendedOp: add_extended,
    arith.MulSIExtendedOp: lambda op, build: multiply_extended(op, build, llvm.SExtOp),
    arith.MulUIExtendedOp: lambda op, build: multiply_extended(op, build, llvm.ZExtOp),
    compat.PoisonOp: poison,
}


@dataclass(frozen=True)
class LowerArith(ModulePass):
    """Turn `arith` and `ub.poison` into the dialect llvm: an index becomes an i64, a vector of
    several dimensions one of all its elements; source: MLIR's convert-arith-to-llvm and
    arith-expand.

    Before:

        func.func @f(%i: index, %x: f32) -> f32 {
          %0 = arith.addf %x, %x fastmath<contract> : f32
          func.return %0 : f32
        }

    After:

        func.func @f(%i: index, %x: f32) -> f32 {
          %0 = llvm.fadd %x, %x {fastmathFlags = #llvm.fastmath<contract>} : f32
          func.return %0 : f32
        }
    """

    name = "lower-arith"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        convert(module, ARITH)
