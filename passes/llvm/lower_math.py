"""LowerMath: mathematical functions become intrinsics of LLVM, or calls of the C library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import llvm, math
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, f32, i1, i64
from xdsl.ir import Operation, SSAValue

from ...compiler.releases import InsertElementOp
from ...dialects.arith_types import is_vector
from ...dialects.llvm_extension import ExtractElementOp, PoisonOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from .conversion import Lowering, Pattern, Patterns, convert
from .lower_arith import add, fast_math_of, icmp, suffix

OPERATIONS = {op.name.removeprefix("math."): op for op in math.Math.operations}
INTRINSICS = (
    "absf ceil copysign cos exp exp2 floor fma log log10 log2 powf round roundeven sin sqrt trunc"
).split()
# `rint` rounds to even in the default mode, and C99 has it, but not `roundeven`.
RENAMED = {"absf": "fabs", "powf": "pow", "roundeven": "rint"}
"""The intrinsics that have another name than the operation."""
FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh cbrt cosh erf expm1 log1p sinh tan tanh"
).split()
"""Functions of the C library; those of f32 end in f."""


def intrinsics(name: str) -> Pattern:
    """Return the pattern of a function on floats that LLVM has."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        operands = [*map(build.value, op.operands)]
        type = operands[0].type
        return build.intrinsic(
            f"llvm.{name}.{suffix(type)}", operands, type, flags=fast_math_of(op)
        )

    return pattern


def counts(name: str, *, flag: bool = True) -> Pattern:
    """Return the pattern of a function on integers; `flag` if LLVM's takes whether one argument has
    no result, which is false."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        x = build.value(op.operands[0])
        operands = [x, build.integer(0, i1)] if flag else [x]
        return build.intrinsic(f"llvm.{name}.{suffix(x.type)}", operands, x.type)

    return pattern


def functions(name: str) -> Pattern:
    """Return the pattern of a function of the C library, which is called lane by lane."""

    def pattern(op: Operation, build: Lowering) -> SSAValue:
        operands = [*map(build.value, op.operands)]
        type = operands[0].type
        if not is_vector(type):
            return call(name, operands, build)
        found = build.add(PoisonOp, (), type)
        # The C library has no vectors. `compiler/native` puts polynomials in the place of the usual
        # functions before this pass, so few calls are left.
        for lane in range(type.get_shape()[0]):
            place = build.integer(lane)
            lanes = [build.add(ExtractElementOp, (x, place), type.element_type) for x in operands]
            value = call(name, lanes, build)
            found = build.add(InsertElementOp, (found, value, place), type)
        return found

    return pattern


def call(name: str, operands: Sequence[SSAValue], build: Lowering) -> SSAValue:
    type = operands[0].type
    return build.call(name + "f" * (type == f32), operands, type)


def inverse_root(op: math.RsqrtOp, build: Lowering) -> SSAValue:
    x, flags = build.value(op.operand), fast_math_of(op)
    # Exactly rounded twice; the approximate instruction of x86 has 12 bits.
    root = build.intrinsic(f"llvm.sqrt.{suffix(x.type)}", [x], x.type, flags=flags)
    return build.add(llvm.FDivOp, (build.float(1.0, x.type), root), x.type, fastmathFlags=flags)


def float_power(op: math.FPowIOp, build: Lowering) -> SSAValue:
    x, n = build.value(op.lhs), build.value(op.rhs)
    name = f"llvm.powi.{suffix(x.type)}.{suffix(n.type)}"
    return build.intrinsic(name, [x, n], x.type, flags=fast_math_of(op))


def integer_power(op: math.IPowIOp, build: Lowering) -> SSAValue:
    """Multiply the powers x^1, x^2, x^4, ... that the bits of the exponent select. A negative
    exponent leaves 1 and -1 of the numbers 1 and -1, and 0 of all others."""
    x, n = build.value(op.lhs), build.value(op.rhs)
    type = x.type
    element = type.element_type if is_vector(type) else type
    zero, one = build.integer(0, type), build.integer(1, type)

    def select(condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return build.select(condition, yes, no)

    # x^13 is x^8 * x^4 * x^1, as 13 is 1101 in binary. Without a loop, as the number of bits is
    # known.
    found, power = one, x
    for bit in range(bits := cast("IntegerType", element).bitwidth):
        # The highest bit is the sign: as a signed constant of the type it is negative.
        mask = build.integer(-(1 << bit) if bit == bits - 1 else 1 << bit, type)
        unset = icmp(build, add(build, llvm.AndOp, n, mask), EQUAL, zero)
        found = select(unset, found, add(build, llvm.MulOp, found, power))
        power = add(build, llvm.MulOp, power, power)
    odd = icmp(build, add(build, llvm.AndOp, n, one), UNEQUAL, zero)
    minus = build.integer(-1, type)
    of_minus_1 = select(icmp(build, x, EQUAL, minus), select(odd, minus, one), zero)
    inverse = select(icmp(build, x, EQUAL, one), one, of_minus_1)
    return select(icmp(build, n, SIGNED_LESS, zero), inverse, found)


EQUAL, UNEQUAL, SIGNED_LESS = (IntegerAttr(number, i64) for number in (0, 1, 2))


MATH: Patterns = {
    **{OPERATIONS[name]: intrinsics(RENAMED.get(name, name)) for name in INTRINSICS},
    **{OPERATIONS[name]: functions(name) for name in FUNCTIONS},
    math.AbsIOp: counts("abs"),
    math.CountLeadingZerosOp: counts("ctlz"),
    math.CountTrailingZerosOp: counts("cttz"),
    math.CtPopOp: counts("ctpop", flag=False),
    math.FPowIOp: float_power,
    math.IPowIOp: integer_power,
    math.RsqrtOp: inverse_root,
}


@dataclass(frozen=True)
class LowerMath(ModulePass):
    """Turn `math` into intrinsics of LLVM, or calls of the C library, lane by lane for a vector;
    source: MLIR's convert-math-to-llvm and convert-math-to-libm.

    Before:

        func.func @f(%x: f64) -> f64 {
          %0 = math.erf %x : f64
          func.return %0 : f64
        }

    After:

        func.func @f(%x: f64) -> f64 {
          %0 = llvm.call @erf(%x) : (f64) -> f64
          func.return %0 : f64
        }
        llvm.func @erf(f64) -> f64
    """

    name = "lower-math"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        convert(module, MATH)
