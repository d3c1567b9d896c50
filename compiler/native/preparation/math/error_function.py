"""The error function."""

from __future__ import annotations

from xdsl.ir import SSAValue

from .builder import EXPONENT_OF_1, MathBuilder

__all__ = ["erf"]

NEAR = (-0.000636421435, 0.00506047159, -0.0268089697, 0.112829052, -0.376125932, 0.128379166)
"""erf(x) / x - 1 as a function of x^2 for x <= 0.85; the error of erf(x) is 2^-27."""
FAR = (0.000311209064, -0.00465863943, 0.0330882519, -0.151961178, -0.917072237, -1.62812412)
"""log2(1 - erf(x)) / x for 0.85 <= x <= 3.92; the error of erf(x) is 2^-28."""
EXP2 = (0.00133712322, 0.00967271999, 0.0555039197, 0.240222216, 0.693147182)
"""(2^r - 1) / r for |r| <= 1/2; the error of 2^r is 2^-23."""


def erf(build: MathBuilder, x: SSAValue) -> SSAValue:
    """Compute an odd polynomial near 0, and far from it `1 - 2^p(|x|)`. The error is at most
    1.8 ulp. The polynomials are minimax approximations by the Remez algorithm."""
    size = build.abs(x)
    square = build.mul(x, x)
    near = build.add(size, build.mul(size, build.polynomial(square, NEAR)))
    exponent = build.mul(size, build.polynomial(size, FAR))
    n, bits = build.nearest(exponent, EXPONENT_OF_1)
    r = build.sub(exponent, n)
    rest = build.add(build.mul(r, build.polynomial(r, EXP2)), 1.0)
    one = build.number(1.0, x)
    far = build.sub(one, build.mul(build.with_exponent(bits), rest))
    # The result rounds to 1. An approximate 1 is not enough: users multiply `1 + erf(x)`, which is
    # nearly 0, by large numbers.
    far = build.where(size, "ogt", 3.919, one, far)
    return build.copysign(build.where(size, "olt", 0.85, near, far), x)
