"""The error function."""

from __future__ import annotations

from ..arithmetic import Lanes
from .builder import EXPONENT_OF_1, copysign, nearest, polynomial, with_exponent

__all__ = ["erf"]

NEAR = (-0.000636421435, 0.00506047159, -0.0268089697, 0.112829052, -0.376125932, 0.128379166)
"""erf(x) / x - 1 as a function of x^2 for x <= 0.85; the error of erf(x) is 2^-27."""
FAR = (0.000311209064, -0.00465863943, 0.0330882519, -0.151961178, -0.917072237, -1.62812412)
"""log2(1 - erf(x)) / x for 0.85 <= x <= 3.92; the error of erf(x) is 2^-28."""
EXP2 = (0.00133712322, 0.00967271999, 0.0555039197, 0.240222216, 0.693147182)
"""(2^r - 1) / r for |r| <= 1/2; the error of 2^r is 2^-23."""


def erf(x: Lanes) -> Lanes:
    """Compute an odd polynomial near 0, and far from it `1 - 2^p(|x|)`. The error is at most
    1.8 ulp. The polynomials are minimax approximations by the Remez algorithm."""
    size = abs(x)
    square = x * x
    near = size + size * polynomial(square, NEAR)
    exponent = size * polynomial(size, FAR)
    n, bits = nearest(exponent, EXPONENT_OF_1)
    r = exponent - n
    rest = r * polynomial(r, EXP2) + 1.0
    one = x.number(1.0)
    far = one - with_exponent(bits) * rest
    # The result rounds to 1. An approximate 1 is not enough: users multiply `1 + erf(x)`, which is
    # nearly 0, by large numbers.
    far = size.where("ogt", 3.919, one, far)
    return copysign(size.where("olt", 0.85, near, far), x)
