"""The expansions of functions on f32."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ....passmanager.ir.walk import walk
from ..arithmetic import element_of
from .builder import Expansion, MathBuilder, in_f64
from .error_function import erf
from .exponential import cosh, exp, exp2, expm1, sinh, tanh
from .inverse_trigonometric import acos, asin, atan, atan2
from .logarithm import acosh, asinh, atanh, log, log1p, log2_in_f64, log10_in_f64
from .power import cbrt, powf
from .trigonometric import cos, sin, tan

__all__ = ["expand_math"]

EXPANSIONS: dict[type[Operation], Expansion] = {
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


def expand_math(module: ModuleOp) -> None:
    """Replace functions of `math` on f32 and vectors of f32 by arithmetic, and `math.fpowi` by
    `math.powf`: LLVM would call `__powisf2`, which is not in the C library.

    The result is valid for MLIR, but xDSL 0.74 cannot verify the comparisons of vectors in it.
    """
    for op in [*walk(module)]:
        if isinstance(op, math.FPowIOp):
            build = MathBuilder(op)
            exponent = build.convert(arith.SIToFPOp, op.rhs, element_of(op.lhs.type))
            power = math.PowFOp(op.lhs, exponent)
            build.insert(power)
            Rewriter.replace_op(op, [], [power.result])
            op = power
        function = EXPANSIONS.get(type(op))
        if function is not None and element_of(op.results[0].type) == f32:
            Rewriter.replace_op(op, [], [function(MathBuilder(op), *op.operands)])
