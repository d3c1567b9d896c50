"""Conversions of floats of 4 to 8 bits, which are stored as codes, by arithmetic.

The magnitudes of a type with m bits of mantissa are multiples of its least one, `step`, up to
2^(m + 1), and then their products with powers of 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f64, i64

from ....dialects.relax.types import SmallFloat
from .arithmetic import Lanes

if TYPE_CHECKING:
    from ...interpreters.arrays import Format

__all__ = ["integer", "number_of", "special", "truncate"]


def number_of(code: Lanes, element: SmallFloat) -> Lanes:
    """Return the number in f64 of a code in i64."""
    import numpy as np

    from ...interpreters.arrays import format_of

    form = format_of(element)
    size = code & (1 << element.bitwidth - form.signed) - 1
    digits, step = scale(form)
    exponent = size >> digits
    if form.signed:
        whole = size & (1 << digits) - 1
        exponent = exponent.integer(arith.MaxSIOp, 1)
        normal = size.compare("sge", 1 << digits)
        whole = normal.select(whole + (1 << digits), whole)
        number = whole.convert(arith.UIToFPOp, f64) * power(exponent - 1) * step
        negative = (code >> element.bitwidth - 1).compare("ne", 0)
        number = negative.select(-number, number)
    else:
        number = power(exponent) * step
    codes = np.flatnonzero(~np.isfinite(form.decoded)).tolist()
    for other in codes:
        number = code.compare("eq", other).select(float(form.decoded[other]), number)
    return number


def truncate(x: Lanes, element: SmallFloat) -> Lanes:
    """Return the code in i64 of an f64, rounded to the nearest number, of two equally near ones to
    that with the even code."""
    from ...interpreters.arrays import format_of

    form = format_of(element)
    digits, step = scale(form)
    size = abs(x) * (1 / step)
    size = size.where("olt", 2.0**1000, size, size.number(2.0**1000))  # infinities, too
    exponent = (size.bits() >> 52) - (1023 + digits)
    exponent = exponent.integer(arith.MaxSIOp, 0)
    part = size * power(integer(x, 0) - exponent)
    if form.signed:
        nearest = part.insert(math.RoundEvenOp(part.value))
        code = nearest.convert(arith.FPToSIOp, i64) + (exponent << digits)
    else:
        code = (part + 0.5).convert(arith.FPToSIOp, i64).integer(arith.MaxSIOp, 1)
        code = code + exponent - 1
    return special(form, code, x, element.bitwidth)


def scale(form: Format) -> tuple[int, float]:
    """Return the bits of the mantissa, and the least magnitude that is not 0."""
    import numpy as np

    if not form.signed:
        return 0, float(form.magnitudes[0])
    steps = np.diff(form.magnitudes)
    equal = int(np.argmax(steps != steps[0]))
    return equal.bit_length() - 2, float(steps[0])


def power(exponent: Lanes) -> Lanes:
    """Return a power of 2 in f64."""
    return ((exponent + 1023) << 52).of_bits(f64)


def integer(x: Lanes, value: int) -> Lanes:
    """Insert an i64 where operators of `x` insert."""
    return x.insert(arith.ConstantOp.from_int_and_width(value, 64))


def special(form: Format, code: Lanes, x: Lanes, width: int) -> Lanes:
    """Return codes with their sign, and those of infinities and NaN."""
    import numpy as np

    count = len(form.magnitudes)
    beyond = code.compare("sge", count)
    is_nan = x.compare("uno", x)
    code = code.integer(arith.MinSIOp, count - 1)
    lost = is_nan
    if np.isnan(form.overflow):
        lost = lost | beyond
    if form.signed:
        negative = x.bits().compare("slt", 0)
        if not form.negative_zero:
            some = code.compare("ne", 0)
            negative = negative & some
        if np.isinf(form.overflow):
            code = beyond.select(count, code)
        with_sign = code | 1 << width - 1
        code = negative.select(with_sign, code)
    else:
        lost = lost | x.compare("olt", 0.0)
    nans = np.flatnonzero(np.isnan(form.decoded))
    if nans.size:
        return lost.select(int(nans[0]), code)
    return is_nan.select(1 << width - 1, code)
