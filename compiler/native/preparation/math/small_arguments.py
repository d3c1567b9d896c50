"""expm1 and log1p of f64 by W. Kahan's formulas: `exp(x) - 1` and `log(1 + x)`, as MLIR would
compute them, cancel near 0. The error is at most 4 ulp if the C library rounds `exp` and `log`
well.
"""

from __future__ import annotations

from math import inf

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from .builder import MathBuilder

__all__ = ["expm1_of_f64", "log1p_of_f64"]


def expm1_of_f64(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `(u - 1) * (x / log(u))` for `u = exp(x)`: the rounding error of u cancels."""
    u = build.insert(math.ExpOp(x))
    difference = build.sub(u, 1.0)
    y = build.mul(difference, build.div(x, build.insert(math.LogOp(u))))
    y = build.where(u, "oeq", 1.0, x, y)
    is_limit = build.integer(
        arith.OrIOp, build.compare(difference, "oeq", -1.0), build.compare(u, "oeq", inf)
    )
    return build.select(is_limit, difference, y)


def log1p_of_f64(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute `log(u) * (x / (u - 1))` for `u = 1 + x`: the rounding error of u cancels."""
    u = build.add(x, 1.0)
    y = build.mul(build.insert(math.LogOp(u)), build.div(x, build.sub(u, 1.0)))
    is_limit = build.integer(
        arith.OrIOp, build.compare(u, "oeq", 1.0), build.compare(u, "oeq", inf)
    )
    return build.select(is_limit, x, y)
