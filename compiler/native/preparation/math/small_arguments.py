"""expm1 and log1p of f64 by W. Kahan's formulas: `exp(x) - 1` and `log(1 + x)`, as MLIR would
compute them, cancel near 0. The error is at most 4 ulp if the C library rounds `exp` and `log`
well.
"""

from __future__ import annotations

from math import inf

from xdsl.dialects import math

from ..arithmetic import Lanes

__all__ = ["expm1_of_f64", "log1p_of_f64"]


def expm1_of_f64(x: Lanes) -> Lanes:
    """Compute `(u - 1) * (x / log(u))` for `u = exp(x)`: the rounding error of u cancels."""
    u = x.insert(math.ExpOp(x.value))
    difference = u - 1.0
    y = difference * (x / u.insert(math.LogOp(u.value)))
    y = u.where("oeq", 1.0, x, y)
    is_limit = difference.compare("oeq", -1.0) | u.compare("oeq", inf)
    return is_limit.select(difference, y)


def log1p_of_f64(x: Lanes) -> Lanes:
    """Compute `log(u) * (x / (u - 1))` for `u = 1 + x`: the rounding error of u cancels."""
    u = x + 1.0
    y = u.insert(math.LogOp(u.value)) * (x / (u - 1.0))
    is_limit = u.compare("oeq", 1.0) | u.compare("oeq", inf)
    return is_limit.select(x, y)
