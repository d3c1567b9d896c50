"""The expansions of functions on f32."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from ....dialects.arith_types import element_of
from ....passmanager.ir.walk import ops_of
from ...kernels.approximations.arithmetic import Lanes
from ...kernels.approximations.exponential import (
    cbrt,
    cosh,
    erf,
    exp,
    exp2,
    exp_of_normal,
    expm1,
    expm1_of_f64,
    log1p_of_f64,
    powf,
    sinh,
    tanh,
)
from ...kernels.approximations.logarithm import (
    acosh,
    asinh,
    atanh,
    log,
    log1p,
    log2_in_f64,
    log10_in_f64,
)
from ...kernels.approximations.polynomials import Expansion, greater, in_f64
from ...kernels.approximations.trigonometric import acos, asin, atan, atan2, cos, sin, tan

__all__ = ["expand_math"]


OF_F32: dict[type[Operation], Expansion] = {
    math.AcosOp: acos,
    math.AcoshOp: in_f64(acosh),
    math.AsinOp: asin,
    math.AsinhOp: in_f64(asinh),
    math.AtanOp: atan,
    math.Atan2Op: atan2,
    math.AtanhOp: in_f64(atanh),
    math.CbrtOp: in_f64(cbrt),
    math.CosOp: in_f64(cos),
    math.CoshOp: in_f64(cosh),
    math.ErfOp: erf,
    math.ExpOp: exp,
    math.Exp2Op: exp2,
    math.ExpM1Op: in_f64(expm1),
    math.LogOp: log,
    math.Log10Op: in_f64(log10_in_f64),
    math.Log1pOp: in_f64(log1p),
    math.Log2Op: in_f64(log2_in_f64),
    math.PowFOp: in_f64(powf),
    math.SinOp: in_f64(sin),
    math.SinhOp: in_f64(sinh),
    math.TanOp: in_f64(tan),
    math.TanhOp: tanh,
}
OF_F64: dict[type[Operation], Expansion] = {
    math.ExpM1Op: expm1_of_f64,
    math.Log1pOp: log1p_of_f64,
}
WITH_FLAG: dict[FastMathFlag, dict[type[Operation], Expansion]] = {
    FastMathFlag.APPROX_FUNC: {math.ExpOp: exp_of_normal},
    FastMathFlag.NO_NANS: {arith.MaximumfOp: greater},
}
"""The expansions of operations on f32 with a fast-math flag."""
EXPANSIONS: dict[Attribute, dict[type[Operation], Expansion]] = {f32: OF_F32, f64: OF_F64}
"""The expansions by type of the result."""
_EXPANDED = frozenset[type[Operation]](
    {math.FPowIOp}.union(*EXPANSIONS.values(), *WITH_FLAG.values())
)


def expand_math(module: ModuleOp) -> None:
    """Replace functions of `math` on f32 and vectors of f32 by arithmetic, `expm1` and `log1p` on
    f64 by `exp` and `log`, and `math.fpowi` by a power with an exponent that is a float: LLVM would
    call `__powisf2`, which is not in the C library. The fast-math flags `afn` of `exp` and `nnan`
    of maxima select shorter code.

    The result is valid for MLIR, but xDSL 0.74 cannot verify the comparisons of vectors in it.
    """
    for op in ops_of(module, *_EXPANDED):
        if isinstance(op, math.FPowIOp):
            op = _with_float_exponent(op)
        if (expansion := _expansion(op)) is not None:
            result = expansion(*(Lanes(op, operand) for operand in op.operands))
            Rewriter.replace_op(op, [], [result.value])


def _expansion(op: Operation) -> Expansion | None:
    if len(op.results) != 1:
        return None
    element, flags = element_of(op.results[0].type), op.properties.get("fastmath")
    if element == f32 and isinstance(flags, arith.FastMathFlagsAttr):
        for flag in flags.data:
            if (expansion := WITH_FLAG.get(flag, {}).get(type(op))) is not None:
                return expansion
    return EXPANSIONS.get(element, {}).get(type(op))


def _with_float_exponent(op: math.FPowIOp) -> math.PowFOp:
    exponent = Lanes(op, op.rhs).convert(arith.SIToFPOp, element_of(op.lhs.type))
    power = math.PowFOp(op.lhs, exponent.value)
    Rewriter.replace_op(op, [], [exponent.insert(power).value])
    return power


# Expansion of functions of `math` on f32 to arithmetic, which LLVM can vectorize.
#
# A call of the C library computes one number at a time, and takes ten to thirty times as long.
